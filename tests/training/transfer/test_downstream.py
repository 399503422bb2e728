"""Other people's test sets: read as statements, with everything that is dropped counted, and judged by a detector."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from ground.errors import InputError
from tests.training.sft.cases import tiny_model
from training.runs.settings import GenerationSettings
from training.transfer.downstream import evaluate_downstream, read_nli, read_summaries


def write(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def pair(label: str) -> dict[str, Any]:
    return {"sentence1": "Creatinine 1.7.", "sentence2": "Creatinine is normal.", "gold_label": label, "pairID": "x"}


def test_nli_pairs_become_statements_and_neutral_ones_are_counted(tmp_path: Path) -> None:
    labels = ["entailment", "neutral", "contradiction", "neutral", "-"]
    rows, dropped = read_nli(write(tmp_path / "mli_test.jsonl", [pair(label) for label in labels]))
    assert [(row["id"], row["label"]) for row in rows] == [("mli_test-1", True), ("mli_test-3", False)]
    assert dict(dropped) == {"neutral": 2, "no_gold_label": 1}
    assert (rows[0]["context"], rows[0]["statement"]) == ("Creatinine 1.7.", "Creatinine is normal.")


def test_summaries_are_labelled_by_a_label_or_by_marked_errors(tmp_path: Path) -> None:
    rows, dropped = read_summaries(
        write(
            tmp_path / "s.jsonl",
            [
                {"document": "d", "summary": "s", "label": True},
                {"text": "d", "summary": "s", "labels": [{"start": 0, "end": 1, "label": "unsupported_medication"}]},
                {"text": "d", "summary": "s", "labels": []},
                {"document": "d", "summary": "s", "label": None},
                {"document": "d", "summary": "s"},
            ],
        )
    )
    assert [row["label"] for row in rows] == [True, False, True, None, None]
    assert not dropped


@pytest.mark.parametrize(
    ("reader", "line", "message"),
    [
        (read_nli, pair("maybe"), "unknown label"),
        (read_nli, {**pair("entailment"), "sentence2": " "}, "missing or empty"),
        (read_nli, [1], "no JSON object"),
        (read_summaries, {"document": "d"}, "missing or empty"),
        (read_summaries, {"document": "d", "summary": "s", "label": "yes"}, "outside the classes"),
        (read_summaries, {"document": "d", "summary": "s", "labels": "none"}, "is not a list"),
    ],
)
def test_lines_that_do_not_fit_are_errors_with_their_place(
    tmp_path: Path, reader: Any, line: Any, message: str
) -> None:
    path = write(tmp_path / "f.jsonl", [pair("neutral") if reader is read_nli else {"text": "t", "summary": "s"}, line])
    with pytest.raises(InputError, match=message) as caught:
        reader(path)
    assert caught.value.line == 2 or "row 2" in str(caught.value.found) or message.endswith(("classes", "list"))


def test_a_file_that_is_no_json_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "f.jsonl").write_text("sentence1,sentence2\n", encoding="utf-8")
    with pytest.raises(InputError, match="JSON lines"):
        read_nli(tmp_path / "f.jsonl")
    with pytest.raises(InputError, match="JSON lines"):
        read_nli(tmp_path / "nothing.jsonl")


def test_a_detector_is_compared_where_there_are_labels_and_only_there(tmp_path: Path) -> None:
    model = tiny_model(tmp_path / "model")
    path = write(
        tmp_path / "s.jsonl",
        [
            {"text": "Takes insulin.", "summary": "No drugs.", "labels": [1]},
            {"text": "Takes insulin.", "summary": "Takes insulin."},
        ],
    )
    report = evaluate_downstream(path, "summary", str(model), tmp_path / "out", GenerationSettings(max_new_tokens=3))
    assert report["without_label"] == 1
    assert report["answers"] == {"rows": 2, "outcomes": {"no_label": 2}, "cut": 2}
    assert report["metrics"]["rows"] == 1
    assert report["metrics"]["overall"]["non_factual_recall"]["value"] == 0.0
    assert report["metrics"]["answered"]["accuracy"]["value"] is None
    assert pq.read_table(tmp_path / "out" / "predictions-s.parquet").num_rows == 2
