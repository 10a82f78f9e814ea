"""`baracuda-gen cache`."""

from __future__ import annotations

import click

from baracuda.codegen.cli.common import Failure, table

EPILOG = """\b
Examples:
  baracuda-gen cache info
  BARACUDA_CACHE_DIR=/tmp/kernels baracuda-gen cache clear
"""


@click.group(epilog=EPILOG)
def cache() -> None:
    """Look at the compiled kernels that are kept between runs, or remove them.

    They lie in the user's cache folder, or in the one that BARACUDA_CACHE_DIR names.
    """


@cache.command(epilog="Example: baracuda-gen cache info")
def info() -> None:
    """Print the folder, the number of entries, their size and the bound."""
    from baracuda.compile.cache import disk_cache

    kept = disk_cache()
    rows = [("folder", kept.folder or "none: neither HOME nor XDG_CACHE_HOME is an absolute path")]
    for name, found in (("kernels", kept.info()), ("host libraries", kept.host_info())):
        rows.append((name, f"{found.entries}, {mebibytes(found.nbytes)}"))
    rows.append(("bound of each", mebibytes(kept.limit)))
    made = ", ".join(f"{arch} ({compiler})" for compiler, arch in kept.made())
    rows.append(("compiled for", made or "nothing yet"))
    click.echo(table(("cache", ""), rows))


@cache.command(epilog="Example: baracuda-gen cache clear")
def clear() -> None:
    """Remove every entry; processes that run on are not disturbed."""
    from baracuda.compile.cache import disk_cache

    kept = disk_cache()
    removed = kept.clear()
    left = kept.info().entries + kept.host_info().entries
    click.echo(f"removed {removed} entries from {kept.folder}")
    if left:
        raise Failure(f"{left} entries in {kept.folder} could not be removed")


def mebibytes(size: int) -> str:
    """Return a size in bytes as text."""
    return f"{size / 2**20:.1f} MiB"
