"""Rules: what physicians found wrong, put right on unreviewed rows only, and taken back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ground.contracts.labels import LabelValue
from ground.errors import InputError, UsageError
from stewardship.adjudication.standing import standing
from stewardship.benchmark.folder import Benchmark
from stewardship.benchmark.tables import read_label_table
from stewardship.history.log import Event
from stewardship.runs.phases import append_new
from stewardship.versions.rules import Rule, apply_rule, read_rule, try_rule
from tests.stewardship.labelled import GCS, MME, adopted

FILE = """
name = "methadone"
by = "Dr A"
why = "methadone was multiplied by 12 at every dose"
evidence = ["9"]
[rows]
strata = ["49"]
where = "features->>'Methadone Dose' is not null"
[do]
take = "original"
"""


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    return adopted(tmp_path)


def rule(rows: dict[str, Any], do: dict[str, Any], evidence: tuple[str, ...] = ("9",)) -> Rule:
    return Rule.model_validate(
        {"name": "a-rule", "by": "Dr A", "why": "wrong", "evidence": evidence, "rows": rows, "do": do}
    )


def number(value: float) -> LabelValue:
    return LabelValue.of(float(value))


def labels(benchmark: Benchmark) -> dict[str, str]:
    return {uid: label.text() for uid, label in benchmark.history.labels("recomputed").items()}


def test_a_rule_file_is_tried_applied_and_taken_back(tmp_path: Path, benchmark: Benchmark) -> None:
    (tmp_path / "rule.toml").write_text(FILE)
    before = labels(benchmark)
    outcome = try_rule(benchmark, read_rule(tmp_path / "rule.toml"))
    assert [(item.uid, item.before, item.after) for item in outcome.changed] == [("8", number(504), number(372))]
    assert [(item.uid, item.agreed, item.agrees) for item in outcome.reviewed] == [("9", False, True)]
    assert labels(benchmark) == before, "trying writes nothing"
    batch = apply_rule(benchmark, outcome)
    assert batch is not None
    assert labels(benchmark) == {**before, "8": "372"}
    event = benchmark.history.latest("recomputed")["8"]
    assert (event.status, event.by, event.why) == (
        "rule",
        "rule methadone (Dr A)",
        "methadone was multiplied by 12 at every dose",
    )
    assert event.evidence["before"] == "504"
    assert event.evidence["reviewed_rows"] == ["9"]
    kept = list((benchmark.folder / "rules").iterdir())
    assert [Rule.model_validate_json(file.read_text()) for file in kept] == [outcome.rule]
    again = try_rule(benchmark, outcome.rule)
    assert [item.uid for item in again.same] == ["8"]
    assert apply_rule(benchmark, again) is None
    benchmark.history.revert(batch, by="Dr B", why="the guideline of 2016 holds here")
    assert labels(benchmark) == before


def test_final_labels_come_from_the_rule_and_the_counts_of_phase_2_from_the_runs(benchmark: Benchmark) -> None:
    apply_rule(benchmark, try_rule(benchmark, rule({"strata": ["49"]}, {"take": "original"})))
    result = standing(benchmark)
    assert (result.recomputed["8"], result.settled["8"]) == (number(504), number(372))
    assert {uid for uid in result.settled if result.settled[uid] != result.recomputed[uid]} == {"8"}
    back = try_rule(benchmark, rule({"strata": ["49"]}, {"take": "runs"}))
    assert [(item.uid, item.after) for item in back.changed] == [("8", number(504))]


def test_runs_that_say_the_same_again_do_not_undo_a_rule_and_new_ones_do(benchmark: Benchmark) -> None:
    answer = benchmark.history.latest("recomputed")["8"].model_copy(update={"batch": ""})
    apply_rule(benchmark, try_rule(benchmark, rule({"strata": ["49"]}, {"take": "original"})))
    assert append_new(benchmark, [answer]) == 0
    assert standing(benchmark).settled["8"] == number(372)
    assert append_new(benchmark, [answer.model_copy(update={"value": "400"})]) == 1
    assert standing(benchmark).settled["8"] == number(400)


@pytest.mark.parametrize(
    ("do", "after"),
    [
        ({"take": "original"}, "372"),
        ({"abstain": True}, "N/A"),
        ({"value": "380"}, "380"),
        ({"value": "not available"}, "N/A"),
        ({"multiply": 0.5}, "252"),
        ({"multiply": 1 / 3}, "168"),
        ({"add": -4.006}, "499.99"),
        ({"add": -4.006, "decimals": 1}, "500"),
    ],
)
def test_what_a_rule_can_do(benchmark: Benchmark, do: dict[str, Any], after: str) -> None:
    (changed,) = try_rule(benchmark, rule({"strata": [MME]}, do)).changed
    assert changed.after is not None
    assert changed.after.text() == after


def test_days_are_added_to_a_date(benchmark: Benchmark) -> None:
    outcome = try_rule(benchmark, rule({"uids": ["6"]}, {"add": 6}))
    assert [item.after.text() for item in outcome.changed if item.after] == ["03/21/2006"]
    assert not try_rule(benchmark, rule({"uids": ["6"]}, {"add": -1e6})).changed
    assert not try_rule(benchmark, rule({"strata": [MME]}, {"multiply": 1e308})).changed


def test_a_calculator_labels_the_rows_that_were_deferred(benchmark: Benchmark) -> None:
    do, evidence = {"calculator": "corrected"}, ("1",)
    assert try_rule(benchmark, rule({"strata": [GCS]}, do, evidence)).unlabelled == 1
    outcome = try_rule(benchmark, rule({"strata": [GCS], "unlabelled": True}, do, evidence))
    # 4 for eyes, 4 for words, 6 or 5 for moves; row 2 was recomputed as 12.
    assert {item.uid: item.after.text() for item in outcome.changed if item.after} == {"2": "13", "3": "14"}
    assert outcome.changed[1].before is None


def test_a_calculator_that_finds_no_answer_leaves_the_label(benchmark: Benchmark) -> None:
    benchmark.history.append([Event(uid="4", role="physician", value="24.5", status="labelled", by="rater 1")])
    outcome = try_rule(benchmark, rule({"strata": ["6"]}, {"calculator": "corrected"}, ("4",)))
    assert [item.uid for item in outcome.without] == ["5"]
    assert outcome.without[0].note
    assert not outcome.changed


def test_reviewed_rows_are_never_touched(benchmark: Benchmark) -> None:
    outcome = try_rule(benchmark, rule({"strata": ["49", "21"]}, {"abstain": True}, ("9", "1")))
    assert {item.uid for item in outcome.changed} == {"2", "8"}
    assert {item.uid for item in outcome.reviewed} == {"1", "9"}
    with pytest.raises(UsageError, match="never changes a reviewed row") as result:
        try_rule(benchmark, rule({"uids": ["1", "8"]}, {"abstain": True}))
    assert result.value.found == "1"
    with_evidence = try_rule(benchmark, rule({"uids": ["8", "9"]}, {"abstain": True}))
    assert [item.uid for item in with_evidence.changed] == ["8"]
    narrow = try_rule(benchmark, rule({"strata": ["49"]}, {"take": "original"}))
    benchmark.history.append([Event(uid="8", role="physician", value="504", status="labelled", by="rater 1")])
    with pytest.raises(UsageError, match="never changes a reviewed row"):
        apply_rule(benchmark, narrow)


def test_a_rule_that_agrees_less_with_the_physicians_is_refused_unless_forced(benchmark: Benchmark) -> None:
    outcome = try_rule(benchmark, rule({"strata": ["21"]}, {"add": 5}, ("1",)))
    with pytest.raises(UsageError, match="fewer physicians") as result:
        apply_rule(benchmark, outcome)
    assert result.value.found == "0 of 1 reviewed rows, before 1"
    assert apply_rule(benchmark, outcome, force=True) == "0003"


@pytest.mark.parametrize(
    ("rows", "evidence", "message"),
    [
        ({"strata": ["49"]}, ("8",), "a row that a physician reviewed"),
        ({"strata": ["49"]}, ("1",), "does not apply to its own evidence"),
        ({"strata": ["50"]}, ("9",), "no such stratum"),
        ({"uids": ["77"]}, ("9",), "no such rows"),
        ({}, ("9",), "names no rows"),
        ({"where": "nonsense >"}, ("9",), "cannot be run"),
        ({"where": "uid in (select content from read_text('/etc/hostname'))"}, ("9",), "cannot be run"),
    ],
)
def test_a_rule_that_cannot_be_meant_is_refused(
    benchmark: Benchmark, rows: dict[str, Any], evidence: tuple[str, ...], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        try_rule(benchmark, rule(rows, {"abstain": True}, evidence))


@pytest.mark.parametrize(
    "condition", ["context::int > 0", "comment::date is null", "derivation::double = 1", "error(features::varchar)"]
)
def test_a_condition_that_fails_on_a_row_shows_nothing_of_it(benchmark: Benchmark, condition: str) -> None:
    with pytest.raises(UsageError, match="cannot be run") as result:
        try_rule(benchmark, rule({"where": condition}, {"take": "original"}))
    assert str(result.value.found).endswith("Exception on a row")
    assert "SECRET" not in str(result.value) and "Methadone" not in str(result.value)


def test_names_are_put_right_by_name_and_other_words_are_no_label(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("id,label,kind\na,Q1,x\nb,Q1,x\nc,Q2,y\n")
    table = read_label_table(tmp_path / "rows.csv", columns={"uid": "id", "label": "label", "stratum": "kind"})
    benchmark = Benchmark.adopt(tmp_path, "names", [table], open_because="invented", categories=("Q1", "Q2"))
    reviewed = Event(uid="a", role="physician", value="Q2", status="labelled", by="rater 1")
    benchmark.history.append([reviewed, reviewed.model_copy(update={"uid": "b", "role": "recomputed", "value": "Q1"})])
    result = try_rule(benchmark, rule({"where": "original = 'Q1'"}, {"value": "q2"}, ("a",)))
    assert [(item.uid, item.after) for item in result.changed] == [("b", LabelValue.of("Q2"))]
    assert [(item.agreed, item.agrees) for item in result.reviewed] == [(False, True)]
    with pytest.raises(UsageError, match="is not a label"):
        try_rule(benchmark, rule({"strata": ["x"]}, {"value": "Q5"}, ("a",)))


@pytest.mark.parametrize(
    ("file", "result"),
    [
        ("name = ", "TOML"),
        (FILE + "abstain = true\n", "exactly one of"),
        (FILE.replace('take = "original"', ""), "exactly one of"),
        (FILE.replace('take = "original"', 'tak = "original"'), "do.tak"),
        (FILE.replace('take = "original"', "multiply = nan"), "do.multiply"),
        (FILE.replace('take = "original"', "add = 1e308"), "do.add"),
        (FILE.replace('evidence = ["9"]', "evidence = []"), "evidence"),
        (FILE.replace('name = "methadone"', 'name = "../up"'), "name"),
    ],
)
def test_a_file_that_is_no_rule_names_its_fault(tmp_path: Path, file: str, result: str) -> None:
    (tmp_path / "rule.toml").write_text(file)
    with pytest.raises(InputError) as error:
        read_rule(tmp_path / "rule.toml")
    assert result in str(error.value)
    with pytest.raises(InputError, match="no such rule file"):
        read_rule(tmp_path / "none.toml")
