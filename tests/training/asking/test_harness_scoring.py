"""The rates that harnesses are given are those of our reports."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.classes import CLASSES, Kind
from evaluation.rates import detector_rates, metrics_of, validator_rates
from training.asking.harness_scoring import CLASSES as NAMES
from training.asking.harness_scoring import rates


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", ["quadrants", "medhal", "medval"])
def test_rates_of_the_same_answers_are_the_same(kind: Kind, seed: int) -> None:
    names = NAMES[kind]
    assert [name.removeprefix("level ") for name in CLASSES[kind].names] == list(names)
    drawn = np.random.default_rng(seed).integers(0, (len(names), len(names) + 1), (6 * seed, 2))
    pairs = [(names[label], (*names, None)[answer]) for label, answer in drawn.tolist()]
    table = np.zeros((len(names), len(names) + 1))
    np.add.at(table, tuple(drawn.T), 1)
    ours = {"quadrants": metrics_of, "medhal": detector_rates, "medval": validator_rates}[kind](table)
    for name, rate in rates(kind, pairs).items():
        own = ours["f1" if kind == "quadrants" and name == "macro_f1" else name]
        assert rate == pytest.approx(float(own), nan_ok=True), name
