"""The draw of text rows for readers: strata, stability, and what the sheet holds."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.review_sample import REPOSITORY
from benchmarks.review_texts import SHEETS, draw_texts, write_texts
from ground.contracts.rows_text import MEDHAL_SCHEMA, MEDVAL_SCHEMA
from ground.errors import InputError, RefusedError
from tests.training.sft.cases import medhal_rows, medval_rows


def dataset(folder: Path, rows: list[Any], schema: pa.Schema) -> Path:
    (folder / "data").mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), folder / "data" / "train-00000-of-00001.parquet")
    return folder


@pytest.fixture
def medhal(tmp_path: Path) -> Path:
    return dataset(tmp_path / "medhal", medhal_rows(40), MEDHAL_SCHEMA)


def test_each_source_and_label_gives_as_many_and_a_larger_draw_holds_the_smaller(medhal: Path) -> None:
    small, large = (draw_texts(medhal, "medhal", 3, n) for n in (2, 5))
    assert [row["label"] for row in small] == [False, False, True, True]
    assert {row["id"] for row in small} < {row["id"] for row in large}
    assert {row["id"] for row in small} != {row["id"] for row in draw_texts(medhal, "medhal", 4, 2)}


def test_the_sheet_names_the_file_of_each_context(medhal: Path, tmp_path: Path) -> None:
    counts = write_texts(medhal, "medhal", tmp_path / "sheet", 3, 2)
    assert counts == {"made False": 2, "made True": 2}
    with (tmp_path / "sheet" / "review.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert tuple(lines[0]) == SHEETS["medhal"]
    drawn = draw_texts(medhal, "medhal", 3, 2)
    texts = [(tmp_path / "sheet" / line["context"]).read_text(encoding="utf-8") for line in lines]
    assert texts == [row["context"] for row in drawn]
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "sheet").iterdir()} == {0o600}


def test_errors_of_outputs_stand_in_the_sheet_in_words(tmp_path: Path) -> None:
    rows = medval_rows(8)
    folder = dataset(tmp_path / "medval", rows, MEDVAL_SCHEMA)
    write_texts(folder, "medval", tmp_path / "sheet", 3, 8)
    with (tmp_path / "sheet" / "review.csv").open(encoding="utf-8", newline="") as file:
        lines = {line["id"]: line for line in csv.DictReader(file)}
    for row in rows:
        errors = lines[row["id"]]["errors"]
        assert errors == ("; ".join(f"{e['category']}: {e['text']}" for e in row["errors"]) or "None")


def test_the_repository_and_empty_folders_are_refused(medhal: Path, tmp_path: Path) -> None:
    with pytest.raises(RefusedError):
        write_texts(medhal, "medhal", REPOSITORY / "docs" / "sheet", 3, 2)
    with pytest.raises(InputError, match="no dataset"):
        draw_texts(tmp_path, "medhal", 3, 2)
