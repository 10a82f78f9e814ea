"""The Jinja environment: templates are shapes with holes, and a missing hole is an error."""

from __future__ import annotations

import functools
from typing import Any

import jinja2

from baracuda.codegen.spec.families import TEMPLATES


@functools.cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,  # what is rendered is C++, Python and Markdown
    )


def fill(template: str, **holes: Any) -> str:
    """The text of a template."""
    return _environment().get_template(template).render(**holes)


def banner(template: str) -> str:
    """Where a generated file comes from; nothing volatile, so that a file changes only with its op."""
    return f"Generated from ops.yaml by templates/{template}. Do not edit: run `baracuda-gen generate`."
