"""The one family of errors: each says what was wrong, what was found, what was expected, where, and what to do."""

from __future__ import annotations

import unicodedata
from typing import ClassVar

__all__ = [
    "InputError",
    "OntogroundError",
    "RefusedError",
    "TrainingError",
    "UsageError",
    "WorkerError",
    "escaped",
]


def escaped(text: str) -> str:
    """Return a text that is safe to print on a terminal: control characters that a file may hold are escaped."""
    return "".join(sign.encode("unicode_escape").decode() if _commands(sign) else sign for sign in text)


def _commands(sign: str) -> bool:
    """Tell whether a character is invisible and controls the terminal or the direction of text."""
    return sign != "\n" and unicodedata.category(sign) in {"Cc", "Cf", "Cs", "Zl", "Zp"}


class OntogroundError(Exception):
    """Base of every error that ontoground raises on purpose.

    Messages never carry note text or a patient's identifier: only places (file, line, column
    name) and public vocabulary (a CUI, a file's name, a column's name).
    """

    exit_code: ClassVar[int] = 3

    def __init__(
        self,
        what: str,
        *,
        found: str | None = None,
        expected: str | None = None,
        file: object = None,
        line: int | None = None,
        do: str | None = None,
    ) -> None:
        self.what = escaped(what)
        super().__init__(self.what)
        self.found = None if found is None else escaped(found)
        self.expected = None if expected is None else escaped(expected)
        self.file = None if file is None else escaped(str(file))
        self.line = line
        self.do = None if do is None else escaped(do)

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.file and self.line is not None else self.file
        parts = [self.what]
        parts += [f"  {name}: {value}" for name, value in self._details(where) if value]
        return "\n".join(parts)

    def _details(self, where: str | None) -> list[tuple[str, str | None]]:
        return [("where", where), ("found", self.found), ("expected", self.expected), ("do", self.do)]

    def as_dict(self) -> dict[str, str | int | None]:
        """Return the error for ``--json`` output."""
        return {
            "error": type(self).__name__,
            "what": self.what,
            "found": self.found,
            "expected": self.expected,
            "file": self.file,
            "line": self.line,
            "do": self.do,
        }


class UsageError(OntogroundError):
    """The command or the settings are wrong."""

    exit_code = 2


class InputError(OntogroundError):
    """Input is malformed or missing."""

    exit_code = 3


class RefusedError(OntogroundError):
    """The privacy gate refused."""

    exit_code = 4


class TrainingError(OntogroundError):
    """Training cannot go on: the loss is not a number, it diverges, or memory is short."""

    exit_code = 3


class WorkerError(OntogroundError):
    """A worker process ended before its work was done, or the machines it runs on cannot be used."""

    exit_code = 3
