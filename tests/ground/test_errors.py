"""One family of errors, each saying what, found, expected, where and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from ground import errors
from ground.errors import InputError, OntogroundError, RefusedError, UsageError
from ground.names import names_found


@pytest.mark.parametrize(("kind", "code"), [(UsageError, 2), (InputError, 3), (RefusedError, 4)])
def test_exit_codes_are_those_of_the_contract(kind: type[OntogroundError], code: int) -> None:
    assert kind.exit_code == code
    assert issubclass(kind, OntogroundError)


def test_every_error_of_the_module_is_of_the_family() -> None:
    found = [value for name, value in vars(errors).items() if name in errors.__all__ and name != "escaped"]
    assert len(found) == len(errors.__all__) - 1
    assert all(issubclass(value, OntogroundError) for value in found)


def test_a_message_names_place_found_expected_and_advice() -> None:
    error = InputError("a row is malformed", file=Path("a/MRREL.RRF"), line=7, found="3 columns", expected="16", do="x")
    assert str(error).splitlines() == [
        "a row is malformed",
        "  where: a/MRREL.RRF:7",
        "  found: 3 columns",
        "  expected: 16",
        "  do: x",
    ]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (UsageError("wrong"), "wrong"),
        (UsageError("wrong", file="a.toml"), "wrong\n  where: a.toml"),
        (InputError("wrong", file="a.tsv", line=0), "wrong\n  where: a.tsv:0"),
    ],
)
def test_what_is_not_known_is_not_said(error: OntogroundError, message: str) -> None:
    assert str(error) == message


def test_json_has_every_part() -> None:
    assert InputError("x", file="f", line=2, found="a", expected="b", do="c").as_dict() == {
        "error": "InputError",
        "what": "x",
        "found": "a",
        "expected": "b",
        "file": "f",
        "line": 2,
        "do": "c",
    }
    assert OntogroundError("x").as_dict()["file"] is None


def test_a_first_row_that_is_no_head_is_counted_and_names_are_cut_and_escaped() -> None:
    row = ["90000001", "95000001", "Presented with chest pain"]
    assert names_found(row) == "3 cells, not all of them names of columns"
    assert names_found(["uid", ""]) == names_found(["uid", "a\nb"]) == "2 cells, not all of them names of columns"
    assert names_found(["uid", "n" * 50]) == f"uid, {'n' * 40}..."
    error = InputError("wrong\x1b[2J", found="a\x1b]0;title\x07", file="b\r.csv", do="c\u202e")
    assert not {"\x1b", "\x07", "\r", "\u202e"} & set(str(error) + "".join(map(str, error.as_dict().values())))
