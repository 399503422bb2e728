"""A predictions file of one run, compared with its split in one call."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from ground.errors import InputError
from tests.training.sft.cases import medhal_dataset, medhal_rows, medval_dataset, medval_rows
from training.sft.evaluate import evaluate_predictions


def test_a_detectors_file_is_compared_with_its_split(tmp_path: Path) -> None:
    rows = medhal_rows(6, split="test")
    data = medhal_dataset(tmp_path / "d", rows)
    table = pl.DataFrame(
        {
            "id": [row["id"] for row in rows],
            "label": [None, *(row["label"] for row in rows[1:])],
            "explanation": [row["explanation"] for row in rows],
        }
    )
    table.write_parquet(tmp_path / "p.parquet")
    report = evaluate_predictions("medhal", tmp_path / "p.parquet", data)
    assert report["outcomes"] == {"no_label": 1, "parsed": 5}
    assert report["overall"]["factual_recall"]["value"] == pytest.approx(2 / 3, abs=1e-6)
    assert report["overall"]["factual_precision"]["value"] == 1.0
    assert report["explanation"]["rouge1"]["value"] == 1.0


def test_risk_levels_are_compared_with_their_split(tmp_path: Path) -> None:
    rows = medval_rows(4, split="test")
    data = medval_dataset(tmp_path / "d", rows)
    file = tmp_path / "p.jsonl"
    file.write_text("".join(json.dumps({"id": row["id"], "label": row["risk_level"]}) + "\n" for row in rows))
    report = evaluate_predictions("medval", file, data)
    assert report["over_tasks"]["all"]["value"] == 1.0
    assert report["overall"]["kappa_linear"]["value"] == 1.0


def test_an_empty_split_is_refused(tmp_path: Path) -> None:
    data = medhal_dataset(tmp_path / "d", medhal_rows(2))
    with pytest.raises(InputError, match="the test split is empty"):
        evaluate_predictions("medhal", tmp_path / "p.parquet", data)
