"""The Jinja environment: templates are shapes with holes, and a missing hole is an error."""

from __future__ import annotations

import functools
import traceback
from pathlib import Path
from typing import Any

import jinja2
from jinja2 import meta

from baracuda.codegen.problems import Problems, SpecError
from baracuda.codegen.rendering.width import hang
from baracuda.codegen.spec.families import TEMPLATES


@functools.cache
def _environment(*folders: Path) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folders),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,  # what is rendered is C++, Python and Markdown
    )
    environment.filters["hang"] = hang
    return environment


def fill(template: str, **holes: Any) -> str:
    """The text of a shipped template."""
    return _environment(TEMPLATES).get_template(template).render(**holes)


def fill_own(template: Path, **holes: Any) -> str:
    """The text of a template that stands beside a spec; it may include shipped ones.

    Raises:
        SpecError: the template is no Jinja or no UTF-8, asks for a hole that there is not, or what it
            computes fails.
    """
    try:
        return _environment(template.parent, TEMPLATES).get_template(template.name).render(**holes)
    except Exception as error:
        problems = Problems(str(template))
        line = error.lineno if isinstance(error, jinja2.TemplateSyntaxError) else _line_in(template, error)
        if isinstance(error, jinja2.TemplateError):
            what = str(error.message)
        else:
            what = f"{type(error).__name__}: {error}"
        problems.add((), what, "holes: " + ", ".join(sorted(holes)), line=line)
        raise SpecError(problems.sorted()) from error


def own_templates(template: Path) -> dict[str, str]:
    """A template that stands beside a spec and those beside it that it includes: name to text.

    Where the name of an include is computed, every template there is.
    """
    environment = _environment(template.parent, TEMPLATES)
    found: dict[str, str] = {}
    wanted: list[str | None] = [template.name]
    while wanted:
        name = wanted.pop()
        if name is None:
            wanted += [path.name for path in sorted(template.parent.glob("*.j2"))]
        elif name not in found and (template.parent / name).is_file():
            found[name] = (template.parent / name).read_text(encoding="utf-8")
            wanted += meta.find_referenced_templates(environment.parse(found[name]))
    return found


def _line_in(template: Path, error: BaseException) -> int:
    """The line of a template that an error came from."""
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno or 1 for frame in reversed(frames) if frame.filename == str(template)), 1)


def banner(template: str) -> str:
    """Where a generated file comes from; nothing volatile, so that a file changes only with its op."""
    return f"Generated from ops.yaml by templates/{template}. Do not edit: run `baracuda-gen generate`."
