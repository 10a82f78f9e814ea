"""What a benchmark leaves behind: the machine's facts, rows as JSON after every case, and a table."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["Report", "facts", "markdown"]


def facts(torch: Any, device: str) -> dict[str, str]:
    """What the figures hold for: card, driver, versions, date."""
    import baracuda

    found = {
        "date": time.strftime("%Y-%m-%d"),
        "device": "host executor",
        "baracuda": baracuda.__version__,
        "python": platform.python_version(),
        "torch": str(torch.__version__),
    }
    if device == "cuda":
        import cupy

        found["device"] = torch.cuda.get_device_name()
        found["cupy"] = cupy.__version__
        found["driver supports CUDA"] = _version(cupy.cuda.runtime.driverGetVersion())
        found["NVRTC"] = ".".join(str(part) for part in cupy.cuda.nvrtc.getVersion())
    return found


def _version(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"


class Report:
    """Rows of one benchmark; the file is complete after every row, so a run that is cut off leaves its part.

    Attributes:
        about: facts that the figures hold for; they stand above the tables.
        rows: a dictionary a case.
        more: further figures, for the JSON file alone.
    """

    def __init__(self, name: str, out: Path | None, about: Mapping[str, Any]) -> None:
        self.name = name
        self.about = dict(about)
        self.rows: list[dict[str, Any]] = []
        self.more: dict[str, Any] = {}
        self._out = out
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)

    def add(self, row: dict[str, Any]) -> dict[str, Any]:
        """Keep a row, which may still be filled: call `save` then."""
        self.rows.append(row)
        self.save()
        return row

    def save(self) -> None:
        """Write NAME.json."""
        if self._out is not None:
            text = json.dumps({"about": self.about, "rows": self.rows, **self.more}, indent=1)
            (self._out / f"{self.name}.json").write_text(text + "\n", encoding="utf-8")

    def finish(self, tables: Sequence[str]) -> None:
        """Print the tables, and write them to NAME.md with the facts above them."""
        head = "; ".join(f"{key}: {value}" for key, value in self.about.items())
        text = "\n\n".join([f"# {self.name}", head, *tables]) + "\n"
        print(text, flush=True)
        if self._out is not None:
            (self._out / f"{self.name}.md").write_text(text, encoding="utf-8")
        self.save()


def markdown(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table, aligned to be read as text too: the first column to the left, the others right."""
    cells = [[str(cell) for cell in row] for row in [head, *rows]]
    widths = [max(len(row[place]) for row in cells) for place in range(len(head))]

    def line(row: Sequence[str]) -> str:
        padded = [
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        return f"| {' | '.join(padded)} |"

    rule = ["-" * width if place == 0 else "-" * (width - 1) + ":" for place, width in enumerate(widths)]
    return "\n".join([line(cells[0]), line(rule), *(line(row) for row in cells[1:])])
