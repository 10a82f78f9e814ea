"""Showing how far long work is: a bar on a terminal, a line at intervals elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import click

from baracuda.codegen.cli.common import on_terminal

# Without a terminal a line at this interval shows that the work goes on.
INTERVAL_SECONDS = 10.0


class Bar(Protocol):
    """What shows how far the work is."""

    def update(self, count: int) -> None:
        """Note that `count` more pieces are done."""


class Lines:
    """Progress for logs: a line at intervals."""

    def __init__(self, total: int, what: str) -> None:
        """Start the clock."""
        self.total = total
        self.what = what
        self.done = 0
        self.next_line = time.monotonic() + INTERVAL_SECONDS

    def update(self, count: int) -> None:
        """Note that `count` more pieces are done, and say so if the last line is long ago."""
        self.done += count
        if time.monotonic() >= self.next_line:
            self.next_line = time.monotonic() + INTERVAL_SECONDS
            click.echo(f"{self.done} of {self.total} {self.what}")


@contextmanager
def progress(total: int, label: str, what: str) -> Iterator[Bar]:
    """Show how many of `total` pieces are done: `label` stands before the bar, `what` counts in the lines."""
    if not on_terminal():
        yield Lines(total, what)
        return
    with click.progressbar(length=total, label=label, show_pos=True) as bar:
        yield bar
