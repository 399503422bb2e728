"""Tables of facts that ship with the packages are read with their columns checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from ground.errors import InputError
from ground.storage.tables import read_table


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a test writes its table."""
    return tmp_path / "table.tsv"


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ("# why\na\tb\n# more\n1\t2\n\n3\t\n", [("1", "2"), ("3", "")]),
        ("a\tb\n", []),
        ('a\tb\n"x\ty"\n', [('"x', 'y"')]),
        ("a\tb\nSjögren\t1\n", [("Sjögren", "1")]),
    ],
    ids=["comments", "a header alone", "quotes are characters", "UTF-8"],
)
def test_rows_are_read_and_comments_left_out(path: Path, content: str, rows: list[tuple[str, str]]) -> None:
    path.write_text(content, encoding="utf-8")
    assert [tuple(row.values()) for row in read_table(path, ("a", "b"))] == rows


@pytest.mark.parametrize("content", ["", "# only a comment\n", "b\ta\n", "a\n", "a\tb\tc\n"])
def test_other_columns_are_refused(path: Path, content: str) -> None:
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        read_table(path, ("a", "b"))
    assert caught.value.file == str(path)
    assert caught.value.expected == "a b"
    assert caught.value.found


@pytest.mark.parametrize("line", ["1", "1\t2\t3"])
def test_a_line_with_another_number_of_fields_is_named(path: Path, line: str) -> None:
    path.write_text(f"# comment\na\tb\n\n1\t2\n{line}\n")
    with pytest.raises(InputError) as caught:
        read_table(path, ("a", "b"))
    assert caught.value.line == 5
    assert caught.value.found == str(len(line.split("\t")))
    assert caught.value.expected == "2"
