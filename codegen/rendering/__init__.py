"""From a spec to the files of `generated/`: kernels, plans, tables. Pure functions of the spec."""

from baracuda.codegen.rendering.tree import render, render_kernels

__all__ = ["render", "render_kernels"]
