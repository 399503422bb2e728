"""Predictions files: read in every format alike, compared with their split, refused where they do not fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ontoground.errors import InputError
from tests.training.sft.cases import medhal_dataset, medhal_rows, medval_dataset, medval_rows
from training.sft.evaluate import evaluate_predictions, read_predictions


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
def test_a_file_of_any_format_gives_the_same_report(tmp_path: Path, suffix: str) -> None:
    rows = medhal_rows(6, split="test")
    data = medhal_dataset(tmp_path / "d", rows)
    table = pl.DataFrame(
        {
            "id": [row["id"] for row in rows],
            "label": [None, *(row["label"] for row in rows[1:])],
            "explanation": [row["explanation"] for row in rows],
        }
    )
    file = tmp_path / f"p.{suffix}"
    getattr(table, f"write_{suffix.replace('jsonl', 'ndjson')}")(file)
    report = evaluate_predictions("medhal", file, data)
    assert report["outcomes"] == {"no_label": 1, "parsed": 5}
    assert report["overall"]["factual_recall"]["value"] == pytest.approx(2 / 3)
    assert report["overall"]["factual_precision"]["value"] == 1.0
    assert report["explanation"]["rouge1"] == 1.0


def test_risk_levels_are_compared_with_their_split(tmp_path: Path) -> None:
    rows = medval_rows(4, split="test")
    data = medval_dataset(tmp_path / "d", rows)
    file = tmp_path / "p.jsonl"
    file.write_text("".join(json.dumps({"id": row["id"], "label": row["risk_level"]}) + "\n" for row in rows))
    report = evaluate_predictions("medval", file, data)
    assert report["macro_f1_over_tasks"] == 1.0
    assert report["overall"]["kappa_linear"]["value"] == 1.0


@pytest.mark.parametrize(
    ("kind", "rows", "message"),
    [
        ("medhal", [{"id": "a", "label": "YES"}], "outside the classes"),
        ("medval", [{"id": "a", "label": 5}], "outside the classes"),
        ("medval", [{"id": "a", "label": True}], "outside the classes"),
        ("medhal", [{"id": "a"}], "a column is missing"),
    ],
)
def test_labels_outside_the_classes_are_refused(tmp_path: Path, kind: Any, rows: Any, message: str) -> None:
    file = tmp_path / "p.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(InputError, match=message):
        read_predictions(file, kind)


def test_other_files_and_empty_splits_are_refused(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text("x")
    with pytest.raises(InputError, match="no predictions file"):
        read_predictions(tmp_path / "p.txt", "medhal")
    (tmp_path / "p.parquet").write_text("x")
    with pytest.raises(InputError, match="cannot be read"):
        read_predictions(tmp_path / "p.parquet", "medhal")
    data = medhal_dataset(tmp_path / "d", medhal_rows(2))
    with pytest.raises(InputError, match="the test split is empty"):
        evaluate_predictions("medhal", tmp_path / "p.parquet", data)
