"""Hard cases of the specification of stewardship, section by section, with results worked out by hand from its words.

The sections are those of the specification that docs/stewardship.md retells. Comments say where a result comes from
that is not plain; "assumed" is what that page lists as assumed.
"""

from __future__ import annotations

import math
from datetime import date
from pathlib import Path

import polars as pl
import pytest

from ontoground.grading import LimitsRule, OutputType, Reference, Verdict, grade_abstention, grade_v1
from ontoground.labels import LabelKind, LabelValue, parse_label
from ontoground.rewards import released_reward, reward
from stewardship.adjudication.agreement import Estimate, bootstrap_mean, review, smape, smape_terms, value_type, wilson
from stewardship.adjudication.estimates import smape_bound, whole_test
from stewardship.adjudication.finalise import finalise
from stewardship.adjudication.triage import triage
from stewardship.discrepancy import discrepancies, relative_error
from stewardship.runs.consensus import consensus
from stewardship.runs.consensus import summarise as summarise_consensus
from stewardship.runs.votes import audit, parse_verdict
from stewardship.runs.votes import summarise as summarise_audits
from stewardship.tables import read_label_table

NA, MISSING, UNPARSEABLE = LabelKind.ABSTENTION, LabelKind.MISSING, LabelKind.UNPARSEABLE
SPRING = date(2006, 3, 21)


def shown(value: LabelValue) -> float | date | str | LabelKind | None:
    """What a label is, short: its value, else its kind."""
    return value.kind if value.value is None else value.value


def labels(*texts: str | None) -> list[LabelValue]:
    """Read labels as a physician's cells are not read."""
    return [parse_label(text) for text in texts]


# --- Section 2: label values ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # numbers: the first signed decimal, whatever stands around it
        ("25.238", 25.238),
        ("  38\t", 38),
        ("-0.0943", -0.0943),
        ("0", 0),
        ("-0", 0),
        ("+25", 25),  # this and the next five are numbers: section 8 says that only the authors' code rejects them
        (".5", 0.5),
        ("-.5", -0.5),
        ("5.", 5),
        ("2.5e1", 25),
        ("1E-3", 0.001),
        ("78.1 ml/hr", 78.1),
        ("The answer is 25", 25),
        ("The answer is 25.", 25),
        ("25%", 25),
        ("25 %", 25),
        ("<= 7", 7),
        ("about -3.5 mEq/L", -3.5),
        ("pH: 7.35", 7.35),
        ("1,434", 1434),
        ("1,234,567.5", 1234567.5),
        ("-1,434.5 mL", -1434.5),
        ("\u22125", -5),  # a word processor's minus: 5 would be wrong without a word
        # other commas: neither 4, nor 44, nor 4.4 (assumed)
        ("4,4", UNPARSEABLE),
        ("1,43", UNPARSEABLE),
        ("12,3456", UNPARSEABLE),
        # words that libraries take for numbers or blanks
        *[
            (text, UNPARSEABLE)
            for text in ("nan", "NaN", "inf", "-inf", "None", "none", "null", "NULL", "-", "?", "#N/A")
        ],
        ("1e400", UNPARSEABLE),  # no finite number
        # missing is empty, and nothing else
        *[(text, MISSING) for text in (None, "", "   ", "\n", "\u00a0")],
        # abstentions, in any case and with blanks around, as the whole cell
        *[(text, NA) for text in ("N/A", "n/a", "NA", "na", "Na", "unknown", "Unknown", "UNKNOWN", "  N/A ")],
        *[(text, NA) for text in ("not available", "Not Available", "not applicable", "NOT APPLICABLE")],
        # outside a physician's cell text without a digit is no abstention
        *[(text, UNPARSEABLE) for text in ("Multiple", "see note", "Nafcillin", "n", "I do not know")],
        # weeks and days: 7 w + d
        ("('14 weeks', '1 days')", 99),
        ('("14 weeks", "1 days")', 99),
        ("(14 weeks, 1 day)", 99),
        (" ( 14 weeks , 1 day ) ", 99),
        ("(14, 1)", 99),
        ("(14,1)", 99),
        ("14 weeks, 1 day", 99),
        ("14, 1", 99),  # the same form without brackets, with the blank that sets it apart from 14,1
        ("14,1", UNPARSEABLE),
        ("'14 weeks', '1 days'", 99),
        ("(1 week, 5 days)", 12),
        ("('0 weeks', '6 days')", 6),
        ("(0 weeks, 0 days)", 0),
        ("(8 weeks, 0 days)", 56),
        ("(40 WEEKS, 3 Days)", 283),
        ("(13, 8)", 99),
        ("99 days", 99),
        # dates come before numbers: none of these is 3, 2 or 2006
        ("03/21/2006", SPRING),
        ("3/21/2006", SPRING),
        ("2006/03/21", SPRING),
        ("2006-03-21", SPRING),
        ("2006-03-21 00:00:00", SPRING),
        ("2006-03-21T00:00:00", SPRING),
        ("02/29/2024", date(2024, 2, 29)),
        ("12/31/1999", date(1999, 12, 31)),
        # no such day, never the day first, no guessed century
        *[(text, UNPARSEABLE) for text in ("02/29/2023", "02/30/2006", "13/01/2006", "21/03/2006", "00/10/2006")],
        *[(text, UNPARSEABLE) for text in ("2006/13/01", "2006-02-30", "2006-00-10", "03/21/06", "03/21/0000")],
    ],
)
def test_labels_are_read_as_section_2_says(text: str | None, expected: object) -> None:
    assert shown(parse_label(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *[(text, NA) for text in ("Multiple", "multiple", "Not applicable", "n/a", "cannot be computed", "see note")],
        *[(text, NA) for text in ("?", "-", "nan", "None")],  # not empty, and without any digit
        *[(text, MISSING) for text in (None, "", "  ")],
        ("17", 17),
        ("8 points", 8),
        ("Multiple: 8", 8),  # has a digit
        ("(4, 4)", 32),
        ("4, 4", UNPARSEABLE),  # two answers, or 4 weeks 4 days
        ("03/21/2006", SPRING),
        ("02/30/2006", UNPARSEABLE),  # has digits: a slip of the pen, no abstention
    ],
)
def test_a_physicians_words_without_a_digit_are_an_abstention(text: str | None, expected: object) -> None:
    assert shown(parse_label(text, physician=True)) == expected


