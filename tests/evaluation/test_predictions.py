"""Prediction files come back as they were written; each kind of damage has a message that says what to do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from evaluation.baselines import N
from evaluation.predictions import PREDICTION_SCHEMA, join_predictions, read_predictions, write_predictions
from ground.errors import InputError, UsageError
from tests.evaluation.world import dataset, predictions, written

GOOD = {"id": "1000-0-Q1", "label": "Q1", "scores": [0.7, 0.1, 0.1, 0.1], "model": "m", "seed": 1}


def jsonl(path: Path, *rows: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".jsonl"])
def test_every_kind_of_file_gives_back_what_was_written(tmp_path: Path, suffix: str) -> None:
    gold = dataset().split_rows("test")
    table = predictions(gold, "org/name + SFT", 42, 5).with_columns(explanation=pl.lit('says "no", twice\nor more'))
    table = table.with_columns(
        label=pl.when(pl.int_range(pl.len()) == 0).then(None).otherwise(pl.col("label")),
        scores=pl.when(pl.int_range(pl.len()) == 1).then(None).otherwise(pl.col("scores")),
    )
    written(tmp_path / f"p{suffix}", table)
    back = read_predictions(tmp_path / f"p{suffix}")
    assert back.schema == pl.Schema({**PREDICTION_SCHEMA, "code": pl.Int64()})
    assert back.select(table.columns).equals(table.select(table.columns))
    assert back["label"].null_count() == back["scores"].null_count() == 1


def test_a_file_without_model_and_seed_is_called_after_itself(tmp_path: Path) -> None:
    back = read_predictions(jsonl(tmp_path / "my-run.jsonl", {"id": "a", "label": "Q2"}))
    assert back.row(0, named=True) == dict.fromkeys(PREDICTION_SCHEMA) | {
        "id": "a",
        "label": "Q2",
        "model": "my-run",
        "code": 1,
    }


@pytest.mark.parametrize(
    ("row", "what", "found"),
    [
        ({"scores": [0.5, 0.5]}, "scores are no probabilities", "1 of 2 rows, the first is row 2"),
        ({"scores": [0.5, 0.5, 0.5, 0.5]}, "scores are no probabilities", "row 2"),
        ({"scores": [1.5, -0.5, 0.0, 0.0]}, "scores are no probabilities", "row 2"),
        ({"scores": [0.5, 0.5, 0.0, None]}, "scores are no probabilities", "row 2"),
        ({"score": 1.2}, "a score is no probability", "row 2"),
        ({"id": None}, "a prediction has no id", "row 2"),
        ({"id": "1000-0-Q1"}, "predicted more than once by one model and seed", "2 of 2 rows, the first is row 1"),
    ],
)
def test_a_bad_row_is_named_by_its_number_and_not_by_its_id(
    tmp_path: Path, row: dict[str, object], what: str, found: str
) -> None:
    path = jsonl(tmp_path / "p.jsonl", GOOD, GOOD | {"id": "1001-0-Q1"} | row)
    with pytest.raises(InputError) as caught:
        read_predictions(path)
    assert what in str(caught.value)
    assert found in str(caught.value)
    assert "1001-0" not in str(caught.value)
    assert "1000-0" not in str(caught.value)
    assert str(path) in str(caught.value)


def test_scores_that_are_not_finite_are_refused(tmp_path: Path) -> None:
    table = pl.DataFrame({"id": ["a"], "label": ["Q1"], "scores": [[float("nan"), 1.0, 0.0, 0.0]]})
    table.write_parquet(tmp_path / "p.parquet")
    with pytest.raises(InputError, match="4 finite probabilities, of Q1, Q2, Q3, Q4, that sum to 1"):
        read_predictions(tmp_path / "p.parquet")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("p.jsonl", b'{"id": "a", "label": "Q1"}\n{"id": "b", "lab', "p.jsonl:2"),
        ("p.jsonl", b"", "an empty file|no row"),
        ("p.csv", b"", "an empty file"),
        ("p.csv", b"id,label\n", "no row"),
        ("p.csv", b"id,answer\na,Q1\n", "no column label"),
        ("p.csv", b"row,answer\na,Q1\n", "no column id and no column label"),
        ("p.csv", b'id,label,scores\na,Q1,"high, low"\n', "a JSON list of numbers"),
        ("p.csv", b"id,label,seed\na,Q1,first\n", "the column seed holds values of another type"),
        ("p.parquet", b"PAR1 no more", "a prediction file cannot be read"),
    ],
)
def test_a_damaged_file_is_refused_with_its_own_message(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_predictions(tmp_path / name)


def test_a_file_of_another_kind_or_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a format that cannot be read"):
        read_predictions(tmp_path / "p.xlsx")
    with pytest.raises(InputError, match="is not there"):
        read_predictions(tmp_path / "p.csv")
    with pytest.raises(UsageError, match="context"):
        write_predictions(tmp_path / "p.parquet", pl.DataFrame({"id": ["a"], "context": ["text"]}))
    assert not list(tmp_path.iterdir())


def test_answers_come_in_the_order_of_the_gold_rows_and_seeds_apart() -> None:
    gold = dataset().split_rows("test")
    table = pl.concat(
        [predictions(gold, "m", seed, 4 + seed).sample(fraction=1, shuffle=True, seed=7) for seed in (2, 1)]
    )
    runs = join_predictions(gold, table, source="p")
    assert [(run.model, run.seed) for run in runs] == [("m", 1), ("m", 2)]
    expected = ["Q1" if at % 5 == 0 else label for at, label in enumerate(gold["quadrant"])]
    assert [f"Q{label + 1}" for label in runs[0].codes] == expected
    assert np.allclose(runs[0].confidence, 0.7)


def test_empty_labels_are_unparseable_and_have_no_confidence() -> None:
    gold = dataset().split_rows("test")
    table = predictions(gold, "m", None, 1000)
    answers = [None, " ", "", None, "", *table["label"].to_list()[5:]]
    (run,) = join_predictions(gold, table.with_columns(label=pl.Series(answers)), source="p")
    assert run.outcomes == {"no_label": 5, "parsed": 27}
    assert run.there.all()
    assert (run.codes[:5] == N).all()
    assert np.isnan(run.confidence[:5]).all()
    assert np.isfinite(run.confidence[5:]).all()


def test_a_label_against_its_own_scores_is_counted_and_keeps_its_own_probability() -> None:
    gold = dataset().split_rows("test").head(2)
    table = pl.DataFrame(
        {
            "id": gold["id"],
            "label": ["Q2", "Q1"],
            "scores": [[0.7, 0.1, 0.1, 0.1]] * 2,
            "score": [0.3, 0.3],
            "model": "m",
        }
    ).with_columns(seed=pl.lit(None, pl.Int64))
    (run,) = join_predictions(gold, table, source="p")
    assert run.not_the_best == 1
    assert run.confidence.tolist() == [0.1, 0.7]


def test_missing_rows_are_refused_or_wrong_or_left_out() -> None:
    gold = dataset().split_rows("test")
    table = predictions(gold, "m", 1, 1000).tail(-3)
    with pytest.raises(InputError, match=r"3 of 32 rows have none") as caught:
        join_predictions(gold, table, source="p.csv")
    assert "--missing wrong or --missing leave_out" in str(caught.value)
    (wrong,) = join_predictions(gold, table, source="p", missing="wrong")
    assert wrong.outcomes == {"missing": 3, "parsed": 29}
    assert (wrong.codes == N).sum() == 3
    (left_out,) = join_predictions(gold, table, source="p", missing="leave_out")
    assert left_out.there.sum() == gold.height - 3
    assert (left_out.keep(left_out.there).codes < N).all()
    texts = pl.DataFrame({"id": ["a", "b"]})
    (run,) = join_predictions(texts, pl.DataFrame({"id": ["b"], "code": [1], "model": "m"}), "medhal", missing="wrong")
    assert run.codes.tolist() == [2, 1]


def test_predictions_for_other_rows_are_refused() -> None:
    data = dataset()
    gold = data.split_rows("test")
    table = predictions(data.rows, "m", 1, 1000)
    with pytest.raises(InputError, match=r"64 of 96 ids are not among the 32 rows"):
        join_predictions(gold, table, source="p")
    with pytest.raises(InputError, match="predicted more than once by one model and seed"):
        join_predictions(gold, pl.concat([table.head(1)] * 2), source="p")


@pytest.mark.parametrize("written", ["q1", "1", "TRUE", "Answer: Q1"])
def test_a_label_that_is_written_otherwise_is_refused_and_not_scored(tmp_path: Path, written: str) -> None:
    rows = [{**GOOD, "id": f"1000-{number}-Q1", "label": "Q1", "scores": None} for number in range(4)]
    rows[2]["label"] = written
    with pytest.raises(InputError, match="a label outside the classes") as caught:
        read_predictions(jsonl(tmp_path / "p.jsonl", *rows))
    assert "1 of 4 labels, the first in row 3" in str(caught.value) and "Q1, Q2, Q3, Q4, or empty" in str(caught.value)


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
def test_a_file_of_texts_reads_alike_in_every_format(tmp_path: Path, suffix: str) -> None:
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
        read_predictions(jsonl(tmp_path / "p.jsonl", *rows), kind)


@pytest.mark.parametrize(
    ("kind", "label", "scores"), [("medhal", False, [0.2, 0.8]), ("medval", 2, [0.1, 0.8, 0.1, 0.0])]
)
def test_scores_are_a_probability_of_each_class(tmp_path: Path, kind: Any, label: Any, scores: list[float]) -> None:
    file = jsonl(tmp_path / "p.jsonl", {"id": "a", "label": label, "scores": scores})
    (run,) = join_predictions(pl.DataFrame({"id": ["a"]}), read_predictions(file, kind), kind)
    assert run.confidence.tolist() == [0.8] and run.not_the_best == 0
    other = jsonl(tmp_path / "q.jsonl", {"id": "a", "label": label, "scores": [0.5, 0.25, 0.25]})
    with pytest.raises(InputError, match=f"{len(scores)} finite probabilities"):
        read_predictions(other, kind)
