"""The benchmarks run and tell right from wrong: tiny sizes on the host executor, with PyTorch on the CPU."""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from baracuda.codegen import load_spec

pytest.importorskip("torch")

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A module of the benchmarks by name."""
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module


class FakeEvent:
    def __init__(self, gpu: FakeGpu) -> None:
        self.gpu = gpu
        self.at = 0.0

    def record(self) -> None:
        self.at = self.gpu.queued()

    def synchronize(self) -> None:
        self.gpu.wait()

    def elapsed_time(self, end: FakeEvent) -> float:
        return (end.at - self.at) * 1e3


class FakeGpu:
    """A GPU with a clock: the host takes `launch` seconds to queue something, the device works through it."""

    CYCLES_A_SECOND = 2e9

    def __init__(self, launch: float) -> None:
        self.launch = launch
        self.host = 0.0
        self.device = 0.0
        self.delays: list[float] = []

    def queued(self, seconds: float = 0.0) -> float:
        self.device = max(self.device, self.host) + seconds
        return self.device

    def wait(self) -> None:
        self.host = max(self.host, self.device)

    # torch.cuda

    def _sleep(self, cycles: int) -> None:
        self.delays.append(cycles / self.CYCLES_A_SECOND)
        self.queued(self.delays[-1])

    def Event(self, enable_timing: bool) -> FakeEvent:
        assert enable_timing
        return FakeEvent(self)

    def synchronize(self) -> None:
        self.wait()

    def current_device(self) -> int:
        return 0

    def get_device_properties(self, index: int) -> Any:
        return SimpleNamespace(L2_cache_size=50_000_000)


def call_on(gpu: FakeGpu, seconds: float, log: list[int], number: int = 0) -> Any:
    def call() -> None:
        log.append(number)
        # Two kernels: the second reaches the device only after the host has launched it.
        for _ in range(2):
            gpu.host += gpu.launch
            gpu.queued(seconds / 2)

    return call


@pytest.mark.parametrize("launch", [1e-6, 300e-6, 2e-3])
def test_launch_gaps_stay_out(module: Any, monkeypatch: pytest.MonkeyPatch, launch: float) -> None:
    timing = module("timing")
    gpu = FakeGpu(launch)
    monkeypatch.setattr(timing, "time", SimpleNamespace(perf_counter=lambda: gpu.host))
    timer = timing.CudaTimer(SimpleNamespace(cuda=gpu))
    log: list[int] = []
    calls = [call_on(gpu, 40e-6, log, number) for number in range(3)]
    measured = timer.measure(calls, repeats=9)
    assert measured.median == pytest.approx(40e-6, rel=1e-6)
    assert measured.samples == 9
    assert log[-9:] == [0, 1, 2] * 3
    assert gpu.delays[-1] >= 2 * launch


def test_a_call_that_no_delay_hides(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    timing = module("timing")
    gpu = FakeGpu(0.1)
    monkeypatch.setattr(timing, "time", SimpleNamespace(perf_counter=lambda: gpu.host))
    timer = timing.CudaTimer(SimpleNamespace(cuda=gpu))
    with pytest.raises(RuntimeError, match=r"takes 200\.0 ms to queue"):
        timer.measure([call_on(gpu, 1e-6, [])], repeats=3)


def test_host_time_is_the_best_batch(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    timing = module("timing")
    clock = SimpleNamespace(now=0.0, log="")
    monkeypatch.setattr(timing, "time", SimpleNamespace(perf_counter=lambda: clock.now))

    def call(name: str, seconds: float) -> Any:
        def run() -> None:
            clock.log += name
            clock.now += seconds * (1 if len(clock.log) > 60 else 2)

        return run

    calls = {"one": call("a", 5e-6), "other": call("b", 3e-6)}
    found = timing.host_microseconds(calls, lambda: None, batch=10, rounds=4)
    assert found == {"one": pytest.approx(5.0), "other": pytest.approx(3.0)}
    # Warmed up, then in turns and back.
    assert clock.log == "".join(name * 10 for name in "ab" + "ab" + "ba" + "ab" + "ba")


@pytest.mark.parametrize(
    ("nbytes", "cache", "sets"),
    [
        (1 << 30, 50 << 20, 1),
        (100 << 20, 50 << 20, 2),
        (1 << 20, 50 << 20, 64),
        (0, 50 << 20, 1),
        (4096, 0, 1),
    ],
)
def test_buffer_sets(module: Any, nbytes: int, cache: int, sets: int) -> None:
    assert module("timing").buffer_sets(nbytes, cache) == sets


def test_bandwidth(module: Any) -> None:
    timing = module("timing").Timing.of([1e-3, 2e-3, 3e-3, 2e-3])
    assert timing.gbps(6_000_000_000) == pytest.approx(3000.0)
    assert (timing.low, timing.median, timing.high) == pytest.approx((1.75e-3, 2e-3, 2.25e-3))


OPTIONS = ("--device", "host", "--quick", "--no-compile", "--dtypes", "f32")
# Names of PyTorch's of every form: a function, one in a module, with a word, with numbers; and none.
MAPS = ("--kinds", "lerp,neg,erfcx,gelu_tanh,hardtanh,cube,mul,addcdiv,where")


@pytest.mark.parametrize("name", ["reductions", "elementwise", "rope", "norms"])
def test_it_runs(module: Any, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    maps = MAPS if name == "elementwise" else ()
    assert module(name).main([*OPTIONS, *maps, "--out", str(tmp_path)]) == 0
    written = json.loads((tmp_path / f"{name}.json").read_text())
    assert {row["op"] for row in written["rows"]} >= {kind for word in maps[1:] for kind in word.split(",")}
    assert written["rows"]
    for row in written["rows"]:
        assert row["baracuda"]["gbps"] > 0, row
        if row["op"].startswith("cube"):  # PyTorch has none
            continue
        assert row["error"]["relative"] <= row["error"]["allowed"], row
    assert (tmp_path / f"{name}.md").read_text().count("\n|") == len(written["rows"]) + 2
    assert f"{name}: {len(written['rows'])} cases, 0 failed" in capsys.readouterr().out


INTEGERS = ("--device", "host", "--quick", "--no-compile", "--layouts", "contig,row-broadcast")


def test_integers_and_truth_values(module: Any, tmp_path: Path) -> None:
    """Exactly equal to PyTorch's, where it has the op in the dtype."""
    kinds = "eq,isnan,gcd,bitwise_left_shift,floor_divide,cast,abs,popcount"
    asked = ("--kinds", kinds, "--dtypes", "i32,u8,bool")
    assert module("elementwise").main([*INTEGERS, *asked, "--out", str(tmp_path)]) == 0
    rows = json.loads((tmp_path / "elementwise.json").read_text())["rows"]
    assert {row["op"] for row in rows} == set(kinds.split(","))
    for row in rows:
        if row["op"] == "popcount" or (row["op"], row["dtype"]) == ("abs", "bool"):
            assert "error" not in row, row
        else:
            assert row["error"]["relative"] == 0, row
            assert (row["error"]["allowed"] > 0) == (row["op"] == "cast"), row
    assert {row["bytes"] for row in rows if (row["op"], row["dtype"]) == ("eq", "i32")} == {
        65 * 33 * 9,
        33 * 8 + 65 * 33,
    }


