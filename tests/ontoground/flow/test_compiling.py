"""The list of compiled functions says what the flow calls, and with what."""

from __future__ import annotations

import json

from ontoground.flow.compiling import KERNELS, listed, notation, of_notation
from tests.ontoground.conftest import Demo


def test_what_is_listed_is_read_as_it_was_written() -> None:
    for _, _, *types in map(json.loads, KERNELS.read_text(encoding="utf-8").splitlines()):
        assert list(map(notation, of_notation(types))) == types


def test_the_flow_calls_what_is_listed(demo: Demo) -> None:
    assert [function.__name__ for function, types in listed() if types not in function.signatures] == []