@pytest.mark.parametrize("text", ["25.24", "-0.09", "0", "99", "03/21/2006", "N/A", "", "1434", "0.00001", "123456789"])
def test_a_label_that_is_written_is_read_back(text: str) -> None:
    value = parse_label(text)
    assert parse_label(value.text()) == value


# --- Section 3: phase 1 -----------------------------------------------------------------------------------------------

SUSPICIOUS = ("Suspicious", "suspicious", " Suspicious\n", "<answer>No</answer>", "<answer> no\n</answer>")
FINE = ("Pass", "pass", "<answer>Yes</answer>", "<answer>\n yes </answer>")
NO_VERDICT = (None, "", "  ", "<answer>No", "No</answer>", "perhaps", "<answer>maybe</answer>", "<answer></answer>")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *[(text, "suspicious") for text in SUSPICIOUS],
        *[(text, "pass") for text in FINE],
        *[(text, "none") for text in NO_VERDICT],
        ("<answer>Yes</answer> No: the dose is wrong. <answer>No</answer>", "suspicious"),  # the last closed tag
        ("<answer>No</answer> On a second look: <answer>Yes</answer>", "pass"),
        ("<answer>No</answer> On a second look: <answer>Yes", "suspicious"),
        ("No feature is missing, no step is wrong. <answer>Yes</answer>", "pass"),
        ("No step is wrong.", "none"),  # the "No" of a sentence is no verdict
        ("I answer in <answer> tags. <answer>No</answer>", "suspicious"),  # a tag that is only named opens nothing
    ],
)
def test_verdicts(text: str | None, expected: str) -> None:
    assert parse_verdict(text).value == expected


@pytest.mark.parametrize(
    ("votes", "status"),  # S suspicious, P pass, - no verdict
    [
        ("SSSSS", "likely_error"),
        ("SSSSP", "likely_error"),
        ("PSSSS", "likely_error"),
        ("SS-SS", "likely_error"),
        ("SSSPP", "passed"),
        ("SSSP-", "passed"),
        ("SSS--", "passed"),  # 3 of 3, but the quorum stays 4 (assumed)
        ("PPPPP", "passed"),
        ("-----", "passed"),
    ],
)
def test_four_of_five_suspicious_are_a_likely_error(votes: str, status: str) -> None:
    words = {"S": "<answer>No</answer>", "P": "Pass", "-": "<answer>maybe</answer>"}
    found = audit([parse_verdict(words[vote]) for vote in votes])
    assert found.status == status
    assert (found.suspicious, found.answered, found.runs) == (votes.count("S"), 5 - votes.count("-"), 5)


