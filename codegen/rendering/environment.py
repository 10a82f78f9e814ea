"""The Jinja environment: templates are shapes with holes, and a missing hole is an error."""

from __future__ import annotations

import functools
import traceback
from pathlib import Path
from typing import Any

import jinja2

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
        SpecError: the template is no Jinja, or asks for a hole that there is not.
    """
    try:
        return _environment(template.parent, TEMPLATES).get_template(template.name).render(**holes)
    except jinja2.TemplateError as error:
        problems = Problems(str(template))
        line = error.lineno if isinstance(error, jinja2.TemplateSyntaxError) else _line_in(template, error)
        problems.add((), str(error.message), "holes: " + ", ".join(sorted(holes)), line=line)
        raise SpecError(problems.sorted()) from error


def _line_in(template: Path, error: BaseException) -> int:
    """The line of a template that an error came from."""
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno or 1 for frame in reversed(frames) if frame.filename == str(template)), 1)


def banner(template: str) -> str:
    """Where a generated file comes from; nothing volatile, so that a file changes only with its op."""
    return f"Generated from ops.yaml by templates/{template}. Do not edit: run `baracuda-gen generate`."
