"""The benchmarks run and tell right from wrong: tiny sizes on the host executor, with PyTorch on the CPU."""

from __future__ import annotations

import dataclasses
import importlib
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

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