def test_the_rate_of_likely_errors_is_over_all_rows_and_counts_calculators_once() -> None:
    statuses = {str(uid): "likely_error" if uid < 3 else "passed" for uid in range(8)}
    found = summarise_audits(statuses, {uid: "GCS" if int(uid) < 4 else "BMI" for uid in statuses})
    assert (found.flagged, found.n, found.rate, found.strata_touched) == (3, 8, 0.375, 1)


# --- Section 4: phase 2 -----------------------------------------------------------------------------------------------

NEAR, DEFERRED = "near_consensus", None


@pytest.mark.parametrize(
    ("answers", "rule", "label", "votes"),
    [
        # 4 of 5, with empty votes and abstentions beside them
        ("3 3 3 3 3", "4of5", 3, 5),
        ("3 3 3 3 -", "4of5", 3, 4),
        ("3 3 3 3 N/A", "4of5", 3, 4),
        ("25.238 25.24 25.2401 25.2351 9", "4of5", 25.24, 4),
        ("1,434 1434 1434.00 1434 7", "4of5", 1434, 4),
        ("(14,1) 99 99.0 (13,8) 100", "4of5", 99, 4),  # weeks and days are a number of days
        ("03/21/2006 2006/03/21 2006-03-21 3/21/2006 7", "4of5", SPRING, 4),  # equal days in any spelling
        # 3 of 5 and one near: 5% of the larger value, the limit itself included
        ("100 100 100 104 180", NEAR, 100, 3),
        ("100 100 100 104 104", NEAR, 100, 3),
        ("104 100 - 100 100", NEAR, 100, 3),
        ("100 100 100 96 N/A", NEAR, 100, 3),
        ("100 100 100 95 7", NEAR, 100, 3),
        ("100 100 100 94.99 7", DEFERRED, None, 3),
        ("100 100 100 105.26 7", NEAR, 100, 3),  # 5.26 / 105.26 = 4.997%
        ("100 100 100 105.27 7", DEFERRED, None, 3),  # 5.27 / 105.27 = 5.006%
        ("1 1 1 0.95 7", NEAR, 1, 3),  # 5% exactly, though binary fractions make it a little more
        ("-100 -100 -100 -104 7", NEAR, -100, 3),
        ("-100 -100 -100 -95 -", NEAR, -100, 3),
        ("-100 -100 -100 100 104", DEFERRED, None, 3),
        ("100 100 101 101 101", NEAR, 101, 3),
        ("3 3 3 4 4", DEFERRED, None, 3),  # 25%
        ("20 20 20 19 21", NEAR, 20, 3),
        # nothing but zero is near zero, and what rounds to zero is zero
        ("0 0 0 0.01 7", DEFERRED, None, 3),
        ("0 0 0 -0.01 0.01", DEFERRED, None, 3),
        ("0 0 0 0.004 7", "4of5", 0, 4),
        ("-0.004 0 0.004 -0 7", "4of5", 0, 4),
        # too few
        ("3 3 3 - -", DEFERRED, None, 3),
        ("3 3 4 4 -", DEFERRED, None, 2),
        ("100 101 102 103 104", DEFERRED, None, 1),
        ("- - - - -", DEFERRED, None, 0),
        # an abstention is near nothing and needs 4
        ("N/A unknown NA n/a 7", "4of5", NA, 4),
        ("N/A N/A N/A 7 7", DEFERRED, None, 3),
        ("N/A N/A N/A - 7", DEFERRED, None, 3),
        ("N/A N/A N/A - -", DEFERRED, None, 3),
        ("- - - - N/A", DEFERRED, None, 1),  # empty is no abstention
        # dates: one day, over the ends of months, years and in leap years
        ("02/28/2023 02/28/2023 02/28/2023 03/01/2023 -", NEAR, date(2023, 2, 28), 3),
        ("02/28/2024 02/28/2024 02/28/2024 03/01/2024 -", DEFERRED, None, 3),  # the 29th lies between
        ("02/28/2024 02/28/2024 02/28/2024 02/29/2024 N/A", NEAR, date(2024, 2, 28), 3),
        ("01/01/2021 01/01/2021 01/01/2021 2020-12-31 5", NEAR, date(2021, 1, 1), 3),
        ("03/21/2006 03/21/2006 03/21/2006 03/23/2006 03/19/2006", DEFERRED, None, 3),
        # unlike kinds are never near
        ("20 20 20 2006-03-21 -", DEFERRED, None, 3),
        ("03/21/2006 03/21/2006 03/21/2006 2006 2006", DEFERRED, None, 3),
        # halves: 1.005 is a little less than it reads, as a binary number; 0.125 is exact and goes to the even side
        ("1.005 1 1 1 9", "4of5", 1, 4),
        ("0.125 0.12 0.12 0.12 9", "4of5", 0.12, 4),
        ("0.375 0.38 0.38 0.38 9", "4of5", 0.38, 4),
    ],
)
def test_consensus(answers: str, rule: str | None, label: object, votes: int) -> None:
    found = consensus(labels(*["" if answer == "-" else answer for answer in answers.split()]))
    assert (found.rule, found.votes) == (rule, votes)
    assert found.status == ("deferred" if rule is None else "high_confidence")
    assert (None if found.label is None else shown(found.label)) == label
    assert found.label is None or not found.label.text().startswith("-0")


