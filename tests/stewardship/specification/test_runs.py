"""Sections 3 and 4: verdicts of an audit, consensus of recomputations."""

from __future__ import annotations

from datetime import date

import pytest

from stewardship.runs.consensus import consensus
from stewardship.runs.consensus import summarise as summarise_consensus
from stewardship.runs.votes import audit, parse_verdict
from stewardship.runs.votes import summarise as summarise_audits
from tests.stewardship.specification.words import NA, SPRING, labels, value_or_kind

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
    result = audit([parse_verdict(words[vote]) for vote in votes])
    assert result.status == status
    assert (result.suspicious, result.answered, result.runs) == (votes.count("S"), 5 - votes.count("-"), 5)


def test_the_rate_of_likely_errors_is_over_all_rows_and_counts_calculators_once() -> None:
    statuses = {str(uid): "likely_error" if uid < 3 else "passed" for uid in range(8)}
    result = summarise_audits(statuses, {uid: "GCS" if int(uid) < 4 else "BMI" for uid in statuses})
    assert (result.flagged, result.n, result.rate, result.strata_touched) == (3, 8, 0.375, 1)


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
    result = consensus(labels(*["" if answer == "-" else answer for answer in answers.split()]))
    assert (result.rule, result.votes) == (rule, votes)
    assert result.status == ("deferred" if rule is None else "high_confidence")
    assert (None if result.label is None else value_or_kind(result.label)) == label
    assert result.label is None or not result.label.text().startswith("-0")


def test_coverage_is_over_all_rows_and_abstention_over_high_confidence() -> None:
    rows = ["3 3 3 3 3", "N/A N/A N/A N/A 1", "100 100 100 99 1", "1 2 3 4 5", "N/A N/A N/A - -"]
    result = summarise_consensus(consensus(labels(*row.replace("-", "").split(" "))) for row in rows)
    assert (result.n, result.high, result.near, result.deferred, result.abstained) == (5, 3, 1, 2, 1)
    assert result.coverage == 0.6
    assert result.abstention_rate == pytest.approx(1 / 3)
