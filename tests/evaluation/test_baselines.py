"""Baselines see what they may see, and nothing of the rows that they are tested on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from evaluation.baselines import BASELINES, baseline_predictions, named_in_context
from evaluation.predictions import join_predictions
from ground.contracts.splits import FOLDS
from ground.errors import InputError
from tests.evaluation.world import dataset


def test_names_are_found_whole_and_whatever_their_case() -> None:
    contexts = pl.DataFrame(
        {"hadm_id": [1, 2], "context": ["Type 2\n DIABETES (mellitus), insulin-dependent.", "Überdosis"]}
    )
    cases = {
        "Diabetes mellitus": True,
        "type 2 diabetes": True,
        "insulin": True,
        "ype 2": False,
        "diabete": False,
        "mellitus diabetes": False,
        "---": False,
    }
    rows = pl.DataFrame({"hadm_id": [1] * len(cases), "head_name": list(cases), "tail_name": ["INSULIN"] * len(cases)})
    found = named_in_context(rows, contexts)
    assert found[:, 0].tolist() == list(cases.values())
    assert found[:, 1].all()
    other = pl.DataFrame({"hadm_id": [2], "head_name": ["überdosis"], "tail_name": ["insulin"]})
    assert named_in_context(other, contexts).tolist() == [[True, False]]


def test_baselines_answer_every_row_with_probabilities() -> None:
    data = dataset()
    table = baseline_predictions(data)
    rows = data.split_rows("test")
    assert table["model"].unique(maintain_order=True).to_list() == list(BASELINES)
    assert table.height == len(BASELINES) * rows.height
    assert np.allclose(np.array(table["scores"].to_list()).sum(axis=1), 1)
    assert len(join_predictions(rows, table, source="baselines")) == len(BASELINES)


def test_each_baseline_finds_its_own_shortcut_only() -> None:
    data = dataset(30, 3)
    rows = data.split_rows("test")
    table = baseline_predictions(data).join(rows.select("id", "quadrant"), on="id")
    share = dict(table.group_by("model").agg((pl.col("label") == pl.col("quadrant")).mean()).iter_rows())
    # Each drug has one quadrant in this world, and the context names the drugs of the supported ones.
    assert share["statement-only"] == share["overlap+statement"] == 1.0
    assert share["majority"] == share["context-only"] == 0.25
    assert share["entity overlap"] == 0.5
    overlap = table.filter(pl.col("model") == "entity overlap")
    assert set(overlap.filter(pl.col("quadrant").is_in(["Q1", "Q3"]))["label"]) == {"Q1"}


def test_baselines_do_not_see_the_labels_of_the_rows_that_they_predict() -> None:
    data = dataset()
    hidden = pl.col("split") == "test"
    blank = replace(
        data,
        rows=data.rows.with_columns(
            quadrant=pl.when(hidden).then(pl.lit("Q4")).otherwise("quadrant"),
            is_true=pl.when(hidden).then(False).otherwise("is_true"),
            is_supported=pl.when(hidden).then(False).otherwise("is_supported"),
            support_level=pl.when(hidden).then(pl.lit("silent")).otherwise("support_level"),
        ),
    )
    assert baseline_predictions(blank).equals(baseline_predictions(data))


def test_baselines_are_not_tested_on_the_rows_that_they_were_fitted_on() -> None:
    with pytest.raises(InputError, match="fitted on"):
        baseline_predictions(dataset(), "train")
    with pytest.raises(InputError, match="validation split is empty"):
        baseline_predictions(dataset(), "validation")


def test_a_training_split_with_one_quadrant_is_learned_too() -> None:
    data = dataset()
    rows = data.rows.filter((pl.col("split") == "test") | (pl.col("quadrant") == "Q3"))
    table = baseline_predictions(replace(data, rows=rows))
    for name in ("majority", "statement-only", "context-only"):
        assert set(table.filter(pl.col("model") == name)["label"]) == {"Q3"}


def test_baselines_of_all_folds_are_fitted_anew_for_each() -> None:
    data = dataset(12)
    found = baseline_predictions(data, "test", FOLDS)
    assert found.height == len(BASELINES) * data.rows.height
    own = baseline_predictions(data, "test", "fold_2")
    assert_frame_equal(found.join(own, on=["id", "model"], how="semi").sort("id", "model"), own.sort("id", "model"))