def test_a_wrong_integer_fails(
    module: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    comparison, peers = module("comparison"), module("peers")

    def wrong(torch: Any, plan: Any, kind: Any) -> Any:
        right = peers.peer_of(torch, plan, kind)

        def forward(*inputs: Any) -> Any:
            y = right.forward(*inputs).clone()
            y[0, 0] ^= 1
            return y

        return dataclasses.replace(right, forward=forward)

    monkeypatch.setattr(comparison, "peer_of", wrong)
    asked = ("--kinds", "eq,gcd", "--dtypes", "i32")
    assert module("elementwise").main([*INTEGERS[:-1], "contig", *asked]) == 1
    assert "wrong: 0.05% of the results differ from PyTorch's" in capsys.readouterr().out


def test_floats_are_measured_unless_others_are_asked_for(module: Any) -> None:
    def dtypes(kinds: tuple[str, ...], named: tuple[str, ...] = ()) -> set[str]:
        options = argparse.Namespace(device="host", kinds=kinds, dtypes=named, layouts=("contig",))
        return {case.element for case in module("elementwise").cases(options)}

    assert dtypes(()) == dtypes(("add",)) == {"f16", "bf16", "f32", "f64"}
    assert dtypes(("gcd",)) == {"i8", "i16", "i32", "i64", "u8"}
    assert dtypes(("add",), ("i32",)) == {"i32"}


def test_attention_runs(module: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        module("attention").main(["--device", "host", "--quick", "--no-compile", "--out", str(tmp_path)]) == 0
    )
    rows = json.loads((tmp_path / "attention.json").read_text())["rows"]
    assert {row["op"] for row in rows} == {"sdpa", "sdpa backward"}
    assert {row["dtype"] for row in rows} == {"f32", "bf16"}
    for row in rows:
        assert row["error"]["relative"] <= row["error"]["allowed"], row
        for who in ("baracuda", "steps", "MATH"):
            assert row[who]["tflops"] > 0, row
    assert (tmp_path / "attention.md").read_text().count("\n|") == len(rows) + 2
    assert f"attention: {len(rows)} cases, 0 failed" in capsys.readouterr().out


def test_wrong_attention_fails(
    module: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = module("attention_cases")
    right = cases.backward_steps
    monkeypatch.setattr(cases, "backward_steps", lambda *args: [x * 1.001 for x in right(*args)])
    assert module("attention").main([*OPTIONS, "--directions", "backward"]) == 1
    assert "dq has a relative error of 9.99e-04" in capsys.readouterr().out


@pytest.mark.parametrize("kv_heads", [4, 2, 1])
@pytest.mark.parametrize("causal", [False, True])
def test_the_steps_are_attention(module: Any, kv_heads: int, causal: bool) -> None:
    import torch

    peers = module("attention_peers")
    problem = peers.Problem("f64", 2, 4, kv_heads, 7, 5, causal)
    torch.manual_seed(1)
    q, dy = (torch.randn(2, 4, 7, 5, dtype=torch.float64) for _ in range(2))
    k, v = (torch.randn(2, kv_heads, 7, 5, dtype=torch.float64) for _ in range(2))
    tensors = {"q": q, "k": k, "v": v, "dy": dy, "attn": torch.empty(2, 4, 7, 7, dtype=torch.float64)}
    y, attn = peers.step_calls(torch, problem, tensors, backward=False)["scale on q"]()
    torch.testing.assert_close(
        y.reshape(q.shape), peers.backend_call(torch, problem, tensors, "MATH", backward=False)()
    )
    tensors["attn"] = attn.reshape(2, 4, 7, 7)
    want = peers.backend_call(torch, problem, tensors, "MATH", backward=True)()
    for steps in peers.step_calls(torch, problem, tensors, backward=True).values():
        for got, right in zip(steps(), want, strict=True):
            torch.testing.assert_close(got.reshape(right.shape), right)


def test_bits_that_differ(module: Any) -> None:
    import torch

    numbers = iter([1.0] * 19 + [2.0])
    outputs = {"y": torch.zeros(3), "z": torch.zeros(3)}
    same = module("bits").differing(
        torch, lambda: [x.fill_(0) for x in outputs.values()], lambda: None, outputs
    )
    assert same is None

    def launch() -> None:
        outputs["y"].fill_(0)
        outputs["z"].fill_(next(numbers))

    assert module("bits").differing(torch, launch, lambda: None, outputs) == "z"


ACCURACY = ("--device", "host", "--kinds", "exp,lgamma,powi,step")


def test_accuracy_runs(module: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    assert module("accuracy").main([*ACCURACY, "--out", str(tmp_path), "--page", str(page)]) == 0
    rows = json.loads((tmp_path / "accuracy.json").read_text())["rows"]
    assert [row["op"] for row in rows].count("powi") == 5
    assert {row["op"] for row in rows} == {"exp", "lgamma", "powi", "step"}
    for row in rows:
        assert row["holds"], row
        assert row["special"] == 0
        assert row["error"] <= row["bound"]
        # Rounding alone gives nearly half a unit, but not where every result is a small integer.
        assert row["error"] > 0.4 or row["op"] in ("step", "powi"), row
    assert page.read_text().startswith("# Accuracy\n")
    assert "\n## f32\n" in page.read_text()
    assert page.read_text().count("\n|") == len(rows) + 2
    assert f"accuracy: {len(rows)} rows, 0 broken" in capsys.readouterr().out


# Those with a scale, a condition, several numbers; one whose gradient does not read x.
GRADIENTS = ("--device", "host", "--gradients", "--kinds", "exp,silu,lgamma,powi,neg")


def test_accuracy_of_gradients_runs(module: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    for kept in ("f32", "f64 at hard points"):
        module("accuracy_page").write_part(page, kept, "kept")
    assert module("accuracy").main([*GRADIENTS, "--out", str(tmp_path), "--page", str(page)]) == 0
    rows = json.loads((tmp_path / "accuracy_gradients.json").read_text())["rows"]
    assert [row["op"] for row in rows].count("powi") == 5
    assert {row["op"] for row in rows} == set(GRADIENTS[-1].split(","))
    for row in rows:
        assert row["holds"], row
        assert row["special"] == 0
        assert row["error"] <= row["bound"]
        assert (row["outside"] > 0) == (row["op"] == "powi"), row
        if row["op"] == "neg" or row["numbers"] == {"n": 0}:
            assert row["error"] == row["f64 error"] == 0, row
        else:
            assert row["error"] > 0.4, row
            assert 0.5 <= abs(row["dy"]) < 2, row
            assert row["got"] != row["want"], row
    text = page.read_text()
    assert "\n## f32\n\nkept\n\n## f32 gradients\n\nThe gradient dx = dy f'(x) of" in text
    assert text.endswith("\n\n## f64 at hard points\n\nkept\n")
    assert text.count("\n|") == len(rows) + 2
    assert len({line.count("|") for line in text.splitlines() if line.startswith("|")}) == 1
    assert f"accuracy: {len(rows)} rows, 0 broken" in capsys.readouterr().out


def test_a_gradient_that_fails_says_so(
    module: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: Any) -> Any:
        raise RuntimeError("no such luck")

    monkeypatch.setattr(module("accuracy").Kernel, "__call__", fail)
    assert module("accuracy").main(["--device", "host", "--gradients", "--kinds", "exp"]) == 1
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert len({line.count("|") for line in lines}) == 1
    assert "FAILED" in lines[-1]


def test_each_input_has_its_own_dy(module: Any) -> None:
    import torch

    def mixed(bits: int) -> int:
        bits = (bits ^ bits >> 15) * 0x2C1B3C6D % 2**32
        bits = (bits ^ bits >> 12) * 0x297A2D39 % 2**32
        return bits ^ bits >> 15

    patterns = torch.cat(
        [torch.arange(first, first + 50_000) for first in (-(2**31), -25_000, 2**31 - 50_000)]
    )
    x = patterns.int().view(torch.float32)
    dy = module("accuracy").dy_of(torch, x)
    assert dy.dtype == torch.float32
    assert torch.equal(dy, torch.cat([module("accuracy").dy_of(torch, part) for part in x.split(777)]))
    for place in range(0, len(x), 1_001):
        bits = mixed(int(patterns[place]) % 2**32)
        size = 2.0 ** (bits >> 23 & 1) * (0.5 + (bits % 2**23) * 2.0**-24)
        assert dy[place] == (-size if bits >> 31 else size)
    assert len(dy.unique()) > 0.99 * len(x)
    for part in (dy > 0, dy.abs() < 1):
        assert abs(part.double().mean() - 0.5) < 0.01
    # Neighbours do not have like ones.
    close = (dy[1:].abs() / dy[:-1].abs() - 1).abs() < 0.01
    assert close.double().mean() < 0.02


@pytest.mark.parametrize("options", [(), ("--gradients",)], ids=["y", "dx"])
@pytest.mark.parametrize("kind", ["f32", "f64", "special"])
def test_a_broken_bound_is_found(
    module: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    kind: str,
    options: tuple[str, ...],
) -> None:
    accuracy = module("accuracy")
    right = accuracy.Kernel.__call__

    def wrong(self: Any, inputs: Any) -> Any:
        y = right(self, inputs)
        if kind == "special":
            return y.masked_fill_(y.isnan(), 0) if y.element_size() == 4 else y
        return y * (1 + 1e-6) if y.element_size() == {"f32": 4, "f64": 8}[kind] else y

    monkeypatch.setattr(accuracy.Kernel, "__call__", wrong)
    assert accuracy.main(["--device", "host", "--kinds", "exp", *options]) == 1
    out = capsys.readouterr().out
    assert "1 broken" in out
    assert "NO" in out


OPERANDS = ("--device", "host", "--count", "2000")


def test_accuracy_of_several_operands_runs(
    module: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    operands = module("accuracy_operands")
    monkeypatch.setattr(operands, "FEW", 500)
    asked = ("--kinds", "lerp,hypot,pow,where,copysign")
    assert operands.main([*OPERANDS, *asked, "--out", str(tmp_path)]) == 0
    rows = json.loads((tmp_path / "accuracy_operands.json").read_text())["rows"]
    found = {(row["op"], row["direction"], row["output"]) for row in rows}
    # A forward that is exact has no bound but 0; each gradient has one of its own.
    assert {("hypot", "backward", "da"), ("hypot", "backward", "db"), ("hypot", "forward", "y")} < found
    assert ("copysign", "forward", "y") not in found
    assert {row["numbers"]["weight"] for row in rows if row["op"] == "lerp"} > {0.25, 0, 1}
    by_name = {row["op"]: row for row in rows}
    assert by_name["hypot"]["count"] == 3 * 2000
    assert by_name["pow"]["count"] == 3 * 500
    assert 0 < by_name["hypot"]["error"] <= by_name["hypot"]["bound"]
    assert set(by_name["hypot"]["at"]) == {"dy", "a", "b"}
    assert f"accuracy_operands: {len(rows)} rows, 0 broken" in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["hypot", "pow"])  # pow's bound is NumPy's to evaluate
def test_a_broken_bound_of_several_operands_is_found(
    module: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    operands = module("accuracy_operands")
    right = operands.results

    def wrong(*args: Any) -> Any:
        found = right(*args)
        return {name: y * (1 + 1e-6) if y.element_size() == 4 else y for name, y in found.items()}

    monkeypatch.setattr(operands, "results", wrong)
    assert operands.main([*OPERANDS, "--kinds", kind]) == 1
    assert "3 broken" in capsys.readouterr().out


def test_accuracy_of_several_operands_refused(module: Any, capsys: pytest.CaptureFixture[str]) -> None:
    for asked in (("--kinds", "exp"), ("--count", "0")):
        with pytest.raises(SystemExit):
            module("accuracy_operands").main(["--device", "host", *asked])
        assert "want functions of several numbers in f32" in capsys.readouterr().err


HARD = ("--device", "host", "--f64", "250")


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_hard_points_run(module: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], jobs: str) -> None:
    page, kinds = tmp_path / "page.md", "exp,lgamma,powi,step,glu"
    module("accuracy_page").write_part(page, "f32", "kept")
    asked = ("--kinds", kinds, "--jobs", jobs, "--out", str(tmp_path), "--page", str(page))
    assert module("accuracy").main([*HARD, *asked]) == 0
    rows = json.loads((tmp_path / "accuracy_f64.json").read_text())["rows"]
    assert {row["op"] for row in rows} == set(kinds.split(","))
    for row in rows:
        assert row["holds"], row
        assert row["points"] == 250
        assert row["points"] // 2 < row["judged"] <= row["points"]
        assert row["special"] == 0
        assert row["error"] > 0.3 or row["op"] in ("step", "powi"), row
        assert set(row["at"] or ()) <= ({"a", "b"} if row["op"] == "glu" else {"x"})
    text = page.read_text()
    assert text.startswith("# Accuracy\n")
    assert "\n## f32\n\nkept\n\n## f64 at hard points\n" in text
    assert text.count("\n|") == len(rows) + 2
    assert "for want of time" not in text
    assert f"accuracy: {len(rows)} rows, 0 broken" in capsys.readouterr().out


@pytest.mark.parametrize("broken", ["far", "nan", "failed"])
def test_a_broken_bound_is_found_at_hard_points(
    module: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], broken: str
) -> None:
    verify = module("accuracy_f64").verify
    right = verify.run

    def wrong(*args: Any, **options: Any) -> Any:
        if broken == "failed":
            raise RuntimeError("no such luck")
        y = right(*args, **options)["y"]
        y[100] = y[100] * (1 + 2e-15) if broken == "far" else float("nan")
        return {"y": y}

    monkeypatch.setattr(verify, "run", wrong)
    assert module("accuracy").main([*HARD, "--kinds", "atan"]) == 1
    out = capsys.readouterr().out
    assert "1 broken" in out
    assert ("FAILED" if broken == "failed" else " NO |") in out


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_hard_points_for_which_time_is_short(
    module: Any, capsys: pytest.CaptureFixture[str], jobs: str
) -> None:
    assert module("accuracy").main([*HARD, "--kinds", "exp", "--jobs", jobs, "--budget", "0"]) == 0
    out = capsys.readouterr().out
    assert "Not done in full, for want of time: exp (0 points)." in out
    assert "in part |" in out


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("--f64", "250", "--kinds", "exp,nonsense"), "nonsense: no function of one number"),
        (("--f64", "20"), "want at least 200 points"),
        (("--f64", "250", "--jobs", "0"), "and one process"),
    ],
)
def test_hard_points_refused(
    module: Any, capsys: pytest.CaptureFixture[str], asked: tuple[str, ...], said: str
) -> None:
    with pytest.raises(SystemExit):
        module("accuracy").main(["--device", "host", *asked])
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("--kinds", "exp,nonsense"), "nonsense: no function of one number in f32"),
        (("--gradients", "--kinds", "exp,floor"), "floor: no gradient of a function of one number in f32"),
        (("--gradients", "--f64", "250"), "--gradients --f64: gradients are measured in f32 alone"),
    ],
)
def test_accuracy_refused(
    module: Any, capsys: pytest.CaptureFixture[str], asked: tuple[str, ...], said: str
) -> None:
    with pytest.raises(SystemExit):
        module("accuracy").main(["--device", "host", *asked])
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("sample", [1 << 16, 1000, 7])
def test_inputs_are_taken_once(module: Any, monkeypatch: pytest.MonkeyPatch, sample: int) -> None:
    import torch

    accuracy = module("accuracy")
    monkeypatch.setattr(accuracy, "INPUTS", 1 << 16)
    monkeypatch.setattr(accuracy, "CHUNK", 1 << 12)
    inputs = accuracy.Inputs(torch, "host", sample)
    patterns = torch.cat([x.view(torch.int32) for x in inputs])
    assert len(patterns) == inputs.count == len(patterns.unique())
    assert inputs.count == sample or sample - 64 < inputs.count <= sample
    assert patterns.min() >= -(1 << 15)
    assert patterns.max() < 1 << 15
    assert len(list(inputs.all())) == inputs.chunks + (sample < 1 << 16)