def test_coverage_is_over_all_rows_and_abstention_over_high_confidence() -> None:
    rows = ["3 3 3 3 3", "N/A N/A N/A N/A 1", "100 100 100 99 1", "1 2 3 4 5", "N/A N/A N/A - -"]
    found = summarise_consensus(consensus(labels(*row.replace("-", "").split(" "))) for row in rows)
    assert (found.n, found.high, found.near, found.deferred, found.abstained) == (5, 3, 1, 2, 1)
    assert found.coverage == 0.6
    assert found.abstention_rate == pytest.approx(1 / 3)


# --- Section 5: discrepancy and triage --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (0, 0, 0),
        (-0.0, 0.0, 0),
        (0, 5, 1),
        (-1, 0, 1),
        (1e-300, 0, 1),
        (5, -5, 2),
        (-76, 1, 77 / 76),
        (100, 95, 0.05),
        (-100, -95, 0.05),
        (25.017, 19.79, 0.208937922),
        (1e200, -1e200, 2),
    ],
)
def test_relative_error_is_symmetric_and_of_the_larger_value(first: float, second: float, expected: float) -> None:
    assert float(relative_error(first, second)) == pytest.approx(expected, abs=1e-9)
    assert float(relative_error(second, first)) == float(relative_error(first, second))


@pytest.mark.parametrize(
    ("original", "recomputed", "distance", "flag"),
    [
        ("20", "19", 0.05, "unflagged"),  # more than 0.05, not from 0.05 on
        ("2", "1.9", 0.05, "unflagged"),  # the same, though binary fractions make it a little more
        ("1", "0.95", 0.05, "unflagged"),
        ("-2", "-1.9", 0.05, "unflagged"),
        ("100", "94.99", 0.0501, "differs"),
        ("18", "19", 1 / 19, "differs"),  # no point is forgiven here
        ("20", "21", 1 / 21, "unflagged"),
        ("0", "0.001", 1, "differs"),
        ("0", "0", 0, "unflagged"),
        ("1.5", "-1.5", 2, "differs"),
        ("03/21/2006", "2006/03/21", 0, "unflagged"),
        ("02/28/2023", "03/01/2023", 1, "differs"),  # days, and one is enough
        ("02/28/2024", "03/01/2024", 2, "differs"),
        ("01/01/2021", "12/31/2020", 1, "differs"),
        ("('14 weeks', '1 days')", "99", 0, "unflagged"),
        ("5", "N/A", None, "abstained"),
        ("unknown", "5", None, "abstained"),
        ("0", "N/A", None, "abstained"),
        ("03/21/2006", "N/A", None, "abstained"),
        ("N/A", "unknown", 0, "unflagged"),
        ("2006", "03/21/2006", None, "differs"),  # number against date (assumed)
    ],
)
def test_discrepancy_of_two_labels(original: str, recomputed: str, distance: float | None, flag: str) -> None:
    row = discrepancies(labels(original), labels(recomputed)).row(0, named=True)
    assert row["flag"] == flag
    assert row["distance"] == (None if distance is None else pytest.approx(distance, abs=1e-9))


