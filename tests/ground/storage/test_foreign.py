"""Other people's tables: read by their suffix, and refused in words that quote nothing of them."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest

from ground.errors import InputError, UsageError
from ground.storage.foreign import Check, read_foreign, refuse_rows


def test_csv_is_read_as_text_also_where_it_is_gzipped(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"id,level\n007,1\n")
    (tmp_path / "b[1].csv.gz").write_bytes(gzip.compress(b"id,level\n007,1\n"))
    plain, packed = (read_foreign(tmp_path / name, "a table", ("id",)) for name in ("a.csv", "b[1].csv.gz"))
    assert plain.rows() == packed.rows() == [("007", "1")]


def test_what_cannot_be_read_is_named_and_not_quoted(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": 1}\nMr. Smith\n')
    with pytest.raises(InputError, match="a table cannot be read") as caught:
        read_foreign(tmp_path / "a.jsonl", "a table", ("id",))
    assert caught.value.line == 2 and "Smith" not in str(caught.value)
    (tmp_path / "a.csv").write_text('id,text\n1,"Mrs.\nSmith"\n2,Mr. Smith, who\n')
    with pytest.raises(InputError, match=r"a\.csv:4\n  found: 3 cells under 2 names") as caught:
        read_foreign(tmp_path / "a.csv", "a table", ("id",))
    assert "Smith" not in str(caught.value)
    with pytest.raises(InputError, match="a table is not there"):
        read_foreign(tmp_path / "b.jsonl", "a table", ("id",))
    with pytest.raises(UsageError, match="a format that cannot be read"):
        read_foreign(tmp_path / "a.xlsx", "a table", ("id",))


def test_names_of_columns_are_read_in_any_case_where_asked_and_a_missing_one_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b" ID ,Level\n007,1\n")
    assert read_foreign(tmp_path / "a.csv", "a table", ("id", "level"), any_case=True).columns == ["id", "level"]
    with pytest.raises(InputError, match="a column is missing in a table") as caught:
        read_foreign(tmp_path / "a.csv", "a table", ("id", "level"))
    assert caught.value.found == "no column id and no column level"


def test_a_bad_row_is_named_by_its_number() -> None:
    frame = pl.DataFrame({"id": ["a", "Mr. Smith", "Mr. Smith"]})
    refuse_rows(frame, "rows", Check(pl.col("id").is_null(), "no id", "an id"))
    with pytest.raises(InputError, match="twice") as caught:
        refuse_rows(frame, "rows", Check(pl.col("id").is_duplicated(), "an id stands twice", "each once"))
    assert caught.value.found == "2 of 3 rows, the first is row 2"