def test_ulps_are_those_of_the_tests(module: Any) -> None:
    import numpy as np
    import torch

    from baracuda.codegen import verify

    rng = np.random.default_rng(1)
    special = verify.special_values("f32").astype(np.float64)
    special = np.concatenate([special, [1e39, -1e300, 1e-50, 2.0**128, 3.4028235e38, 2.0**-126]])
    random = np.ldexp(rng.standard_normal(4000), rng.integers(-150, 129, 4000))
    want = np.concatenate([np.repeat(special, len(special)), random])
    with np.errstate(all="ignore"):
        near = (random * (1 + rng.standard_normal(4000) * 1e-6)).astype(np.float32)
        got = np.concatenate([np.tile(special, len(special)).astype(np.float32), near])
    scales = [None, np.abs(want) + 1, np.where(rng.random(want.shape) < 0.1, np.inf, 1e39)]
    for scale in scales:
        right = verify.ulp_errors("f32", got, want.astype(np.longdouble), scale)
        as_tensor = None if scale is None else torch.from_numpy(scale)
        found = module("ulps").errors(torch, torch.from_numpy(got), torch.from_numpy(want), as_tensor)
        np.testing.assert_allclose(found.numpy(), right.astype(np.float64), rtol=1e-12)


@pytest.mark.parametrize(("direction", "output"), [("forward", "y"), ("backward", "dx")])
def test_bounds_are_those_of_the_spec(module: Any, direction: str, output: str) -> None:
    import numpy as np
    import torch

    from baracuda.codegen import load_spec
    from baracuda.codegen.formula import evaluate, free_names, parse

    formulas = module("bound_formulas")
    rng = np.random.default_rng(1)
    values = np.concatenate([[0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40], rng.standard_normal(100) * 10])
    tensors_of = {"x": values, "exact": values[::-1].copy(), "dy": rng.uniform(0.5, 2, len(values))}
    compared = 0
    for problem in module("accuracy").problems_of(load_spec(None), (), "f32", direction):
        env = {**problem.numbers(), **tensors_of}
        for expr in filter(None, (problem.op.scale.get(output), problem.op.holds.get(output))):
            compared += 1
            known = {name: env[name] for name in free_names(expr)}
            want = evaluate(expr, known, limits=formulas.F32_LIMITS)
            tensors = {k: torch.from_numpy(v) if isinstance(v, np.ndarray) else v for k, v in known.items()}
            np.testing.assert_allclose(formulas.value(torch, expr, tensors).numpy(), want)
    assert compared
    with pytest.raises(NotImplementedError, match=r"tanh\(x\) in the bound"):
        formulas.value(torch, parse("1 + tanh(x)"), {"x": torch.ones(1)})