def test_triage_has_abstentions_first_then_the_largest_errors_then_uids_and_dates_apart() -> None:
    rows = {
        "11": ("N/A", "N/A"),
        "7": ("5", "5"),
        "100": ("20", "19"),
        "30": ("10", "20"),
        "2": ("100", "50"),
        "4": ("1", "-1"),
        "8": ("2006", "03/21/2006"),
        "10": ("5", "N/A"),
        "9": ("N/A", "5"),
        "40": ("03/21/2006", "N/A"),
        "21": ("03/21/2006", "03/21/2006"),
        "3": ("03/21/2006", "03/22/2006"),
        "20": ("03/21/2006", "03/26/2006"),
    }
    original, recomputed = ({uid: parse_label(row[at]) for uid, row in rows.items()} for at in (0, 1))
    found = triage(original, recomputed)
    main, dates = (found.filter(pl.col("list") == name).sort("rank") for name in ("main", "dates"))
    # 9, 10, 40: one abstains; 8: two kinds; 4: 200%; 2 and 30: 50% each; 100: 5%; 7 and 11: equal
    assert main["uid"].to_list() == ["9", "10", "40", "8", "4", "2", "30", "100", "7", "11"]
    assert dates["uid"].to_list() == ["20", "3", "21"]
    assert main["rank"].to_list() == list(range(1, 11))


# --- Section 6: phase 3 -----------------------------------------------------------------------------------------------


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
    found = value_type(parse_label(physician, physician=True), labels(original, recomputed))
    assert found is not None
    assert found.value == expected


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
    said = {"1": "", "2": "Multiple", "3": "02/30/2006", "4": "7"}
    rows = review({uid: parse_label(text, physician=True) for uid, text in said.items()}, {"original": {}})
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
    found = smape(rows, "original", resamples=100)
    assert found.value == pytest.approx(50)  # of 100 and 0
    assert found.n == 2


def test_the_bootstrap_of_equal_values_is_that_value() -> None:
    assert bootstrap_mean([7.5] * 34) == Estimate(7.5, 7.5, 7.5, 34)
    assert bootstrap_mean([7.5]) == Estimate(7.5, 7.5, 7.5, 1)
    assert bootstrap_mean([]) == Estimate(None, None, None, 0)


def test_the_bootstrap_resamples_as_many_rows_as_there_are() -> None:
    # means of 100 draws from 0..99 have the standard error sqrt((100**2 - 1) / 12 / 100)
    reach = 1.959964 * math.sqrt((100**2 - 1) / 1200)
    found = bootstrap_mean(range(100))
    assert found.value == 49.5
    assert (found.low, found.high) == pytest.approx((49.5 - reach, 49.5 + reach), abs=0.4)
    # two values give the means 0, 100 and 200 with 1/4, 1/2 and 1/4: the outer ones hold more than 2.5% each
    assert bootstrap_mean([0, 200]) == Estimate(100, 0, 200, 2)


def test_the_ends_of_the_bootstrap_are_interpolated_linearly() -> None:
    # of two resampled means a <= b, the percentiles 2.5 and 97.5 are a + 0.025 (b - a) and a + 0.975 (b - a)
    found = [bootstrap_mean([0, 1], resamples=2, about=str(at)) for at in range(20)]
    ends = [(one.low, one.high) for one in found if one.low is not None and one.high is not None]
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
    found = wilson(successes, n)
    assert (found.value, found.n) == (successes / n, n)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-6)


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
    said = {} if physician is None else {"1": parse_label(physician, physician=True)}
    for policy, expected in (("physician", by_physician), ("released", by_released)):
        found = finalise(new, said, policy="physician" if policy == "physician" else "released")
        assert {uid: final.label.text() for uid, final in found.items()} == (
            {} if expected is None else {"1": expected}
        )


# --- Section 7: the whole test set ------------------------------------------------------------------------------------


def test_the_bound_of_unflagged_rows() -> None:
    assert smape_bound() == pytest.approx(5.128205, abs=1e-6)
    assert smape_bound(0) == 0
    assert smape_bound(1) == pytest.approx(200)


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
    found = whole_test(Estimate(*printed, 34), weight, unflagged)
    assert (found.value, found.low, found.high) == pytest.approx(expected, abs=5e-4)


# --- Section 8: limits and grading ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("label", "rule", "output_type", "lower", "upper"),
    [
        ("25.238", "v1", "decimal", 23.9761, 26.4999),
        ("38", "v1", "decimal", 36.1, 39.9),  # by the output type, not by the value
        ("-10", "v1", "decimal", -10.5, -9.5),  # ordered
        ("0", "v1", "decimal", 0, 0),
        ("20", "v1", "integer", 20, 20),
        ("-1", "v1", "integer", -1, -1),
        ("('14 weeks', '1 days')", "v1", "integer", 99, 99),
        ("03/21/2006", "v1", "date", SPRING, SPRING),
        ("25.24", "corrected", None, 23.978, 26.502),
        ("20", "corrected", None, 19, 21),
        ("8", "corrected", None, 7.6, 8.4),
        ("-1", "corrected", None, -1.05, -0.95),
        ("0", "corrected", None, 0, 0),
        ("99", "corrected", None, 94.05, 103.95),
        ("03/21/2006", "corrected", None, SPRING, SPRING),
        ("N/A", "corrected", None, NA, NA),
    ],
)
def test_limits(label: str, rule: LimitsRule, output_type: OutputType | None, lower: object, upper: object) -> None:
    reference = Reference.of(parse_label(label), rule, output_type)
    for found, expected in ((reference.lower, lower), (reference.upper, upper)):
        assert shown(found) == (expected if isinstance(expected, date) or expected is NA else pytest.approx(expected))


