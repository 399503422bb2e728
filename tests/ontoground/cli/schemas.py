"""Run a command line, and check what it prints with --json against the published schemas in docs/schemas."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from ontoground.cli.main import invoke

SCHEMAS = Path(__file__).resolve().parents[3] / "docs" / "schemas"

__all__ = ["SCHEMAS", "Answer", "answer_to", "checked"]


@dataclass(frozen=True)
class Answer:
    """How a command line ended and what it printed."""

    code: int
    out: str
    err: str

    def payload(self, schema: str) -> dict[str, Any]:
        """The JSON object of a verb that ended well, checked against its schema."""
        assert self.code == 0, self.err + self.out
        return checked(self.out, schema)


def answer_to(*arguments: str | Path) -> Answer:
    """Run a command line."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = invoke([*map(str, arguments)])
    return Answer(code, out.getvalue(), err.getvalue())


def checked(printed: str, schema: str) -> dict[str, Any]:
    """Return the one JSON object that was printed, after checking it against a schema."""
    value: dict[str, Any] = json.loads(printed)
    Draft202012Validator(json.loads((SCHEMAS / f"{schema}.json").read_text())).validate(value)
    return value