def test_a_wrong_result_fails(
    module: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    comparison, peers = module("comparison"), module("peers")

    def wrong(torch: Any, plan: Any, kind: Any) -> Any:
        right = peers.peer_of(torch, plan, kind)
        return right and dataclasses.replace(right, forward=lambda *inputs: right.forward(*inputs) * 1.001)

    monkeypatch.setattr(comparison, "peer_of", wrong)
    assert module("elementwise").main([*OPTIONS, *MAPS]) == 1
    assert "FAILED" in capsys.readouterr().out


def test_kinds_and_layouts_of_maps(module: Any, capsys: pytest.CaptureFixture[str]) -> None:
    elementwise = module("elementwise")
    spec = load_spec()
    assert all(name in spec.ops for name in elementwise.USUAL)
    known = argparse.Namespace(
        device="host", kinds=("usual",), dtypes=("bf16",), layouts=("contig", "sliced")
    )
    cases = list(elementwise.cases(known))
    assert {case.plan.OPS[case.kind].name.removesuffix("_backward") for case in cases} == elementwise.USUAL
    assert {case.layout for case in cases} == {"contig", "sliced"}
    assert len(cases) == 4 * len(elementwise.USUAL)
    with pytest.raises(SystemExit):
        elementwise.main([*OPTIONS, "--layouts", "contiguous"])
    assert "contiguous: the layouts are contig," in capsys.readouterr().err


def test_tables_of_maps(module: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One of each form; what failed or has no peer is a dash, what was not run is left out."""

    def row(sku: str, dtype: str, case: str, **gbps: float | None) -> dict[str, Any]:
        peers = {who: {"gbps": one} if one else {"failed": "why"} for who, one in gbps.items()}
        return {"sku": f"{sku}/{dtype}/contig/sm_90", "dtype": dtype, "case": case, **peers}

    rows = [
        row("lerp_tensor_backward", "bf16", "8x4", baracuda=3, eager=None),
        row("lerp_tensor", "bf16", "8x4", baracuda=1.6, eager=2),
        row("lerp_tensor", "f32", "8x4", baracuda=4),
    ]
    tables, path = module("maps_tables"), tmp_path / "elementwise.json"
    path.write_text(json.dumps({"rows": [*rows, {"dtype": "bf16", "case": "8x4", "failed": "why"}]}))
    assert tables.main([str(path)]) == 0
    lines = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in capsys.readouterr().out.splitlines()
    ]
    assert lines[0] == ["op", "bf16", "its gradient", "f32", "its gradient"]
    assert lines[2] == ["lerp_tensor", "2 / 2", "3 / -", "4 / -", ""]

    rows.append(row("lerp_tensor", "bf16", "8x4 row-broadcast", baracuda=5, eager=6, compile=7))
    path.write_text(json.dumps({"rows": rows}))
    assert tables.main([str(path)]) == 0
    lines = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in capsys.readouterr().out.splitlines()
    ]
    assert lines[0] == ["op", "dtype", "contiguous", "row-broadcast"]
    assert lines[2] == ["lerp_tensor backward", "bf16", "3 / - / -", ""]
    assert lines[3] == ["lerp_tensor", "bf16", "2 / 2 / -", "5 / 6 / 7"]


def test_a_budget_is_kept(module: Any, tmp_path: Path) -> None:
    assert module("reductions").main([*OPTIONS, "--budget", "0", "--out", str(tmp_path)]) == 0
    written = json.loads((tmp_path / "reductions.json").read_text())
    assert written["rows"] == []
    assert "for want of time" in written["about"]["not measured"]


def test_the_sample_reaches_every_kernel_shape(module: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert module("sanitize").main(["--device", "host", "--dtypes", "bf16"]) == 0
    assert "launches of" in capsys.readouterr().out


def test_the_sample_says_what_it_missed(
    module: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sanitize = module("sanitize")
    monkeypatch.setattr(sanitize, "WIDE_LAYOUTS", ())
    assert sanitize.main(["--device", "host", "--dtypes", "bf16"]) == 1
    assert "strided64 bf16" in capsys.readouterr().out


def test_overhead_runs_and_judges(
    module: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    overhead = module("overhead")
    monkeypatch.setattr(overhead, "wheel_bytes", lambda: 123_456)
    assert overhead.main(["--device", "host", "--quick", "--out", str(tmp_path)]) == 0
    written = json.loads((tmp_path / "overhead.json").read_text())
    calls = {row["call"]: row["us"] for row in written["rows"]}
    assert all(us > 0 for us in calls.values())
    assert "torch.add(out=)" in calls
    assert "BinaryParamPlan torch: run(None, ...)" in calls
    assert set(written["select"]) == {"empty cache", "full cache", "memory"}
    assert all(times["BinaryParamPlan"] > 0 for times in written["select"].values())
    assert written["bytes"] == {"wheel": 123_456}
    assert "\noverhead: goals" in capsys.readouterr().out


def test_the_goals_of_overhead(module: Any) -> None:
    overhead = module("overhead")
    names = [
        f"BinaryParamPlan {library}: run({stream}, ...)"
        for library in ("cupy", "torch")
        for stream in ("stream", f"{library} stream", "None")
    ]
    calls = {"torch.add(out=)": 9.0, "cuLaunchKernel (CuPy's binding)": 4.0, **dict.fromkeys(names, 8.0)}
    calls["BinaryParamPlan torch: bind(...)(stream)"] = 5.0
    selects = {"empty cache": {"BinaryParamPlan": 90.0}, "full cache": {"BinaryParamPlan": 4.9}}
    assert all(goal.is_met for goal in overhead.goals(calls, selects))
    for spoilt in (
        (calls | {names[-1]: 9.1}, selects),
        (calls | {"BinaryParamPlan torch: bind(...)(stream)": 5.3}, selects),
        (calls, selects | {"full cache": {"BinaryParamPlan": 5.1}}),
        (calls, selects | {"pack": {"BinaryParamPlan": 5.1}}),
        (calls, selects | {overhead.FIRST: {"BinaryParamPlan": 5.1}}),
    ):
        assert [goal.is_met for goal in overhead.goals(*spoilt)].count(False) == 1


def test_strict_fails_where_a_goal_is_missed(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    overhead = module("overhead")
    monkeypatch.setattr(overhead, "wheel_bytes", lambda: None)
    monkeypatch.setattr(
        overhead, "measure_selects", lambda device: ({"full cache": {"BinaryParamPlan": 1e9}}, 0)
    )
    options = ["--device", "host", "--quick"]
    assert overhead.main(options) == 0
    assert overhead.main([*options, "--strict"]) == 1


@pytest.mark.parametrize("layout", ["transposed", "bshd inputs"])
@pytest.mark.parametrize("plan", ["UnaryPlan", "UnaryBackwardPlan", "BinaryPlan", "BinaryBackwardPlan"])
def test_peers_of_permuted_inputs_have_contiguous_results(module: Any, layout: str, plan: str) -> None:
    """PyTorch would keep the inputs' order of axes and so meet contiguous memory alone."""
    import torch

    import baracuda as bc

    kind = {"UnaryPlan": bc.UnaryKind.EXP, "BinaryPlan": bc.BinaryKind.MUL}[plan.replace("Backward", "")]
    domain = (2, 3, 5, 7) if layout == "bshd inputs" else (13, 7)
    case = module("cases").Case(getattr(bc, plan), kind, "f32", domain, layout=layout)
    peer = module("peers").peer_of(torch, case.plan, kind)
    timer = module("timing").timer_for(torch, "host")
    runner = module("comparison").Bench(torch, timer, "host", module("report").Report("x", None, {}), 2, 60)
    data = runner.make.data(case, peer)
    assert not data.inputs[0].is_contiguous()
    call = runner._peer_calls(case, peer, module("comparison")._forward(case, peer), [data])[0]
    results = call()
    assert all(one.is_contiguous() for one in (results if case.backward else [results]))
