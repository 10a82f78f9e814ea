"""Names of a user's spec that mean something in Python, CUDA or C: refused, or spelled so that all works."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_runner import run
from devices import each_kind
from small_spec import SMALL_PAIRS, SMALL_SPEC

from baracuda import Stream
from baracuda.codegen import SpecError, load_spec
from baracuda.codegen.rendering.locals import local_names
from baracuda.compile import nvrtc
from baracuda.compile.unit import Unit

#: Of Python, of plan modules, of CUDA and the C library, and of the kernels' headers.
NAMES = [
    "abs", "max", "min", "pow", "sum", "len", "range", "tuple", "dict", "object", "property", "field",
    "dataclass", "math", "desc", "wide", "numbers", "radians", "power", "clamp", "computed", "log", "exp",
    "floor", "ceil", "fma", "rsqrt", "printf", "clock64", "y0", "gamma", "near", "lane", "copy_async",
    "log_", "power_",
]  # fmt: skip
#: Those that run, which takes a compile each.
RUN = each_kind(["log", "printf", "copy_async", "math"], ["fma", "floor"])
REFUSED = ["int", "float", "template", "assert", "threadIdx", "Row", "State", "LANES", "T", "errno", "row_in"]


def test_locals_hide_nothing_and_are_apart() -> None:
    spelled = local_names([*NAMES, "weight"])
    assert len(set(spelled.values())) == len(NAMES) + 1
    assert spelled["weight"] == "weight"
    assert spelled["fma"] == "fma"
    assert spelled["log"] == "log__"
    assert spelled["power"] == "power__"
    assert spelled["log_"] == "log_"


def package(folder: Path, name: str, text: str, plan: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Generate a package, whose name no other test has, from a spec; the module that a plan is in."""
    (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    result = run("generate", "--spec", folder / f"{name}.yaml", "--out", folder / name)
    assert result.exit_code == 0, result.output
    monkeypatch.syspath_prepend(str(folder))
    importlib.invalidate_caches()
    plans = importlib.import_module(f"{name}.plans")
    return importlib.import_module(f"{name}.plans.{plans.MODULES[plan]}")


def mix(name: str) -> str:
    """The small spec, with `name` for an attribute and for the descriptor's number that it comes from."""
    text = SMALL_SPEC.replace("number", name).replace("weight", name)
    lets = f"{{rest: 1 - {name}, again: log(exp(rest)) + 0 * {name}}}"
    old = f"{{rest: 1 - {name}}}"
    assert text.count(old) == 2
    return text.replace(old, lets).replace("* rest", "* again")


@pytest.mark.parametrize("name", NAMES)
def test_a_number_and_an_attribute_of_any_name(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh_cache: Path
) -> None:
    module = package(tmp_path, f"mixed_{name}", mix(name), "PairPlan", monkeypatch)
    desc = module.PairDescriptor(kind="mix", shape=(5,), element="f32", **{name: 0.25})
    scalars = module.PairPlan.OPS[desc.kind].fold(desc)
    assert scalars == pytest.approx((0.75, 0.25)) or scalars == pytest.approx((0.25, 0.75))
    if name not in RUN:
        return
    plan = module.PairPlan.select(Stream.host(), desc)
    a, b, y = np.full(5, 4.0, np.float32), np.full(5, 8.0, np.float32), np.empty(5, np.float32)
    plan(a=a, b=b, y=y)
    assert y.tolist() == [5.0] * 5


def pairs(name: str) -> str:
    """The small spec of pairs, with `name` for what the host computes."""
    old = "let: {plain: 'pow(base, -2 * pair / paired)'}"
    assert SMALL_PAIRS.count(old) == 1
    first = f"{name}: 'max(base, 1) * exp(log(1))'"
    return SMALL_PAIRS.replace(old, f"let: {{{first}, plain: 'pow({name}, -2 * pair / paired)'}}")


@pytest.mark.parametrize("name", NAMES)
def test_a_host_value_of_any_name(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = package(tmp_path, f"turned_{name}", pairs(name), "TurnPlan", monkeypatch)
    desc = module.TurnDescriptor(batch=1, planes=1, length=2, size=4, element="f32", base=100.0)
    (op, *_) = module.TurnPlan.OPS.values()
    pairs_of = [sum(parts) for parts in op.host(desc).pairs]
    assert pairs_of == pytest.approx([2 / np.pi, 2 / np.pi / 10])


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(mix(name), encoding="utf-8")
    with pytest.raises(SpecError, match=f"'{name}'.* \\((choose )?(another name|write )"):
        load_spec(path)


@pytest.mark.skipif(sys.platform != "linux", reason="NVRTC for Linux alone is among the extras")
@pytest.mark.parametrize("name", RUN)
def test_nvrtc_compiles_it(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package(tmp_path, f"ours_{name}", mix(name), "PairPlan", monkeypatch)
    text = next((tmp_path / f"ours_{name}" / "kernels").rglob("mix.cu")).read_text(encoding="utf-8")
    defines = (("BARACUDA_DTYPE", "f16"), ("BARACUDA_NARROW", "1"), ("BARACUDA_NAMESPACE", "kernels"))
    made = nvrtc.compile_cubin(Unit("ours/mix.cu", text, defines), "compute_80")
    assert b".target sm_80" in made.data
