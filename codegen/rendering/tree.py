"""The whole generated tree: relative path to content."""

from __future__ import annotations

import csv
import io
import itertools
import json
from collections.abc import Collection, Iterable, Iterator

from baracuda.codegen.json_schema import json_schema
from baracuda.codegen.matrix import kernels, source_path, summed_outputs, variants
from baracuda.codegen.rendering.environment import banner, fill, own_templates
from baracuda.codegen.rendering.kernel import formula_lines, render_kernel
from baracuda.codegen.rendering.plan_ops import attribute_lines
from baracuda.codegen.rendering.plans import exported_names, render_plans
from baracuda.codegen.spec.model import Op, Program, Spec
from baracuda.codegen.spec.names import category_folder

_COLUMNS = (
    "op",
    "direction",
    "options",
    "plan",
    "kind",
    "dtypes",
    "variants",
    "ulp",
    "deterministic",
    "batch_invariant",
)


def render(spec: Spec) -> dict[str, str]:
    """Every generated file, by its path below the output folder."""
    files: dict[str, str] = {
        "__init__.py": fill("package_init.py.j2", banner=banner("package_init.py.j2")),
        "ops.yaml": spec.text,
        "matrix.csv": _matrix(spec),
        "OP-MATRIX.md": _matrix_document(spec),
        "ops.schema.json": json_schema(),
        "plans/kinds.py": _kinds(spec),
    }
    exports: list[tuple[str, str]] = []
    for category, families in spec.categories().items():
        module = category_folder(category)
        files[f"plans/{module}.py"] = render_plans(spec, category, families)
        exports += [(name, module) for name in exported_names(spec, category, families)]
    exports += [(kind, "kinds") for kind in sorted({op.family.kind for op in spec.ops.values()})]
    files["plans/__init__.py"] = fill(
        "plans_init.py.j2", banner=banner("plans_init.py.j2"), exports=sorted(exports)
    )
    files |= render_kernels(spec, spec.ops)
    # With what the spec needs beside it, so that the package can list, show and compile itself.
    for op in spec.ops.values():
        own = own_templates(op.family.own_template) if op.family.own_template else {}
        files |= {f"templates/{name}": text for name, text in own.items()}
    names = sorted([*files, "manifest.json"])
    files["manifest.json"] = json.dumps({"files": names}, indent=2) + "\n"
    return files


def render_kernels(spec: Spec, ops: Collection[str]) -> dict[str, str]:
    """The kernels of some ops, by the paths of the whole tree."""
    return {
        f"kernels/{source_path(op, program)}": render_kernel(op, program)
        for op in spec.ops.values()
        if op.name in ops
        for program in op.all_programs()
    }


def _kinds(spec: Spec) -> str:
    enums = []
    for kind in sorted({op.family.kind for op in spec.ops.values()}):
        ops = [op for op in spec.ops.values() if op.family.kind == kind]
        plans = sorted({op.family.plan_class(direction) for op in ops for direction in op.programs})
        members = [{"name": op.kind, "value": op.kind.lower(), "doc": op.doc} for op in ops]
        enums.append(
            {
                "name": kind,
                "plans": " and ".join(filter(None, (", ".join(plans[:-1]), plans[-1]))),
                "members": members,
            }
        )
    return fill("kinds.py.j2", banner=banner("kinds.py.j2"), enums=enums)


def _grouped(spec: Spec) -> Iterator[tuple[Op, Program, tuple[str, ...], tuple[str, ...]]]:
    """Every program with its dtypes and variants, in groups of neighbouring dtypes that have the same."""
    for op in spec.ops.values():
        for program in op.all_programs():
            own = op.dtypes_of(program.direction)
            of_dtype = {dtype: (*variants(op, program, dtype),) for dtype in own}
            for names, dtypes in itertools.groupby(own, of_dtype.__getitem__):
                yield op, program, tuple(dtypes), names


def _matrix(spec: Spec) -> str:
    """A line an op and direction, more where dtypes have other variants: these, bounds, guarantees."""
    text = io.StringIO()
    writer = csv.DictWriter(text, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    for op, program, dtypes, names in _grouped(spec):
        summed = summed_outputs(op, program)
        row = {
            "op": op.name,
            "direction": program.direction,
            "options": " ".join(f"{name}={value}" for name, value in program.options),
            "plan": op.family.plan_class(program.direction),
            "kind": op.kind,
            "dtypes": " ".join(dtypes),
            "variants": " ".join(names),
            "ulp": " ".join(f"{op.bounds(program.direction)[dtype]:g}" for dtype in dtypes),
            "deterministic": "yes",
            "batch_invariant": " ".join(name for name in program.written if name not in summed),
        }
        writer.writerow(row)
    return text.getvalue()


def _elsewhere(op: Op, place: str) -> str:
    """The whole name of an op in another library."""
    name = op.names[place]
    if place == "crate":
        return name if "::" in name or name.endswith("Plan") else f"{op.family.kind}::{name}"
    if place == "jax":
        return f"jax.{name}" if name.startswith(("nn.", "lax.", "scipy.", "numpy.")) else f"jax.numpy.{name}"
    return name if name.startswith("scipy.") else f"{place}.{name}"


def _taken(program: Program) -> tuple[str, ...]:
    """The tensors that a program reads or its contract asks for."""
    return tuple(dict.fromkeys((*program.read, *program.takes)))


def _code(lines: Iterable[str]) -> str:
    """Lines as code in a cell of a table, which a bar would end."""
    return "; ".join(f"`{' '.join(line.split())}`" for line in lines).replace("|", "\\|")


def _matrix_document(spec: Spec) -> str:
    rows = []
    for op, program, dtypes, names in _grouped(spec):
        lines = formula_lines(program)
        results = [line for line in lines if line.partition(" = ")[0] in program.written]
        named = [line for line in lines if line not in results] + [*attribute_lines(op, program)]
        summed, forward = summed_outputs(op, program), op.family.forward
        backward = program.direction == "backward"
        rows.append(
            {
                "op": program.stem,
                "plan": op.family.plan_class(program.direction),
                "kind": op.kind,
                "formula": _code(results) + (f" where {_code(named)}" if named else ""),
                "dtypes": " ".join(dtypes),
                "variants": " ".join(names),
                "ulp": " ".join(f"{op.bounds(program.direction)[dtype]:g}" for dtype in dtypes),
                "saved": " ".join(name for name in _taken(program) if backward and name in forward),
                "deterministic": "yes",
                "batch_invariant": " ".join(name for name in program.written if name not in summed),
                "names": ", ".join(f"`{_elsewhere(op, place)}`" for place in op.names),
            }
        )
    return fill(
        "OP-MATRIX.md.j2",
        banner=banner("OP-MATRIX.md.j2"),
        op_count=len(spec.ops),
        kernel_count=len(kernels(spec)),
        rows=rows,
    )
