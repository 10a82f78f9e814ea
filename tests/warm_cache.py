"""Compiles the host kernels of the tests into the cache, several files at once, before tests wait for them.

python tests/warm_cache.py -n 2
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ProcessPoolExecutor

from devices import bundles, load_bundle

from baracuda.tensor import Device


def _compile(number: int) -> None:
    load_bundle(number, Device("host", 0))


def main() -> None:
    """Compile what the cache lacks."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-n", type=int, default=1, help="compilers at once")
    jobs = parser.parse_args().n
    begin = time.monotonic()
    # Those of one op first, the large ones among them: what ends last is short then.
    order = sorted(range(len(bundles())), key=lambda number: len(bundles()[number]))
    with ProcessPoolExecutor(jobs) as pool:
        list(pool.map(_compile, order))
    print(f"{len(bundles())} groups of kernels compiled or found in {time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    main()
