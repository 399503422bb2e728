"""Rows of MedHal and MedVAL: a statement against its context and its pair, an output against what it was made from."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

from ground.contracts.rows_text import MEDHAL_SCHEMA, MEDVAL_SCHEMA
from tests.ontoground.pages.conftest import Reader


def medhal(label: bool, statement: str) -> dict[str, Any]:
    return {
        "id": f"row-{label}",
        "pair_id": "pair",
        "context": "The patient takes <i>lisinopril</i>.",
        "statement": statement,
        "label": label,
        "explanation": "the record says so",
        "inner_id": "1",
        "source": "own_facts",
        "task": "information_extraction",
        "synthetic": False,
        "wording": "smooth",
        "licence": "credentialed",
        "subject_id": None,
        "in_length_filtered": True,
        "in_balanced": True,
        "split": "test",
    }


def medval(variant: str, output: str, level: int) -> dict[str, Any]:
    return {
        "id": f"row-{variant}",
        "triple_id": "triple",
        "task": "report2impression",
        "variant": variant,
        "instruction": "",
        "input": "No pneumothorax.",
        "output": output,
        "reasoning": None,
        "errors": [],
        "risk_level": level,
        "delta": None,
        "consistency": None,
        "engine": "rules",
        "inner_id": "1",
        "source": "own",
        "licence": "credentialed",
        "subject_id": None,
        "split": "train",
    }


ROWS = {
    "medhal": (MEDHAL_SCHEMA, [medhal(True, "Takes lisinopril."), medhal(False, "Takes <b>warfarin</b>.")]),
    "medval": (MEDVAL_SCHEMA, [medval("clean", "No pneumothorax.", 1), medval("perturbed", "Large pneumothorax.", 4)]),
}


@pytest.fixture
def pages(reader: Reader, empty_workspace: Path) -> TestClient:
    for name, (schema, rows) in ROWS.items():
        folder = empty_workspace / "datasets" / name / "data"
        folder.mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(rows, schema), folder / "test-00000-of-00001.parquet")
    return reader(empty_workspace)


def test_a_pair_stands_side_by_side(pages: TestClient) -> None:
    listed = pages.get("/statements", params={"dataset": "medhal", "label": "false"}).text
    assert "1 row" in listed and "&lt;b&gt;warfarin" in listed and "<b>warfarin" not in listed
    (path,) = re.findall(r'href="(/statement/medhal/[\w-]+)"', listed)
    row = pages.get(path).text
    assert "not factual" in row and "Takes lisinopril." in row and "&lt;i&gt;lisinopril" in row
    assert "the record says so" in row


def test_what_a_perturbed_output_changed_is_marked(pages: TestClient) -> None:
    listed = pages.get("/statements", params={"dataset": "medval", "variant": "perturbed"}).text
    (path,) = re.findall(r'href="(/statement/medval/[\w-]+)"', listed)
    row = pages.get(path).text
    assert "<del>No</del><ins>Large</ins> pneumothorax." in row and "risk level 4" in html.unescape(row)
    (other,) = re.findall(r'href="(/statement/medval/[\w-]+)"', row)
    assert "<ins>" not in pages.get(other).text


def test_words_are_looked_for(pages: TestClient) -> None:
    assert "1 row" in pages.get("/statements", params={"dataset": "medval", "words": "LARGE"}).text
    assert "0 rows" in pages.get("/statements", params={"dataset": "medval", "words": "' or 1=1 --"}).text
