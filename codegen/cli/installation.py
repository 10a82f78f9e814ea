"""What this installation has: a cache folder, packs, and generated code that is current."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from baracuda.codegen.cli.common import checkout_root
from baracuda.codegen.cli.machine import Fact, pip_install
from baracuda.codegen.cli.system_errors import words


def facts() -> list[Fact]:
    """Look at every part of the installation; never raises for a part that is broken."""
    return [*jit_facts(), cache_fact(), *pack_facts(), generated_fact()]


def jit_facts() -> list[Fact]:
    """Say what is set about compiling on demand; nothing where nothing is."""
    from baracuda.compile.loader import JIT_VARIABLE, jit_allowed
    from baracuda.errors import InvalidProblem

    try:
        if jit_allowed():
            return []
    except InvalidProblem as error:
        return [Fact(JIT_VARIABLE, False, str(error), f"unset {JIT_VARIABLE}", "no use")]
    return [Fact(JIT_VARIABLE, True, "never: what neither a pack nor the cache has is an error at select")]


def cache_fact() -> Fact:
    """Say whether the cache folder can keep compiled kernels."""
    from baracuda.compile.cache import FOLDER_VARIABLE, LIMIT_VARIABLE, disk_cache

    name = "cache folder"
    kept = disk_cache()
    if kept.limit == 0:
        return Fact(name, True, f"nothing is kept on disk: {LIMIT_VARIABLE}=0")
    problem = kept.problem()
    if not problem:
        return Fact(name, True, str(kept.folder))
    remedy = f'export {FOLDER_VARIABLE}="/a/folder/of/your/own"'
    if kept.folder is not None and "other users" in problem:
        remedy = shlex.join(["chmod", "go-w", str(kept.folder / "kernels")])
    return Fact(name, False, f"{problem}; every process compiles anew", remedy, "no use")


def pack_facts() -> list[Fact]:
    """Say whether each pack that the environment names can be used; nothing where it names none."""
    from baracuda.compile.arch import host_target
    from baracuda.compile.pack import PACK_VARIABLE, Pack
    from baracuda.errors import CompileError

    paths = [path for path in os.environ.get(PACK_VARIABLE, "").split(os.pathsep) if path]
    good, bad = [], []
    serves: set[str] = set()
    for path in paths:
        try:
            pack = Pack(Path(path))
            pack.check_headers()
        except CompileError as error:
            bad.append(str(error).partition("; make it anew")[0])
        else:
            serves |= {"host" if arch == host_target() else "gpu" for arch in pack.archs}
            good.append(f"{pack.path}: {len(pack)} units for {', '.join(pack.archs)}")
    if bad:
        remedy = f"baracuda-gen compile --arch ARCH --pack FILE, or unset {PACK_VARIABLE}"
        return [Fact("packs", False, "; ".join(bad), remedy, "no use")]
    return [Fact("packs", True, "; ".join(good), serves=frozenset(serves))] if good else []


def generated_fact() -> Fact:
    """Say whether the generated code is what the spec gives."""
    from baracuda import generated
    from baracuda.codegen import SpecError, load_spec, render
    from baracuda.codegen.tree import check_tree

    name = "generated code"
    folder = Path(generated.__file__).parent
    in_checkout = checkout_root() is not None
    try:
        files = render(load_spec(None))
        differences = check_tree(files, folder)
    except SpecError as error:
        first, _, more = str(error).partition("\n")
        return Fact(
            name,
            False,
            f"the spec has mistakes: {first}{', ...' if more else ''}",
            "baracuda-gen lint",
            "no use",
        )
    except OSError as error:
        return Fact(name, False, f"cannot be read: {words(error)}", _repair(in_checkout))
    stale = [difference.path for difference in differences if difference.kind != "foreign"]
    if stale:
        listed = ", ".join(stale[:3]) + (", ..." if len(stale) > 3 else "")
        detail = f"{len(stale)} of {len(files)} files are not what the spec gives: {listed}"
        return Fact(name, False, detail, _repair(in_checkout), "stale")
    return Fact(name, True, f"{len(files)} files, current")


def _repair(in_checkout: bool) -> str:
    return (
        "baracuda-gen generate" if in_checkout else f"{pip_install('baracuda')} --force-reinstall --no-deps"
    )