@pytest.mark.parametrize(
    ("label", "output_type", "right", "wrong"),
    [
        (
            "25.238",
            "decimal",
            ["25.238", " 25 ", "23.9761", "26.4999", "2.5e1", "+25"],
            ["23.976", "26.49991", "25.2 mg", "25%", "The answer is 25", "N/A", "unknown", "", None, "nan", "25,2"],
        ),
        ("1434", "decimal", ["1434", "1434.0"], ["1,434"]),
        ("-10", "decimal", ["-10", "-10.5", "-9.5"], ["10", "-10.51"]),
        ("0", "decimal", ["0", "0.0", "-0"], ["0.001", "N/A"]),
        ("2", "integer", ["2", "2.5", "1.5", "2.49", "2.0"], ["3", "2.51", "1.49", "2 points", "N/A", "03/02/2006"]),
        ("4", "integer", ["3.5", "4.5"], ["5", "3.4"]),  # half to even
        ("0", "integer", ["0.5", "-0.5", "0"], ["1", "N/A", "", "None", "False alarm"]),
        ("20", "integer", ["20", "20.4"], ["19", "21"]),
        (
            "03/21/2006",
            "date",
            ["03/21/2006"],
            ["2006-03-21", "2006/03/21", "03/22/2006", "21/03/2006", "03/21/06", "N/A", "2006", ""],
        ),
        (
            "('14 weeks', '1 days')",
            "integer",
            ["('14 weeks', '1 days')", "(14 weeks, 1 day)", "14 weeks, 1 days", "(14, 1)"],
            ["(13, 8)", "(14, 2)", "99", "14 weeks", "N/A", ""],  # both whole numbers, not their sum of days
        ),
    ],
)
def test_grader_a(label: str, output_type: OutputType, right: list[str | None], wrong: list[str | None]) -> None:
    reference = Reference.of(parse_label(label), "v1", output_type)
    assert [answer for answer in right if not grade_v1(answer, reference)] == []
    assert [answer for answer in wrong if grade_v1(answer, reference)] == []


