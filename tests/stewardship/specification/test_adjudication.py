"""Sections 6 and 7: agreement with physicians, final labels, the whole test set."""

from __future__ import annotations

import math

import pytest

from ground.contracts.labels import parse_label
from ground.settings import StewardSettings
from stewardship.adjudication.agreement import (
    Estimate,
    bootstrap_mean,
    review,
    smape,
    smape_bound,
    smape_terms,
    value_type,
    whole_test,
    wilson,
)
from stewardship.adjudication.finalise import finalise
from tests.stewardship.specification.words import labels


@pytest.mark.parametrize(
    ("physician", "original", "recomputed", "expected"),
    [
        ("N/A", "5", "5.5", "na"),
        ("N/A", "N/A", "N/A", "na"),
        ("0", "0", "0", "ordinal"),
        ("20", "20", "20", "ordinal"),
        ("20", "20.0000000001", "20", "continuous"),  # whole to 1e-9, but above 20
        ("20", "19.9999999999", "20", "ordinal"),
        ("3", "3.0000000005", "3", "ordinal"),
        ("3", "3.000000002", "3", "continuous"),
        ("-20", "-20", "-20", "ordinal"),
        ("-20", "-21", "-20", "continuous"),
        ("21", "3", "3", "continuous"),
        ("3", "3", "21", "continuous"),
        ("3", "3.5", "3", "continuous"),
        ("5", "N/A", "7", "ordinal"),
        ("5", "N/A", "N/A", "ordinal"),
        ("5", "N/A", "7.5", "continuous"),
        ("5.5", "N/A", "N/A", "continuous"),
        ("11", "10", "22", "continuous"),  # uid 341
    ],
)
def test_the_type_of_a_row_comes_from_all_three_labels(
    physician: str, original: str, recomputed: str, expected: str
) -> None:
    result = value_type(parse_label(physician, physician=True), labels(original, recomputed))
    assert result is not None
    assert result.value == expected


@pytest.mark.parametrize(
    ("physician", "original", "recomputed", "agree"),
    [
        # ordinal: one point
        ("0", "1", "-1", (True, True)),
        ("0", "2", "1", (False, True)),
        ("3", "2", "5", (True, False)),
        ("20", "19", "18", (True, False)),
        ("3", "N/A", "4", (False, True)),
        # continuous: 5% of the physician's value, the limit itself included
        ("100", "105", "95", (True, True)),
        ("100", "105.01", "94.99", (False, False)),
        ("2.2", "2.31", "2.09", (True, True)),  # 0.11 of 2.2, though binary fractions make it a little more
        ("-100", "-105", "100", (True, False)),
        ("15.5", "16", "15", (True, True)),
        ("20", "21", "19", (True, True)),  # 21 makes the row continuous, and 1 of 20 is 5%
        ("20", "19", "22", (True, False)),
        ("20", "18.9", "21.1", (False, False)),
        ("131", "137.84", "N/A", (False, False)),  # uid 367: 5.22% of 131, though 4.96% of 137.84
        ("137.84", "131", "137.84", (True, True)),
        ("11", "10", "22", (False, False)),  # uid 341: continuous because of the 22
        # zero: 0.05 itself
        ("0", "1", "0.05", (False, True)),  # 0.05 makes the row continuous
        ("0", "-0.05", "0.0501", (True, False)),
        ("0", "0.0", "25", (True, False)),
        # no answer
        ("N/A", "unknown", "3", (True, False)),
        ("Multiple", "8", "N/A", (False, True)),
        # dates (assumed)
        ("03/21/2006", "2006-03-21", "03/22/2006", (True, False)),
        ("03/21/2006", "5", "N/A", (False, False)),
    ],
)
def test_agreement_with_a_physician(physician: str, original: str, recomputed: str, agree: tuple[bool, bool]) -> None:
    rows = review(
        {"1": parse_label(physician, physician=True)},
        {"original": {"1": parse_label(original)}, "recomputed": {"1": parse_label(recomputed)}},
    )
    assert (rows[0].agree["original"], rows[0].agree["recomputed"]) == agree


def test_rows_without_a_physicians_label_are_not_reviewed() -> None:
    answers = {"1": "", "2": "Multiple", "3": "02/30/2006", "4": "7"}
    rows = review({uid: parse_label(text, physician=True) for uid, text in answers.items()}, {"original": {}})
    assert [row.uid for row in rows] == ["2", "4"]


@pytest.mark.parametrize(
    ("physician", "prediction", "expected"),
    [
        (0, 0, 0),
        (0, 5, 200),
        (5, 0, 200),
        (5, -5, 200),
        (-100, -95, 200 * 5 / 195),
        (100, 95, 200 * 5 / 195),
        (10, 30, 100),
        (-0.0, 0.0, 0),
    ],
)
def test_smape_of_a_row(physician: float, prediction: float, expected: float) -> None:
    assert smape_terms([physician], [prediction]).tolist() == pytest.approx([expected])


def test_smape_leaves_out_rows_where_either_abstains() -> None:
    rows = review(
        {str(at): parse_label(text, physician=True) for at, text in enumerate(["10", "N/A", "0", "5", "Multiple"])},
        {"original": dict(zip("01234", labels("30", "7", "0", "N/A", "N/A"), strict=True))},
    )
    result = smape(rows, "original", StewardSettings(resamples=100))
    assert result.value == pytest.approx(50)  # of 100 and 0
    assert result.n == 2


