"""One way for tests to run verbs of ``ontoground steward``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ontoground.cli.main import invoke
from tests.ontoground.cli.schemas import checked


class Steward:
    """Runs verbs of steward, and returns what they print."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *words: str | Path, code: int = 0) -> str:
        """Run a verb that ends with ``code``."""
        self.capsys.readouterr()
        result = invoke(["steward", *map(str, words)])
        printed = self.capsys.readouterr()
        assert result == code, printed.err or printed.out
        return printed.out or printed.err

    def json(self, verb: str, *words: str | Path, code: int = 0) -> dict[str, Any]:
        """Return a verb's payload, which its schema allows."""
        return checked(self(verb, *words, "--json", code=code), f"steward-{verb}")

    def error(self, *words: str | Path, code: int = 2) -> dict[str, Any]:
        """Return the error of a verb that fails."""
        return dict(checked(self(*words, "--json", code=code), "error")["error"])


@pytest.fixture
def steward(capsys: pytest.CaptureFixture[str]) -> Steward:
    """Run verbs of steward."""
    return Steward(capsys)