# label, limits, output type, then responses that are right, wrong, and without an answer that can be read
RESPONSES: list[tuple[str, LimitsRule, OutputType | None, list[str], list[str], list[str | None]]] = [
    (
        "25",
        "corrected",
        None,
        [
            "<answer>25</answer>",
            "<answer>\n25 mL/h\n</answer>",
            "<answer>The answer is 25</answer>",
            "<answer>25%</answer>",
            "<answer>+25</answer>",
            "<answer>2.5e1</answer>",
            "<answer>23.75</answer>",
            "<answer>26.25</answer>",
            "<answer>1</answer> No. <answer>25</answer>",
            "<answer>25</answer> or rather <answer>1",  # the last closed tag
            "<answer>1 <answer>25</answer>",
            "<answer><answer>25</answer></answer>",
            "N/A? No. <answer>25</answer> of 100",
            "<answer>(3 weeks, 5 days)</answer>",  # 26: weeks and days are a number of days, whatever was asked
        ],
        [
            "<answer>23.7499</answer>",
            "<answer>26.2501</answer>",
            "<answer>-25</answer>",
            "<answer>25</answer> No. <answer>1</answer>",
            "<answer>N/A</answer>",
            "<answer>unknown</answer>",
            "<answer>25</answer> <answer>Not applicable</answer>",
            "<answer>2025-01-25</answer>",
            "<answer>(3 weeks, 6 days)</answer>",
        ],
        [
            "25",
            "The answer is 25",
            "",
            None,
            "<answer>25",
            "25</answer>",
            "</answer>25<answer>",
            "<answer></answer>",
            "<answer> </answer>",
            "<answer>25</answer> <answer></answer>",
            "<answer>I do not know</answer>",
            "<answer>25,5</answer>",
            "<answer>nan</answer>",
        ],
    ),
    ("1434", "v1", "decimal", ["<answer>1,434 mL</answer>"], ["<answer>1</answer>"], ["<answer>1,43</answer>"]),
    ("0.5", "v1", "decimal", ["<answer>.5</answer>"], ["<answer>5</answer>", "<answer>-.5</answer>"], []),
    ("-1", "corrected", None, ["<answer>-1.05</answer>", "<answer>-0.95</answer>"], ["<answer>1</answer>"], []),
    ("0", "corrected", None, ["<answer>0</answer>", "<answer>-0.0</answer>"], ["<answer>0.01</answer>"], []),
    # neighbours of 20 are right by the corrected limits only; nothing is rounded
    ("20", "corrected", None, ["<answer>19</answer>", "<answer>21</answer>"], ["<answer>18.99</answer>"], []),
    ("20", "v1", "integer", ["<answer>20.0</answer>"], ["<answer>21</answer>", "<answer>20.4</answer>"], []),
    (
        "N/A",
        "corrected",
        None,
        [
            *["<answer>N/A</answer>", "<answer> n/a </answer>", "<answer>NA</answer>", "<answer>unknown</answer>"],
            *["<answer>Unknown</answer>", "<answer>not available</answer>", "<answer>Not applicable</answer>"],
        ],
        ["<answer>0</answer>", "<answer>25</answer>", "<answer>03/21/2006</answer>"],
        # the rule of words without a digit is for physicians' cells
        ["N/A", "", "<answer></answer>", "<answer>Multiple</answer>", "<answer>cannot be computed</answer>"],
    ),
    (
        "99",
        "v1",
        "integer",
        [
            *["<answer>(14 weeks, 1 day)</answer>", "<answer>('14 weeks', '1 days')</answer>"],
            *["<answer>14 weeks, 1 day</answer>", "<answer>(14, 1)</answer>", "<answer>(13, 8)</answer>"],
            *["<answer>99</answer>", "<answer>99 days</answer>"],
        ],
        ["<answer>(14 weeks, 2 days)</answer>", "<answer>14</answer>", "<answer>N/A</answer>"],
        [],
    ),
    (
        "('14 weeks', '1 days')",
        "corrected",
        None,
        ["<answer>(14 weeks, 2 days)</answer>"],
        ["<answer>104</answer>"],
        [],
    ),
    (
        "03/21/2006",
        "corrected",
        None,
        [f"<answer>{text}</answer>" for text in ("03/21/2006", "3/21/2006", "2006/03/21", "2006-03-21")],
        [f"<answer>{text}</answer>" for text in ("03/22/2006", "2006", "20060321", "N/A", "2006-03-20")],
        [f"<answer>{text}</answer>" for text in ("02/30/2006", "21/03/2006", "03/21/06")],
    ),
]


@pytest.mark.parametrize(("label", "rule", "output_type", "right", "wrong", "unreadable"), RESPONSES)
def test_graders_b_and_c(
    label: str,
    rule: LimitsRule,
    output_type: OutputType | None,
    right: list[str],
    wrong: list[str],
    unreadable: list[str | None],
) -> None:
    reference = Reference.of(parse_label(label), rule, output_type)
    for responses, verdict, worth in (
        (right, Verdict.CORRECT, 1),
        (wrong, Verdict.WRONG, 0.1),
        (unreadable, Verdict.FORMAT_ERROR, 0),
    ):
        assert [text for text in responses if grade_abstention(text, reference).verdict is not verdict] == []
        assert [text for text in responses if reward(text, reference) != worth] == []


@pytest.mark.parametrize(
    ("label", "answers"),
    [
        (
            "25",
            {
                **{"25": 1, "25.0": 1, "23.75": 1, "26.25": 1, "30": 0.1, "-25": 0.1},
                **{"unknown": 0, "N/A": 0, "+25": 0, "2.5e1": 0, "25 mL": 0, "25%": 0, "The answer is 25": 0, "": 0},
            },
        ),
        ("1434", {"1434": 1, "1,434": 0}),
        ("0.5", {"0.5": 1, ".5": 0}),
        ("-10", {"-10": 1, "-10.5": 1, "10": 0.1}),
        ("N/A", {"unknown": 1, "N/A": 0, "n/a": 0, "25": 0, "03/21/2006": 0, "": 0}),
        ("99", {"(14 weeks, 1 days)": 1, "(14 weeks, 1 day)": 1, "14 weeks, 1 day": 0, "(20 weeks, 0 days)": 0.1}),
        ("03/21/2006", {"03/21/2006": 1, "2006/03/21": 1, "03/22/2006": 0.1, "unknown": 0, "N/A": 0}),
    ],
)
def test_the_released_code_rewards_fewer_spellings_and_no_wrong_type(label: str, answers: dict[str, float]) -> None:
    reference = Reference.of(parse_label(label), "corrected")
    found = {answer: released_reward(f"<answer>{answer}</answer>", reference) for answer in answers}
    assert found == answers
    assert released_reward(label, reference) == 0  # no tag


