"""A spec of somebody else: it builds on baracuda's, and its package runs with the installed wheel alone."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from cli_runner import run
from devices import each_kind
from packages import write_package
from wheels import ROOT, build_wheel, install_wheel

import baracuda
from baracuda.codegen import SpecError, kernels, load_spec, render

SPEC = """\
version: 1
extends: baracuda

dtypes:
  two: [half, f32]          # a set that names a set of baracuda's

monoids:
  cubes:
    doc: sum of the cubes of x
    state: {s: compute = 0}
    lift:  {s: x * x * x}
    merge: {s: a.s + b.s}
    value: s

families:
  triple:
    doc: y = f(a, b, c), element by element
    template: map
    category: Triple
    plan: Triple
    kind: TripleKind
    domain: shape
    descriptor:
      shape:   {type: shape, doc: extents of every tensor}
      element: {type: element, doc: dtype of every tensor}
    forward: &triple_forward
      a: {io: in, shape: shape, doc: first operand}
      b: {io: in, shape: shape, doc: second operand}
      c: {io: in, shape: shape, doc: third operand}
      y: {io: out, shape: shape, doc: result}
    backward:
      dy: {io: in, shape: shape, doc: gradient of y}
      a: {io: in, shape: shape, doc: the forward's first operand}
      b: {io: in, shape: shape, doc: the forward's second operand}
      da: {io: out, shape: shape, doc: gradient of a}
      db: {io: out, shape: shape, doc: gradient of b}
      dc: {io: out, shape: shape, doc: gradient of c}

  signed:
    doc: y = -f(a, b, c), by a template of our own
    template: negated_map
    engine: map
    category: Triple
    plan: Signed
    kind: SignedKind
    domain: shape
    descriptor:
      shape:   {type: shape, doc: extents of every tensor}
      element: {type: element, doc: dtype of every tensor}
    forward: *triple_forward

ops:
  fused_multiply_add:
    family: triple
    doc: a * b + c
    kind: FMA
    dtypes: float           # a set of baracuda's
    forward: {y: a * b + c}
    backward: {da: dy * b, db: dy * a, dc: dy}
    ref: {y: a * b + c, da: dy * b, db: dy * a, dc: dy}
    ulp: {half: 1, f32: 2, f64: 2}
    scale: {y: abs(a * b) + abs(c)}

  negated_sum:
    family: signed
    doc: minus the sum of three
    kind: SUM
    dtypes: two
    forward: {y: a + b + c}
    ref: {y: -(a + b + c)}
    ulp: {half: 1, f32: 2}

  ours_sum:
    family: reduce          # a family and a monoid of baracuda's
    doc: twice the sum
    kind: SUM
    dtypes: [f32]
    forward: {y: 2 * sum(x)}
    ref:
      y: 2 * np.sum(x, axis=axes, keepdims=True)
    ulp: {f32: 4}

  ours_cubes:
    family: reduce          # a family of baracuda's, a monoid of ours
    doc: sum of cubes
    kind: CUBES
    dtypes: [f32, f64]
    forward: {y: cubes(x)}
    ref:
      y: np.sum(x ** 3, axis=axes, keepdims=True)
    ulp: {f32: 8, f64: 8}
"""

# The shipped template with other results: what the formula gives is negated.
TEMPLATE = """\
{% set results = ["-(" ~ results[0] ~ ")"] -%}
{% include "map.cu.j2" %}
"""

RUN = """
import sys
for name in ("jinja2", "yaml", "pydantic", "click", "baracuda.codegen", "cupy"):
    sys.modules[name] = None
import numpy as np
import baracuda as bc
import {package} as mine

host = bc.Stream.host()
random = np.random.default_rng(0)
a, b, c, dy = (random.standard_normal((5, 33)).astype(np.float32) for _ in range(4))
empty = lambda shape=(5, 33): np.full(shape, np.nan, np.float32)

plan = mine.TriplePlan.select(host, mine.TripleDescriptor(kind="fma", shape=(5, 33), element="f32"))
y = empty()
plan(a=a, b=b, c=c, y=y)
np.testing.assert_array_equal(y, a * b + c)

plan = mine.TripleBackwardPlan.select(
    host, mine.TripleBackwardDescriptor(kind=mine.TripleKind.FMA, shape=(5, 33), element="f32")
)
da, db, dc = empty(), empty(), empty()
plan(dy=dy, a=a.T.copy().T, b=b, da=da, db=db, dc=dc)
for got, want in ((da, dy * b), (db, dy * a), (dc, dy)):
    np.testing.assert_array_equal(got, want)

plan = mine.SignedPlan.select(host, mine.SignedDescriptor(kind="sum", shape=(5, 33), element="f32"))
y = empty()
plan(a=a, b=b, c=c, y=y)
np.testing.assert_array_equal(y, -(a + b + c))

for kind, want in (("sum", 2 * a.sum(1, keepdims=True)), ("cubes", (a**3).sum(1, keepdims=True))):
    desc = mine.ReduceDescriptor(kind=kind, input_shape=(5, 33), reduce_axis=1, element="f32")
    y = empty((5, 1))
    mine.ReducePlan.select(host, desc)(x=a, y=y)
    np.testing.assert_allclose(y, want, rtol=1e-5, atol=1e-5)

assert [kind.name for kind in mine.ReduceKind] == ["SUM", "CUBES"]
assert "TriplePlan" in dir(mine) and not hasattr(mine, "BinaryParamPlan")
# Beside it, baracuda's own plans are what they were.
assert bc.ReducePlan is not mine.ReducePlan and len(bc.ReduceKind) > 2
print(bc.__file__)
print(mine.__file__)
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """Return the spec, in a folder with its template."""
    folder = tmp_path / "meine ops ü"
    (folder / "templates").mkdir(parents=True)
    (folder / "templates" / "negated_map.cu.j2").write_text(TEMPLATE, encoding="utf-8")
    path = folder / "my_ops.yaml"
    path.write_text(SPEC, encoding="utf-8")
    return path


def problems_of(path: Path) -> list[str]:
    with pytest.raises(SpecError) as caught:
        load_spec(path)
    return [str(problem) for problem in caught.value.problems]


# In this process


def test_only_the_users_ops_are_rendered(spec: Path) -> None:
    model = load_spec(spec)
    assert list(model.ops) == ["fused_multiply_add", "negated_sum", "ours_sum", "ours_cubes"]
    files = render(model)
    assert sorted(name for name in files if name.endswith(".cu")) == [
        "kernels/reduction/ours_cubes.cu",
        "kernels/reduction/ours_sum.cu",
        "kernels/triple/fused_multiply_add.cu",
        "kernels/triple/fused_multiply_add_backward.cu",
        "kernels/triple/negated_sum.cu",
    ]
    assert sorted(name for name in files if name.startswith("plans/")) == [
        "plans/__init__.py",
        "plans/kinds.py",
        "plans/reduction.py",
        "plans/triple.py",
    ]
    assert files["ops.yaml"] == SPEC
    assert {row.op for row in kernels(model)} == set(model.ops)


def test_dtype_sets_of_both_are_there(spec: Path) -> None:
    model = load_spec(spec)
    assert model.ops["fused_multiply_add"].dtypes == ("f16", "bf16", "f32", "f64")
    assert model.ops["negated_sum"].dtypes == ("f16", "bf16", "f32")


def test_the_text_of_an_own_template_is_used_with_the_engines_variants(spec: Path) -> None:
    model = load_spec(spec)
    text = render(model)["kernels/triple/negated_sum.cu"]
    assert "out[0] = -(a + b + c);" in text
    assert "templates/negated_map.cu.j2" in text
    by_op = {row.op: set() for row in kernels(model)}
    for row in kernels(model):
        by_op[row.op].add(row.variant)
    assert by_op["negated_sum"] == by_op["fused_multiply_add"]


def test_commands_take_the_spec(spec: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run("lint", "--spec", spec).output.startswith(f"{spec}: 4 ops, ")
    assert run("generate", "--spec", spec, "--out", out).exit_code == 0
    assert run("check", "--spec", spec, "--out", out).exit_code == 0
    assert "y = cubes(x)" in run("show", "ours_cubes", "--spec", spec).output
    listed = run("list", "--spec", spec).output
    assert "baracuda_fused_multiply_add_backward_bf16" in listed
    assert "lerp" not in listed
    assert run("generate", "--spec", spec).exit_code == 2


def test_a_package_can_say_all_of_itself(spec: Path, tmp_path: Path, fresh_cache: Path) -> None:
    """Its own spec and templates lie in it, so what the first spec gave is not needed any more."""
    out = tmp_path / "elsewhere" / "my_pkg"
    assert run("generate", "--spec", spec, "--out", out).exit_code == 0
    listed, shown = (run(*words, "--spec", spec).output for words in (("list",), ("show", "negated_sum")))
    shutil.rmtree(spec.parent)
    own = out / "ops.yaml"
    assert run("list", "--spec", own).output == listed
    assert run("show", "negated_sum", "--spec", own).output == shown.replace("my_ops.yaml", "ops.yaml")
    assert run("lint", "--spec", own).exit_code == 0
    assert run("check", "--spec", own, "--out", out).exit_code == 0
    again = run("generate", "--spec", own, "--out", out)
    assert (again.exit_code, "0 written, 0 removed" in again.output) == (0, True)
    compiled = run("compile", "--spec", own, "--arch", "sm_90", "--op", "negated_sum", "--dtype", "f16")
    assert "sm_90: 2 of 2 units compiled" in compiled.output


def test_a_template_brings_those_that_it_includes(spec: Path) -> None:
    templates = spec.parent / "templates"
    (templates / "negated_map.cu.j2").write_text('{% include "part.j2" %}\n{% include "map.cu.j2" %}\n')
    (templates / "part.j2").write_text("// {{ banner | length }} {% include names.pop() ignore missing %}\n")
    (templates / "nobody's.j2").write_text("// included by a name that is computed, or not at all\n")
    (templates / "notes.txt").write_text("no template")
    with pytest.raises(SpecError, match=r"'names' is undefined"):
        render(load_spec(spec))
    (templates / "part.j2").write_text('// {% include ["nobody\'s.j2"] %}\n')
    found = [name for name in render(load_spec(spec)) if name.startswith("templates/")]
    assert sorted(found) == ["templates/negated_map.cu.j2", "templates/nobody's.j2", "templates/part.j2"]
    (templates / "part.j2").write_text("//\n")
    found = [name for name in render(load_spec(spec)) if name.startswith("templates/")]
    assert sorted(found) == ["templates/negated_map.cu.j2", "templates/part.j2"]


def test_a_package_is_made_again_in_place(spec: Path, tmp_path: Path) -> None:
    """What an op leaves behind goes, what is the user's stays, and the package imports."""
    out = tmp_path / "in_place_ops"
    assert run("generate", "--spec", spec, "--out", out).exit_code == 0
    (out / "helpers.py").write_text("ANSWER = 42\n")
    smaller = SPEC.replace(SPEC[SPEC.index("  negated_sum:") : SPEC.index("  ours_sum:")], "")
    spec.write_text(smaller.replace("2 * sum(x)", "3 * sum(x)"), encoding="utf-8")
    stale = run("check", "--spec", spec, "--out", out)
    assert stale.exit_code == 1
    for words in ("stale: ", "changed: ", "foreign: "):
        assert words in stale.stderr
    again = run("generate", "--spec", spec, "--out", out)
    assert again.exit_code == 0
    assert f"removed {out / 'kernels' / 'triple' / 'negated_sum.cu'}" in again.output
    assert f"removed {out / 'templates' / 'negated_map.cu.j2'}" in again.output
    assert not (out / "templates").exists()
    sys.path.append(str(tmp_path))
    try:
        package = importlib.import_module("in_place_ops")
        assert importlib.import_module("in_place_ops.helpers").ANSWER == 42
    finally:
        sys.path.remove(str(tmp_path))
    desc = package.ReduceDescriptor(kind="sum", input_shape=(2, 3), reduce_axis=1, element="f32")
    x, y = np.ones((2, 3), np.float32), np.empty((2, 1), np.float32)
    package.ReducePlan.select(baracuda.Stream.host(), desc)(x=x, y=y)
    assert y.tolist() == [[9.0], [9.0]]
    assert not hasattr(package, "SignedPlan")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("extends: baracuda\n", "", "unknown family 'reduce'"),
        ("extends: baracuda\n", "extends: torch\n", "want 'baracuda'"),
        ("  two: [half, f32]", "  float: [half, f32]", "'float' is one of ops.yaml of baracuda already"),
        ("  cubes:\n    doc", "  sum:\n    doc", "'sum' is one of ops.yaml of baracuda already"),
        ("  triple:\n    doc", "  reduce:\n    doc", "'reduce' is one of ops.yaml of baracuda already"),
        ("  ours_sum:\n", "  silu:\n", "'silu' is one of ops.yaml of baracuda already"),
        ("plan: Signed", "plan: Reduce", "'Reduce' is the plan of 'reduce' already"),
        ("plan: Signed", "plan: Triple", "collide with those of the family 'triple'"),
        ("template: negated_map", "template: negated_mop", "no file "),
        ("template: negated_map", "template: map", "'map' is a template of baracuda"),
        ("engine: map", "engine: mop", "no template 'mop' (did you mean 'map'?)"),
        ("    engine: map\n", "", "no template 'negated_map'"),
        ("family: triple\n", "family: tripel\n", "did you mean 'triple'?"),
        ("family: reduce          # a family and", "family: reduse  # and", "did you mean 'reduce'?"),
        ("y: cubes(x)", "y: cubez(x)", "cubez"),
        ("    dtypes: [f32]\n", "    options: {ties: [split, all]}\n", "the family's default is 'all'"),
    ],
)
def test_mistakes_are_named_with_their_line(spec: Path, old: str, new: str, message: str) -> None:
    assert SPEC.count(old) == 1
    spec.write_text(SPEC.replace(old, new), encoding="utf-8")
    found = problems_of(spec)
    assert any(message in problem for problem in found), found
    assert all(problem.startswith(f"{spec}:") for problem in found)


@pytest.mark.parametrize(
    ("template", "line", "message"),
    [
        ("// fine\n{% if %}\n", 2, "Expected an expression"),
        ("// fine\n\n{{ no_such_hole }}\n", 3, "'no_such_hole' is undefined"),
        ('{% include "no_such.j2" %}\n', 1, "no_such.j2"),
        ("//\n{{ 1 // 0 }}\n", 2, "ZeroDivisionError: "),
        ("{{ results + 1 }}\n", 1, "TypeError: "),
        ('{% include "negated_map.cu.j2" %}\n', 1, "RecursionError: "),
        ("// f\udcfcr\n", 1, "UnicodeDecodeError: "),
    ],
)
def test_a_mistake_in_a_template_is_bad_input(
    spec: Path, tmp_path: Path, template: str, line: int, message: str
) -> None:
    path = spec.parent / "templates" / "negated_map.cu.j2"
    path.write_text(template, encoding="utf-8", errors="surrogateescape")
    result = run("generate", "--spec", spec, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert f"{path}:{line}: " in result.stderr
    assert message in result.stderr
    assert not (tmp_path / "out").exists()


def test_baracudas_own_spec_extends_nothing(tmp_path: Path) -> None:
    from baracuda.codegen import spec as spec_module

    path = tmp_path / "ops.yaml"
    path.write_text("version: 1\nextends: baracuda\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spec_module, "default_spec_path", lambda: path)
        [problem] = problems_of(path)
    assert problem == f"{path}:2: extends: this is the spec of baracuda itself (leave it out)"


def test_the_example_of_the_documentation(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    [example] = [block for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL) if "extends:" in block]
    (tmp_path / "my_ops.yaml").write_text(example, encoding="utf-8")
    name = write_package(tmp_path, "documented_ops", render(load_spec(tmp_path / "my_ops.yaml")))
    package = importlib.import_module(name)
    desc = package.ReduceDescriptor(kind="cubes", input_shape=(4, 1024), reduce_axis=1, element="f32")
    x, y = np.full((4, 1024), 2, np.float32), np.empty((4, 1), np.float32)
    package.ReducePlan.select(baracuda.Stream.host(), desc)(x=x, y=y)
    np.testing.assert_array_equal(y, np.full((4, 1), 8 * 1024))

    # Its guarantee, for rows that cancel and for equal terms, which may all round to one side.
    rng = np.random.default_rng(0)
    for element, dtype in (("f32", np.float32), ("f64", np.float64)):
        x = rng.standard_normal((8, 20000)).astype(dtype)
        x[0] = 0.1
        y = np.empty((8, 1), dtype)
        desc = package.ReduceDescriptor(kind="cubes", input_shape=x.shape, reduce_axis=1, element=element)
        plan = package.ReducePlan.select(baracuda.Stream.host(), desc)
        plan(x=x, y=y, workspace=baracuda.Workspace.host(plan.workspace_size()))
        cubes = x.astype(np.longdouble) ** 3
        error = np.abs(y - cubes.sum(axis=1, keepdims=True))
        unit = np.spacing(np.abs(cubes).sum(axis=1, keepdims=True).astype(dtype))
        assert (error <= plan.precision_guarantee.ulp * unit).all()
        assert dict(plan.precision_guarantee.scale) == {"y": "sum(abs(x * x * x))"}


CALLING = """\
version: 1
extends: baracuda
ops:
  gate_twice:
    family: binary
    doc: silu(a) times silu(b + 1), and once more the first
    forward: {y: silu(a) * silu(b + 1) + silu(a)}
    backward:
      da: silu_backward(dy * (silu(b + 1) + 1), a)
      db: silu_backward(dy * silu(a), b + 1)
    ref: {y: a, da: a, db: a}
"""


def test_formulas_call_ops_of_baracuda(tmp_path: Path, fresh_cache: Path) -> None:
    """Equal calls are computed once; what an op computes is put in place of the call."""
    path = tmp_path / "calling.yaml"
    path.write_text(CALLING, encoding="utf-8")
    files = render(load_spec(path))
    text = files["kernels/binary_elementwise/gate_twice.cu"]
    assert "//   y = silu(a) * silu(b + 1) + silu(a)\n" in text
    assert text.count("const A silu_value") == 2
    name = write_package(tmp_path, "calling_ops", files)
    package = importlib.import_module(name)
    rng = np.random.default_rng(0)
    a, b, dy = rng.standard_normal((3, 1000))
    host, fields = baracuda.Stream.host(), {"kind": "gate_twice", "shape": (1000,), "element": "f64"}
    y, da, db = np.empty((3, 1000))
    package.BinaryPlan.select(host, package.BinaryDescriptor(**fields))(a=a, b=b, y=y)
    plan = package.BinaryBackwardPlan.select(host, package.BinaryBackwardDescriptor(**fields))
    plan(dy=dy, a=a, b=b, da=da, db=db)

    def silu(x: np.ndarray) -> np.ndarray:
        return x / (1 + np.exp(-x))

    def slope(x: np.ndarray) -> np.ndarray:
        return (1 + x / (1 + np.exp(x))) / (1 + np.exp(-x))

    np.testing.assert_allclose(y, silu(a) * silu(b + 1) + silu(a), 1e-13, 1e-15)
    np.testing.assert_allclose(da, dy * (silu(b + 1) + 1) * slope(a), 1e-13, 1e-15)
    np.testing.assert_allclose(db, dy * silu(a) * slope(b + 1), 1e-13, 1e-15)


# With the installed wheel alone


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder that the wheel is installed in."""
    folder = tmp_path_factory.mktemp("wheel")
    return install_wheel(build_wheel(folder), folder / "site")


def python(*arguments: str, path: list[Path], cwd: Path, **environment: str) -> str:
    """Run Python with the packages in `path` and what is installed, but without a checkout.

    `-S` leaves out the `.pth` files, with which an editable install would lend what the wheel forgot.
    """
    needed = map(importlib.import_module, ["numpy", "ml_dtypes", "jinja2", "yaml", "click", "pydantic"])
    places = [*map(str, path), *(str(Path(str(module.__file__)).parents[1]) for module in needed)]
    done = subprocess.run(
        [sys.executable, "-S", *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(places)), **environment},
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_generated_with_the_wheel_and_run_with_the_wheel(
    spec: Path, tmp_path: Path, installed: Path, fresh_cache: Path
) -> None:
    home = spec.parent
    cli = ("-m", "baracuda.codegen.cli")
    written = python(*cli, "generate", "--spec", spec.name, "--out", "my_pkg/", path=[installed], cwd=home)
    assert "my_pkg: " in written.splitlines()[-1]
    python(*cli, "check", "--spec", spec.name, "--out", "my_pkg", path=[installed], cwd=home)
    # The package is moved and renamed, and its spec and templates stay behind.
    site = tmp_path / "site of mine"
    site.mkdir()
    (home / "my_pkg").rename(site / "renamed_ops")
    shown = python("-c", RUN.format(package="renamed_ops"), path=[installed, site], cwd=tmp_path)
    [library, mine] = shown.splitlines()
    assert Path(library).is_relative_to(installed)
    assert Path(mine).is_relative_to(site)
    assert any(fresh_cache.rglob("*.so"))


@pytest.mark.slow
def test_the_wheel_brings_all_that_the_commands_need(
    installed: Path, tmp_path: Path, fresh_cache: Path
) -> None:
    cli = ("-m", "baracuda.codegen.cli")
    doctor = python(*cli, "doctor", path=[installed], cwd=tmp_path)
    assert re.search(r"^ok +generated code +\d+ files, current$", doctor, re.MULTILINE), doctor
    op = next(iter(load_spec(None).ops))
    # What these read, `doctor` has read too.
    more = [
        (("list", "--json"), run("list", "--json").output),
        (("lint",), "no problems"),
        (("show", op), "BARACUDA_KERNEL"),
    ]
    for arguments, part in each_kind([(("schema",), '"definitions"')], more):
        assert part in python(*cli, *arguments, path=[installed], cwd=tmp_path)


PACKED = """
import sys
for name in ("cupy", "cupy_backends"):
    sys.modules[name] = None
import baracuda as bc
import my_pkg as mine
from baracuda.compile import loader
desc = mine.ReduceDescriptor(kind="cubes", input_shape=(5, 33), reduce_axis=1, element="f64")
units = mine.ReducePlan._planned(bc.Device("cuda"), desc, None)._units()
print([loader.compile_only(unit, "sm_90").arch for unit in units])
"""


@pytest.mark.slow
def test_a_pack_of_the_users_ops_serves_the_users_plans(
    spec: Path, tmp_path: Path, installed: Path, fresh_cache: Path
) -> None:
    pack = tmp_path / "mine.pack"
    cli = ("-m", "baracuda.codegen.cli")
    home = spec.parent
    python(*cli, "generate", "--spec", spec.name, "--out", "my_pkg", path=[installed], cwd=home)
    # In this process, because without `.pth` files and site folders CuPy does not find NVRTC.
    arguments = ("--arch", "sm_90", "--op", "ours_cubes", "--dtype", "f64", "--pack", pack)
    assert run("compile", "--spec", spec, *arguments).exit_code == 0
    environment = {
        "BARACUDA_PACK": str(pack),
        "BARACUDA_JIT": "never",
        "BARACUDA_CACHE_DIR": str(tmp_path / "no"),
    }
    shown = python("-c", PACKED, path=[installed, home], cwd=tmp_path, **environment)
    assert shown.strip() == "['sm_90', 'sm_90']"