def test_the_bootstrap_of_equal_values_is_that_value() -> None:
    assert bootstrap_mean([7.5] * 34) == Estimate(7.5, 7.5, 7.5, 34)
    assert bootstrap_mean([7.5]) == Estimate(7.5, 7.5, 7.5, 1)
    assert bootstrap_mean([]) == Estimate(None, None, None, 0)


def test_the_bootstrap_resamples_as_many_rows_as_there_are() -> None:
    # means of 100 draws from 0..99 have the standard error sqrt((100**2 - 1) / 12 / 100)
    reach = 1.959964 * math.sqrt((100**2 - 1) / 1200)
    result = bootstrap_mean(range(100))
    assert result.value == 49.5
    assert (result.low, result.high) == pytest.approx((49.5 - reach, 49.5 + reach), abs=0.4)
    # two values give the means 0, 100 and 200 with 1/4, 1/2 and 1/4: the outer ones hold more than 2.5% each
    assert bootstrap_mean([0, 200]) == Estimate(100, 0, 200, 2)


def test_the_ends_of_the_bootstrap_are_interpolated_linearly() -> None:
    # of two resampled means a <= b, the percentiles 2.5 and 97.5 are a + 0.025 (b - a) and a + 0.975 (b - a)
    results = [bootstrap_mean([0, 1], str(at), StewardSettings(resamples=2)) for at in range(20)]
    ends = [(item.low, item.high) for item in results if item.low is not None and item.high is not None]
    assert {round((high - low) / 0.95, 9) for low, high in ends} == {0, 0.5, 1}
    assert {round(low + high, 9) % 0.5 for low, high in ends} == {0}


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        (0, 10, 0, 0.277533),  # z² / (n + z²) with z² = 3.841459
        (10, 10, 0.722467, 1),
        (0, 1, 0, 0.793451),
        (1, 1, 0.206549, 1),
        (5, 10, 0.236593, 0.763407),
        (37, 50, 0.604468, 0.841285),
        (10, 50, 0.112438, 0.330371),
    ],
)
def test_wilson(successes: int, n: int, low: float, high: float) -> None:
    result = wilson(successes, n)
    assert (result.value, result.n) == (successes / n, n)
    assert (result.low, result.high) == pytest.approx((low, high), abs=1e-6)


def test_a_share_of_no_rows_is_no_number() -> None:
    assert wilson(0, 0) == Estimate(None, None, None, 0)


@pytest.mark.parametrize(
    ("recomputed", "physician", "by_physician", "by_released"),
    [
        ("25.24", None, "25.24", "25.24"),
        ("25.24", "", "25.24", "25.24"),  # an empty cell is no review
        ("N/A", None, "N/A", "N/A"),
        ("130.56", "131", "131", "130.56"),  # uid 367: within 5%
        ("131", "137.84", "137.84", "131"),
        ("137.84", "131", "131", "131"),  # 5.22% of the physician's value
        ("19", "20", "20", "19"),  # 5% itself
        ("1", "0", "0", "0"),  # uid 56: agrees by the point, and yet the physician's holds
        ("0.05", "0", "0", "0.05"),
        ("22", "11", "11", "11"),
        ("5", "N/A", "N/A", "N/A"),
        ("5", "Multiple", "N/A", "N/A"),
        ("N/A", "17", "17", "17"),  # uid 145
        ("N/A", "N/A", "N/A", "N/A"),
        (None, "17", "17", "17"),  # deferred, and yet reviewed
        (None, "", None, None),
        ("25.24", "4, 4", "25.24", "25.24"),  # what cannot be read is no review
        ("4,4", None, None, None),
        ("4,4", "17", "17", "17"),
    ],
)
def test_both_policies_of_final_labels(
    recomputed: str | None, physician: str | None, by_physician: str | None, by_released: str | None
) -> None:
    new = {} if recomputed is None else {"1": parse_label(recomputed)}
    answer = {} if physician is None else {"1": parse_label(physician, physician=True)}
    for policy, expected in (("physician", by_physician), ("released", by_released)):
        result = finalise(new, answer, policy="physician" if policy == "physician" else "released")
        assert [final.label.text() for final in result.values()] == ([] if expected is None else [expected])
        assert all((new if final.source == "recomputed" else answer)["1"] == final.label for final in result.values())


def test_the_bound_of_unflagged_rows() -> None:
    assert smape_bound() == pytest.approx(5.128205, abs=1e-6)
    assert smape_bound(0) == 0
    assert smape_bound(1) == smape_bound(1.7) == pytest.approx(200)


@pytest.mark.parametrize(
    ("printed", "weight", "unflagged", "expected"),
    [
        ((72.7, 47.9, 99.1), 286 / 1047, 0.0, (19.859, 13.084, 27.070)),
        ((20.1, 8.0, 35.9), 286 / 1047, 200 * 0.05 / 1.95, (9.218, 5.913, 13.534)),
        ((20.1, 8.0, 35.9), 0, 5.0, (5, 5, 5)),  # nothing flagged
        ((20.1, 8.0, 35.9), 1, 5.0, (20.1, 8.0, 35.9)),  # all flagged
    ],
)
def test_the_same_line_holds_for_the_value_and_both_ends(
    printed: tuple[float, float, float], weight: float, unflagged: float, expected: tuple[float, float, float]
) -> None:
    result = whole_test(Estimate(*printed, 34), weight, unflagged)
    assert (result.value, result.low, result.high) == pytest.approx(expected, abs=5e-4)
