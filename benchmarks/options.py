"""The options that the benchmarks share, and what follows from them."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path
from typing import Any

from comparison import Bench
from report import Report, facts
from timing import timer_for

__all__ = ["bench", "parser", "torch_and_report", "words"]

REPEATS, QUICK_REPEATS = 30, 10


def parser(description: str | None) -> argparse.ArgumentParser:
    """A parser with the options that every benchmark has."""
    made = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--out", type=Path, metavar="DIR", help="folder for NAME.json and NAME.md")
    made.add_argument(
        "--device",
        choices=("cuda", "host"),
        default="cuda",
        help="host: tiny sizes on the host executor, which only shows that the benchmark works",
    )
    made.add_argument("--quick", action="store_true", help=f"{QUICK_REPEATS} samples instead of {REPEATS}")
    made.add_argument("--dtypes", type=words, metavar="NAME,...", help="element kinds, such as bf16,f32")
    made.add_argument("--kinds", type=words, metavar="NAME,...", help="kinds of ops, such as sum,max")
    made.add_argument("--no-compile", action="store_true", help="without torch.compile")
    made.add_argument(
        "--budget", type=float, default=3600.0, metavar="SECONDS", help="begin no further case after so long"
    )
    return made


def words(text: str) -> tuple[str, ...]:
    """`a,b` as ("a", "b")."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def bench(name: str, options: argparse.Namespace) -> tuple[Any, Bench]:
    """PyTorch and a bench, as the options ask."""
    torch, report = torch_and_report(name, options.out, options.device)
    # Their compiled backward could else run but once on what its forward kept.
    config: Any = importlib.import_module("torch._functorch.config")
    config.donated_buffer = False
    torch.backends.cuda.matmul.allow_tf32 = False
    timer = timer_for(torch, options.device)
    repeats = QUICK_REPEATS if options.quick else REPEATS
    return torch, Bench(torch, timer, options.device, report, repeats, options.budget)


def torch_and_report(name: str, out: Path | None, device: str) -> tuple[Any, Report]:
    """PyTorch and an empty report with the facts of the machine."""
    torch: Any = importlib.import_module("torch")
    return torch, Report(name, out, facts(torch, device))
