"""Rows are drawn with their patients or partners, and cut into parts that hold them all."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from evaluation.numbers import counted_of, grouped, models_numbers
from evaluation.predictions import join_predictions
from evaluation.rows import Reference, quadrant_rows, reference_of
from ground.errors import InputError
from tests.evaluation.world import dataset
from tests.training.sft.cases import medhal_rows, medval_rows


def world(patients: int = 12, groups: int = 2, words: str | None = None) -> Reference:
    data = dataset(patients, groups)
    if words is not None:
        data = replace(data, contexts=data.contexts.with_columns(context=pl.lit(words)))
    return quadrant_rows(data, "test")


def test_each_way_of_slicing_parts_all_rows() -> None:
    reference = world(30, 3)
    cuts = reference.cuts()
    assert list(cuts) == ["predicate", "hops", "context length", "support level"]
    assert all(set(codes) == set(range(len(names))) for codes, names in cuts.values())
    assert cuts["hops"][1] == ["1", "2", "3 or more"]
    assert cuts["predicate"][1] == ["treats", "causes"]
    assert cuts["context length"][1][0] == "9 to 27 words"
    runs = join_predictions(reference.frame, reference.frame.select("id", label="quadrant", model=pl.lit("m")))
    counted = counted_of(reference, runs)
    (model,) = models_numbers(reference, grouped(runs, counted), counted)
    parts = model["slices"]
    support, lengths = ([part for part in parts if part["by"] == by] for by in ("support level", "context length"))
    assert [part["rows"] for part in support] == [30, 30, 60]
    assert [part["small"] for part in support] == [True, True, False]
    assert [part["patients"] for part in lengths] == [4, 3, 3]


@pytest.mark.parametrize(("words", "name"), [("  three\n short-words here ", "3 words"), (" ", "no context")])
def test_contexts_of_one_length_are_one_slice(words: str, name: str) -> None:
    codes, names = world(words=words).cuts()["context length"]
    assert names == [name] and not codes.any()


def test_a_slice_holds_the_metrics_of_its_own_rows() -> None:
    reference = world(30, 3)
    rows = reference.frame
    called = pl.when(pl.col("predicate") == "causes").then(pl.lit("Q1")).otherwise(pl.col("quadrant"))
    runs = join_predictions(rows, rows.select("id", called.alias("label"), model=pl.lit("m")))
    counted = counted_of(reference, runs)
    (model,) = models_numbers(reference, grouped(runs, counted), counted)
    parts = {part["value"]: part["metrics"] for part in model["slices"]}
    assert parts["treats"]["accuracy"]["value"] == 1.0
    assert parts["causes"]["accuracy"]["value"] == 0.25
    assert (parts["causes"]["hsr"]["value"], parts["causes"]["tir"]["value"]) == (1.0, 1.0)
    assert parts["stated"]["hsr"]["value"] is None
    assert parts["silent"]["hsr"]["value"] == pytest.approx(1 / 3, abs=1e-6)


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


@pytest.mark.parametrize("level", [None, 7])
def test_rows_without_a_label_of_the_classes_are_refused(level: int | None) -> None:
    rows: list[Any] = medval_rows(2, split="test")
    rows[1]["risk_level"] = level
    with pytest.raises(InputError, match=r"label of the classes|outside the classes") as caught:
        reference_of(rows, "medval")
    assert caught.value.found is not None and caught.value.found.startswith("1 of 2")
