"""The baselines that look for shortcuts: they see a perfect cue, and nothing where there is nothing."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from builders.medieval import baselines
from builders.medieval.baselines import TextFeatures, cross_validated_auc, cross_validated_point, split_auc

PATIENTS = 30
EACH = 4


@pytest.fixture
def patients() -> npt.NDArray[np.int64]:
    """Four rows of each of thirty patients."""
    return np.repeat(np.arange(PATIENTS, dtype=np.int64), EACH)


@pytest.fixture
def labels() -> npt.NDArray[np.bool_]:
    """Two of the four rows of every patient are positive."""
    return np.tile(np.array([True, False, True, False]), PATIENTS)


def test_a_perfect_cue_is_found(patients: npt.NDArray[np.int64], labels: npt.NDArray[np.bool_]) -> None:
    texts = ["supported statement" if label else "unsupported statement" for label in labels]
    auc = cross_validated_auc(TextFeatures(texts), labels, patients, "statement", "is_supported", 1)
    assert (auc.auc, auc.low, auc.high) == (1.0, 1.0, 1.0)
    assert auc.n == len(texts)
    assert cross_validated_point(texts, labels, patients, 1) == 1.0


def test_a_constant_tells_nothing(patients: npt.NDArray[np.int64], labels: npt.NDArray[np.bool_]) -> None:
    texts = ["the same words"] * len(labels)
    auc = cross_validated_auc(TextFeatures(texts), labels, patients, "statement", "is_supported", 1)
    assert (auc.auc, auc.low, auc.high) == (0.5, 0.5, 0.5)


def test_a_context_shared_by_as_many_rows_of_each_label_tells_nothing(
    patients: npt.NDArray[np.int64], labels: npt.NDArray[np.bool_]
) -> None:
    texts = [f"the note of patient number p{patient}" for patient in patients]
    assert cross_validated_auc(TextFeatures(texts), labels, patients, "context", "is_true", 1).auc == 0.5


def test_noise_is_near_chance_and_its_interval_holds_a_half(
    patients: npt.NDArray[np.int64], labels: npt.NDArray[np.bool_]
) -> None:
    words = np.random.default_rng(3).integers(0, 40, (len(labels), 5))
    texts = TextFeatures([" ".join(f"w{w}" for w in row) for row in words])
    auc = cross_validated_auc(texts, labels, patients, "statement", "is_supported", 1)
    assert abs(auc.auc - 0.5) < 0.12
    assert auc.low is not None and auc.high is not None
    assert auc.low < 0.5 < auc.high


def test_rows_of_one_patient_never_lie_on_both_sides_of_a_fold(
    patients: npt.NDArray[np.int64], labels: npt.NDArray[np.bool_], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is fitted and scored is watched on its way in; nothing is replaced."""
    seen: list[int] = []
    real = baselines.TextFeatures.scores

    def watched(texts, train, labels, test):  # type: ignore[no-untyped-def]
        assert not set(patients[train]) & set(patients[test])
        seen.extend(test)
        return real(texts, train, labels, test)

    monkeypatch.setattr(baselines.TextFeatures, "scores", watched)
    texts = [f"word{n % 7}" for n in range(len(labels))]
    cross_validated_point(texts, labels, patients, 1)
    assert sorted(seen) == sorted(list(range(len(labels))) * baselines.CUTS)


def test_a_cue_that_only_tells_the_patient_does_not_count(patients: npt.NDArray[np.int64]) -> None:
    """Labels that follow the patient can be learnt of seen patients only."""
    labels = (patients % 2).astype(np.bool_)
    texts = [f"p{patient}" for patient in patients]
    assert abs(cross_validated_point(texts, labels, patients, 1) - 0.5) < 0.15


def test_the_same_seed_gives_the_same_numbers(patients: npt.NDArray[np.int64], labels: npt.NDArray[np.bool_]) -> None:
    texts = [f"word{n % 5} word{n % 3}" for n in range(len(labels))]
    one, two = (
        cross_validated_auc(TextFeatures(texts), labels, patients, "statement", "is_supported", 9) for _ in range(2)
    )
    assert one == two
    assert one.as_dict()["auc"] == one.auc


def test_row_order_does_not_matter(patients: npt.NDArray[np.int64], labels: npt.NDArray[np.bool_]) -> None:
    texts = [f"word{n % 5} word{n % 3}" for n in range(len(labels))]
    order = np.random.default_rng(0).permutation(len(labels))
    moved = cross_validated_point([texts[n] for n in order], labels[order], patients[order], 9)
    assert moved == pytest.approx(cross_validated_point(texts, labels, patients, 9), abs=0.02)


def test_one_label_alone_cannot_be_told(patients: npt.NDArray[np.int64]) -> None:
    assert cross_validated_point(["a"] * len(patients), np.ones(len(patients), dtype=np.bool_), patients, 1) == 0.5


def test_a_split_needs_both_labels_on_both_sides(
    patients: npt.NDArray[np.int64], labels: npt.NDArray[np.bool_]
) -> None:
    texts = ["yes it is" if label else "no it is not" for label in labels]
    splits: list[str | None] = ["test" if patient >= 24 else "train" for patient in patients]
    found = split_auc(TextFeatures(texts), labels, patients, splits, "split", 1)
    assert found is not None
    assert (found.auc, found.n, found.how) == (1.0, 24, "split")
    assert split_auc(TextFeatures(texts), labels, patients, ["train"] * len(texts), "split", 1) is None
    assert split_auc(TextFeatures(texts), labels | (patients >= 24), patients, splits, "split", 1) is None


def test_rows_without_a_split_take_no_part(patients: npt.NDArray[np.int64], labels: npt.NDArray[np.bool_]) -> None:
    texts = ["yes it is" if label else "no it is not" for label in labels]
    splits: list[str | None] = [{0: "train", 1: "test", 2: None}[patient % 3] for patient in patients]
    found = split_auc(TextFeatures(texts), labels, patients, splits, "fact_split", 1)
    assert found is not None
    assert found.n == splits.count("test")


def test_a_few_patients_give_no_interval() -> None:
    labels = np.array([True, False] * 4)
    splits: list[str | None] = [*["train"] * 4, *["test"] * 4]
    auc = split_auc(TextFeatures(["yes", "no"] * 4), labels, np.array([1, 1, 1, 1, 2, 2, 2, 2]), splits, "split", 1)
    assert auc is not None
    assert (auc.auc, auc.low, auc.high) == (1.0, None, None)


def test_a_text_of_many_rows_weighs_as_often_as_it_stands_there(labels: npt.NDArray[np.bool_]) -> None:
    """Fitting each text and label once, with its weight, gives the model of all rows."""
    texts = [f"word{n % 7} word{n % 3}" for n in range(len(labels))]
    rows = np.arange(len(labels))
    one, other = (baselines.TextFeatures(texts, merged=merged).scores(rows, labels, rows) for merged in (True, False))
    np.testing.assert_allclose(one, other, atol=1e-3)
