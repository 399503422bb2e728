"""Prediction files: read in every format alike, told apart by model and seed, refused where they do not fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from evaluation.predictions import Answers, join_predictions, read_predictions
from evaluation.rows import reference_of
from ground.errors import InputError, UsageError
from tests.training.sft.cases import medhal_rows, medval_rows


def write(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
def test_every_format_reads_alike(tmp_path: Path, suffix: str) -> None:
    table = pl.DataFrame(
        {"id": ["a", "b", "c"], "label": [True, False, None], "explanation": [None, "x", None], "seed": [1, 1, 1]}
    )
    file = tmp_path / f"mine.{suffix}"
    getattr(table, f"write_{suffix.replace('jsonl', 'ndjson')}")(file)
    found = read_predictions(file, "medhal")
    assert found["code"].to_list() == [0, 1, None]
    assert found["outcome"].null_count() == 3
    assert found["model"].to_list() == ["mine"] * 3 and found["seed"].to_list() == [1] * 3
    assert found["explanation"].to_list() == [None, "x", None]


@pytest.mark.parametrize("labels", [[1, 4, None], [1.0, 4.0, None], ["1", "4", ""], ["1.0", "4.0", None]])
def test_risk_levels_are_read_from_numbers_and_words(tmp_path: Path, labels: list[Any]) -> None:
    file = tmp_path / "p.parquet"
    pl.DataFrame({"id": ["a", "b", "c"], "label": labels}).write_parquet(file)
    assert read_predictions(file, "medval")["code"].to_list() == [0, 3, None]


@pytest.mark.parametrize(
    ("kind", "rows", "message"),
    [
        ("medhal", [{"id": "a", "label": "YES"}], "outside the classes"),
        ("medhal", [{"id": "a", "label": 1}], "outside the classes"),
        ("medval", [{"id": "a", "label": 5}], "outside the classes"),
        ("medval", [{"id": "a", "label": 2.5}], "outside the classes"),
        ("medval", [{"id": "a", "label": True}], "outside the classes"),
        ("medval", [{"id": "a", "label": [1]}], "outside the classes"),
        ("medhal", [{"id": "a"}], "no column label"),
    ],
)
def test_labels_outside_the_classes_are_refused(tmp_path: Path, kind: Any, rows: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_predictions(write(tmp_path / "p.jsonl", rows), kind)


def test_other_files_are_refused_with_their_place(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text("x")
    (tmp_path / "p.parquet").write_text("x")
    (tmp_path / "p.jsonl").write_text('{"id": "a", "label": true}\n[1]\n')
    for name, message in (
        ("p.txt", "a kind that is not read"),
        ("p.parquet", "cannot be read"),
        ("q.csv", "is not there"),
    ):
        with pytest.raises((InputError, UsageError), match=message):
            read_predictions(tmp_path / name, "medhal")
    with pytest.raises(InputError, match="cannot be read") as caught:
        read_predictions(tmp_path / "p.jsonl", "medhal")
    assert caught.value.line == 2


def table_of(ids: list[str], codes: list[int | None], model: str = "m", seed: int | None = None) -> pl.DataFrame:
    return pl.DataFrame(
        {"id": ids, "code": codes, "model": model, "seed": seed},
        schema_overrides={"code": pl.Int64, "seed": pl.Int64},
    )


def joined(reference: Any, table: pl.DataFrame, missing: Any = "refuse") -> list[Answers]:
    return join_predictions(reference.frame, table, reference.kind, missing=missing)


def test_seeds_of_one_file_are_runs_of_their_own_in_the_order_of_the_rows() -> None:
    reference = reference_of(medval_rows(4, split="test"), "medval")
    ids = reference.frame["id"].to_list()
    both = pl.concat([table_of(ids[::-1], [3, 2, 1, 0], seed=1), table_of(ids, [0, 0, None, 0], seed=2)])
    first, second = joined(reference, both)
    assert first.codes.tolist() == [0, 1, 2, 3] and first.seed == 1
    assert second.codes.tolist() == [0, 0, 4, 0] and second.seed == 2
    assert second.outcomes == {"no_label": 1, "parsed": 3}


def test_rows_without_a_prediction_are_refused_or_counted_as_wrong() -> None:
    reference = reference_of(medhal_rows(4, split="test"), "medhal")
    some = table_of(reference.frame["id"].to_list()[:3], [0, 1, 0])
    with pytest.raises(InputError, match="predictions of m are missing") as caught:
        joined(reference, some)
    assert caught.value.found == "1 of 4 rows have none"
    (run,) = joined(reference, some, "wrong")
    assert run.codes.tolist() == [0, 1, 0, 2] and run.outcomes == {"missing": 1, "parsed": 3}
    assert run.there.tolist() == [True, True, True, False]


def test_predictions_of_other_rows_and_two_for_one_row_are_refused() -> None:
    reference = reference_of(medhal_rows(2, split="test"), "medhal")
    ids = reference.frame["id"].to_list()
    with pytest.raises(InputError, match="rows that are not evaluated"):
        joined(reference, table_of(["elsewhere"], [0]), "wrong")
    with pytest.raises(InputError, match="predicted more than once by one model and seed"):
        joined(reference, table_of([ids[0], ids[0]], [0, 1]), "wrong")


def test_patients_stand_together_and_rows_without_one_stand_with_their_partner() -> None:
    rows = medhal_rows(6, split="test")
    for row in rows[:4]:
        row["subject_id"] = 7
    reference = reference_of(rows, "medhal")
    clusters = reference.frame["cluster"].to_list()
    assert len(set(clusters[:4])) == 1 and len(set(clusters)) == 2 and clusters[4] == clusters[5]
    assert reference.clusters_are == "patients and pairs"


def test_lengths_are_cut_into_quarters_and_no_context_is_a_part_of_its_own() -> None:
    rows = medhal_rows(10, split="test")
    for number, row in enumerate(rows):
        row["context"] = None if number < 2 else "word " * number
    index, names = reference_of(rows, "medhal").cuts()["length"]
    assert names == ["no context", "2 to 3 words", "4 to 5 words", "6 to 7 words", "8 to 9 words"]
    assert np.bincount(index).tolist() == [2, 2, 2, 2, 2]
