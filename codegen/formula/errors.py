"""The one exception of the formula language."""

from __future__ import annotations


class FormulaError(ValueError):
    """A formula that cannot be used. `message` says why and what would be right; `column` counts from 1."""

    def __init__(self, message: str, column: int = 1) -> None:
        self.message = message
        self.column = column
        super().__init__(f"{message}, at column {column}")

    def __reduce__(self) -> tuple[type[FormulaError], tuple[str, int]]:
        return type(self), (self.message, self.column)
