"""Rows by split, by fact, and by folds that are tested in turn."""

from __future__ import annotations

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from evaluation.baselines import BASELINES, baseline_predictions
from evaluation.datasets import FOLDS, Split
from ground.errors import UsageError
from tests.evaluation.world import dataset

SPLITS: tuple[Split, ...] = ("train", "validation", "test")
DATA = dataset(12)


@pytest.mark.parametrize("fold", DATA.folds)
def test_a_tested_fold_shares_no_patient_with_what_it_is_trained_on(fold: int) -> None:
    parts = [DATA.split_rows(split, f"fold_{fold}") for split in SPLITS]
    assert_frame_equal(pl.concat(parts).sort("id"), DATA.rows)
    patients = [set(part["subject_id"]) for part in parts]
    assert sum(map(len, patients)) == DATA.rows["subject_id"].n_unique()
    assert set(parts[2]["fold"]) == {fold} and len(set(parts[1]["fold"])) == 1


def test_all_folds_test_every_row_once() -> None:
    tested = pl.concat([DATA.split_rows("test", f"fold_{fold}") for fold in DATA.folds])
    assert_frame_equal(tested.sort("id"), DATA.split_rows("test", FOLDS))


def test_baselines_of_all_folds_are_fitted_anew_for_each() -> None:
    found = baseline_predictions(DATA, "test", FOLDS)
    assert found.height == len(BASELINES) * DATA.rows.height
    own = baseline_predictions(DATA, "test", "fold_2")
    assert_frame_equal(found.join(own, on=["id", "model"], how="semi").sort("id", "model"), own.sort("id", "model"))


def test_a_fold_that_is_not_there_and_training_on_all_are_refused() -> None:
    with pytest.raises(UsageError, match="no such fold"):
        DATA.split_rows("test", "fold_9")
    with pytest.raises(UsageError, match="one split"):
        DATA.split_rows("train", FOLDS)
