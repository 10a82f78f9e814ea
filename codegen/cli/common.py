"""What the commands share: options, finding the checkout, and turning errors into messages and exit codes."""

from __future__ import annotations

import contextlib
import errno
import io
import math
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from baracuda.codegen.cli.system_errors import is_bad_input, words

if TYPE_CHECKING:
    from baracuda.codegen.tree import Difference

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Failure(click.ClickException):
    """Something is stale or failed: a message for the user, exit code 1, never a traceback."""

    exit_code = 1

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the message; where even that is impossible, the exit code speaks."""
        with contextlib.suppress(OSError):
            super().show(file)


class BadInput(Failure):
    """What the user gave is wrong: exit code 2."""

    exit_code = 2


# Shows the traceback of a bug in a command, as it makes the library's plans check themselves.
DEBUG_VARIABLE = "BARACUDA_DEBUG"


class Group(click.Group):
    """A group whose commands report in words what goes wrong, warnings and bugs included."""

    def main(self, *args: Any, **options: Any) -> Any:
        """Run the command line. Help, version and messages are printed outside of `invoke`."""
        for name in ("stdout", "stderr"):
            # Closed by the caller (`>&-`): nobody wants the text, and the exit code counts all the same.
            if getattr(sys, name) is None:
                setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
        for stream in (sys.stdout, sys.stderr):
            # A path or a doc may hold what the terminal's encoding lacks.
            if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
                stream.reconfigure(errors="backslashreplace")
        try:
            return super().main(*args, **options)
        except OSError as error:
            _end(error)
        except SystemExit as end:
            # What is still in a buffer may not reach its place either; one message is enough.
            lost = _flushed(sys.stdout)
            if lost is not None and not end.code:
                _end(lost)
            _flushed(sys.stderr)
            raise

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _show_warning
                return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except Exception as error:
            if _of_interrupt(error):
                raise click.Abort from error
            failure = explain(error)
            if failure is None:
                if os.environ.get(DEBUG_VARIABLE, "0") not in ("", "0"):
                    raise
                failure = _bug(error)
            raise failure from error


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    click.echo(f"warning: {message}", err=True)


def _of_interrupt(error: BaseException | None) -> bool:
    """Whether an error came of Ctrl-C, such as that of a lock which it kept from being taken."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def _bug(error: Exception) -> Failure:
    """Return the failure to show for an error that nobody foresaw: what and where, for a report."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(place.filename).name}:{place.lineno}"
    return Failure(
        f"this is a bug in baracuda-gen: {type(error).__name__}: {error} ({where}); "
        f"{DEBUG_VARIABLE}=1 shows the whole traceback"
    )


def explain(error: Exception) -> Failure | None:
    """Return the failure to show for an error that is the user's or the machine's, `None` for a bug."""
    from baracuda.codegen.problems import SpecError
    from baracuda.errors import BaracudaError, CompileError, DriverError

    if isinstance(error, CompileError | DriverError):
        return Failure(str(error))
    if isinstance(error, SpecError | BaracudaError):
        return BadInput(str(error))
    if isinstance(error, OSError):
        return BadInput(words(error)) if is_bad_input(error) else Failure(words(error))
    return None


def _end(error: OSError) -> NoReturn:
    """Exit with the words for an error of the output; a reader that has gone needs none."""
    failure = explain(error) or Failure(str(error))
    _flushed(sys.stdout)
    if error.errno != errno.EPIPE:
        failure.show()
    _flushed(sys.stderr)
    sys.exit(failure.exit_code)


def _flushed(stream: IO[Any]) -> OSError | None:
    """Flush a stream; one that fails leads nowhere from then on, or Python's own flush would end in 120."""
    try:
        stream.flush()
    except OSError as error:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
        return error
    return None


class Place(click.Path):
    """A path of the command line, handed over as a `Path`; an empty one (an unset variable) is refused."""

    def __init__(self, **options: Any) -> None:
        super().__init__(path_type=Path, **options)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path."""
        if not os.fspath(value):
            self.fail("the path is empty", param, ctx)
        return super().convert(value, param, ctx)


class Bound(click.FloatRange):
    """A bound of the command line: a number that something can be beyond, so no nan, inf or negative one."""

    def __init__(self) -> None:
        super().__init__(min=0)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} bounds nothing, want a number", param, ctx)
        return number


def share(context: click.Context, option: click.Parameter, value: str | None) -> tuple[int, int] | None:
    """Return the two numbers of a share such as 2/3: which one, counted from 1, and of how many."""
    del context
    if value is None:
        return None
    found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", value, re.ASCII)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise click.BadParameter(f"{value!r} is no share, want one such as 1/4, up to 4/4", param=option)
    return int(found[1]), int(found[2])


def spec_option(function: _Function) -> _Function:
    """Add `--spec`, handed over as `spec`: a path or `None`."""
    return click.option(
        "--spec",
        type=Place(),
        metavar="PATH",
        help="The spec; by default ops.yaml of this checkout, else the one that this package was made from.",
    )(function)


def out_option(function: _Function) -> _Function:
    """Add `--out`, handed over as `out`: a path or `None`."""
    return click.option(
        "--out",
        type=Place(),
        metavar="DIR",
        help="The generated folder; by default generated/ of this checkout.",
    )(function)


def output_folder(spec: Path | None, out: Path | None) -> Path:
    """Return the folder that `generate` writes and `check` compares.

    Only the checkout's own spec has a default, so another spec can never overwrite the checkout's kernels.
    """
    if out is not None:
        return out
    root = checkout_root()
    if root is None:
        raise click.UsageError("the package runs from no checkout, so name the folder: --out DIR")
    if spec is not None and spec.resolve() != (root / "ops.yaml").resolve():
        raise click.UsageError(f"{spec} is not this checkout's ops.yaml, so name its folder: --out DIR")
    return root / "generated"


def checkout_root() -> Path | None:
    """Return the folder that holds ops.yaml, where the package runs from a checkout."""
    root = Path(__file__).resolve().parents[2]
    return root if (root / "ops.yaml").is_file() and (root / "pyproject.toml").is_file() else None


def report_differences(differences: Sequence[Difference], out: Path, command: str) -> None:
    """Print the differences as one unified diff, say how to mend them, and exit 1, if there are any."""
    if not differences:
        return
    for difference in differences:
        click.echo(difference.diff, nl=False)
    for difference in differences:
        click.echo(f"{difference.kind}: {out / difference.path}", err=True)
    remedies = []
    if any(difference.kind != "foreign" for difference in differences):
        remedies.append(f"run `{command}`")
    if any(difference.kind == "foreign" for difference in differences):
        remedies.append("move the foreign files out of the folder")
    raise Failure(f"{out} is not what the spec gives: {' and '.join(remedies)}")


def table(head: Sequence[str], rows: Sequence[Sequence[object]], right: Sequence[str] = ()) -> str:
    """Return rows as aligned columns under `head`; the columns named in `right` are right-aligned."""
    cells = [list(head), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    lines = []
    for row in cells:
        padded = [
            cell.rjust(width) if name in right else cell.ljust(width)
            for name, cell, width in zip(head, row, widths, strict=True)
        ]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


def on_terminal() -> bool:
    """Whether standard output is a terminal, which may get colours and a moving progress bar."""
    return sys.stdout.isatty()