def test_odd_answers_are_not_quoted_in_warnings(recwarn: pytest.WarningsRecorder) -> None:
    reference = Reference.of(parse_label("25"), "v1", "decimal")
    assert not grade_v1("25or more", reference)
    assert released_reward("<answer>10:25 QUX</answer>", reference) == 0
    assert list(recwarn) == []


@pytest.mark.parametrize("digits", [400, 5000])
def test_answers_that_are_too_long_are_wrong_or_unreadable_and_stop_nothing(digits: int) -> None:
    many = "9" * digits
    reference = Reference.of(parse_label("('14 weeks', '1 days')"), "v1", "integer")
    for answer in (many, f"({many}, 1)", f"(1 week, {many} days)", f"00:00{many}", f"1e{many}", f"03/21/{many}"):
        assert not grade_v1(answer, reference)
        assert released_reward(f"<answer>{answer}</answer>", reference) in (0, 0.1)
        assert grade_abstention(f"<answer>{answer}</answer>", reference).verdict is not Verdict.CORRECT


# --- The published data -----------------------------------------------------------------------------------------------


@pytest.mark.real
def test_published_sheets_hold_to_sections_1_5_and_6(real_data: Path) -> None:
    source = real_data / "stewardship" / "source"
    sheet = read_label_table(source / "y_new_and_sampled_MD_evals.xlsx").frame
    uids = sheet["uid"].to_list()
    original, recomputed = (dict(zip(uids, labels(*sheet[role]), strict=True)) for role in ("original", "recomputed"))
    said = {uid: parse_label(text, physician=True) for uid, text in zip(uids, sheet["physician"], strict=True)}
    # section 1: no N/A became a blank
    assert sum(value.kind is NA for value in recomputed.values()) == 66
    assert sum(value.kind is NA for value in said.values()) == 16
    assert sum(value.number is not None for value in said.values()) == 34
    assert sum(value.kind is MISSING for value in said.values()) == 837
    # section 5: the file's column is the symmetric relative error
    pairs = [
        (float(printed), a.number, b.number)
        for printed, a, b in zip(sheet["rel_err"], original.values(), recomputed.values(), strict=True)
        if a.number is not None and b.number is not None
    ]
    assert len(pairs) == 783
    assert max(abs(printed - float(relative_error(a, b))) for printed, a, b in pairs) < 1e-14
    # section 6: final labels of both policies
    final = read_label_table(source / "y_final_MD_evals_incorporated.xlsx").frame
    published = dict(zip(final["uid"], labels(*final["final"]), strict=True))
    assert len(published) == 887
    released, paper = (
        {uid: one.label for uid, one in finalise(recomputed, said, policy=policy).items()}
        for policy in ("released", "physician")
    )
    assert released == published
    assert sum(value.kind is NA for value in released.values()) == 69
    assert {uid for uid in uids if paper[uid] != published[uid]} == {"114", "117", "367", "761", "785", "824", "864"}
    assert all(paper[uid] == recomputed[uid] for uid in uids if said[uid].kind is MISSING)
    assert all(paper[uid] == said[uid] for uid in uids if said[uid].kind is not MISSING)


@pytest.mark.real
def test_limits_are_those_of_both_published_files(real_data: Path) -> None:
    source = real_data / "stewardship" / "source"
    for name, rule, rows in (
        ("original_test_labels.csv.gz", "v1", 1047),
        ("medcalc_v1_corrected.csv.gz", "corrected", 887),
    ):
        frame = read_label_table(source / name).frame
        types = frame["output_type"] if rule == "v1" else [None] * rows
        ours = [
            Reference.of(value, "v1" if rule == "v1" else "corrected", kind)
            for value, kind in zip(labels(*frame["label"]), types, strict=True)
        ]
        assert len(ours) == rows
        for role in ("lower", "upper"):
            theirs = labels(*frame[role])
            assert [shown(getattr(one, role)) for one in ours] == [
                pytest.approx(value.number, abs=1e-9) if value.number is not None else shown(value) for value in theirs
            ]
