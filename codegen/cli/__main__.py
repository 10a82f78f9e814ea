"""`python -m baracuda.codegen.cli` is `baracuda-gen`."""

from baracuda.codegen.cli import main

main(prog_name="baracuda-gen")
