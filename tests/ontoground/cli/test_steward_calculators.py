"""``steward calculators``: the list, one calculator, one score step by step, and agreement with labels."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from stewardship.benchmark.folder import Benchmark
from stewardship.history.log import Event
from tests.ontoground.cli.conftest import Steward

SCHEMA = "steward-calculators"
TABLE = """Row Number,Calculator ID,Calculator Name,Category,Output Type,Patient Note,Question,Relevant Entities,\
Ground Truth Answer,Lower Limit,Upper Limit,Ground Truth Explanation
1,21,Glasgow Coma Score (GCS),severity,integer,n,q,"{'Best eye response': 'eyes open spontaneously', \
'Best verbal response': 'confused', 'Best motor response': 'obeys commands'}",18,18,18,e
2,21,Glasgow Coma Score (GCS),severity,integer,n,q,"{'Best eye response': 'not testable', \
'Best verbal response': 'confused', 'Best motor response': 'obeys commands'}",18,18,18,e
3,45,CURB-65 Score for Pneumonia Severity,severity,integer,n,q,"{'age': [70.0, 'years'], \
'Blood Urea Nitrogen (BUN)': [12.0, 'mg/dL'], 'respiratory rate': [16.0, 'breaths per minute'], \
'Systolic Blood Pressure': [120.0, 'mm Hg'], 'Diastolic Blood Pressure': [75.0, 'mm Hg']}",1,1,1,e
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    file = tmp_path / "rows.csv"
    file.write_text(TABLE)
    return file


def test_the_list_has_the_55_and_fits_80_columns(steward: Steward) -> None:
    result = steward.json("calculators", "--list")
    assert len(result["calculators"]) == 55
    answer = steward("calculators")
    assert "Glasgow Coma Score (GCS)" in answer and max(map(len, answer.splitlines())) <= 80


def test_one_shows_what_it_reads_its_source_and_its_points(steward: Steward) -> None:
    result = steward.json("calculators", "27")
    reads = {item["feature"]: item for item in result["inputs"]}
    assert reads["Hemoglobin"]["units"] == ["g/dL"] and reads["Hemoglobin"]["absent"] is None
    assert reads["Melena present"]["absent"] == "no"
    first = next(point for point in result["points"] if point["item"] == "systolic pressure")
    assert (first["when"], first["unit"], first["points"]) == ("<90", "mmHg", 3)
    assert first["source"].startswith("Blatchford 2000")
    answer = steward("calculators", "glasgow coma score (gcs)")
    assert "Teasdale" in answer and "needed" in answer and "not testable" in answer


def test_a_score_is_computed_with_its_steps(steward: Steward) -> None:
    settings = ["--set", "qt interval=400", "--set", "Heart Rate or Pulse=60"]
    result = steward.json("calculators", "11", *settings)
    assert result["value"] == "400" and result["reason"] is None
    assert steward("calculators", "11", *settings).splitlines()[-1] == "QTc Bazett Calculator: 400 ms"


def test_an_abstention_says_why_and_assumptions_are_named(steward: Steward) -> None:
    result = steward.json("calculators", "17", "--set", "Elevated-risk surgery=yes")
    assert result["value"] == "N/A" and result["reason"] == "Pre-operative creatinine is missing"
    assert "Pre-operative treatment with insulin is not mentioned: taken as no" in result["assumptions"]
    assert "N/A: Pre-operative creatinine is missing" in steward(
        "calculators", "17", "--set", "Elevated-risk surgery=yes"
    )


def test_the_old_version_is_named_as_such(steward: Steward) -> None:
    settings = [
        *("--set", "Best eye response=eyes open spontaneously"),
        *("--set", "Best verbal response=oriented", "--set", "Best motor response=obeys commands"),
    ]
    assert steward.json("calculators", "21", *settings)["value"] == "15"
    assert steward.json("calculators", "21", *settings, "--version", "v1.0")["value"] == "20"
    assert "as MedCalc-Bench v1.0 computed" in steward("calculators", "21", *settings, "--version", "v1.0")


def test_a_table_is_computed_beside_its_labels(steward: Steward, table: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.csv"
    result = steward.json("calculators", "--table", str(table), "--output", str(output))
    assert result["labels"] == {"original": {"agree": 1, "of": 3}}
    assert [(item["id"], item["rows"], item["abstained"]) for item in result["by_calculator"]] == [
        (21, 2, 1),
        (45, 1, 0),
    ]
    with output.open() as lines:
        rows = list(csv.DictReader(lines))
    assert [(row["corrected"], row["v1.0"], row["agrees_original"]) for row in rows] == [
        ("14", "18", "false"),
        ("N/A", "18", "false"),
        ("1", "1", "true"),
    ]
    assert "not testable" in rows[1]["reason"]
    old = steward.json("calculators", "21", "--table", str(table), "--version", "v1.0")
    assert old["labels"] == {"original": {"agree": 2, "of": 2}} and old["file"] is None


def test_a_benchmark_is_computed_into_its_folder(steward: Steward, table: Path, tmp_path: Path) -> None:
    workspace = ["--workspace", str(tmp_path / "work")]
    steward("adopt", table, "--name", "small", *workspace)
    result = steward.json("calculators", "--benchmark", "small", *workspace)
    assert result["labels"] == {"original": {"agree": 1, "of": 3}}
    assert Path(str(result["file"])).read_text().startswith("uid,calculator_id,corrected,v1.0,reason")
    answer = steward("calculators", "--benchmark", "small", *workspace)
    assert "1/1" in answer and "agree with label (original)" in answer


def test_one_calculator_of_a_benchmark_may_have_no_row_with_a_label_of_some_role(
    steward: Steward, table: Path, tmp_path: Path
) -> None:
    workspace = ["--workspace", str(tmp_path / "work")]
    steward("adopt", table, "--name", "small", *workspace)
    reviewed = Event(uid="1", role="physician", value="14", status="labelled", by="ann")
    Benchmark.open(tmp_path / "work", "small").history.append([reviewed])
    result = steward.json("calculators", "45", "--benchmark", "small", *workspace)
    assert result["labels"] == {"original": {"agree": 1, "of": 1}, "physician": {"agree": 0, "of": 0}}
    steward("calculators", "45", "--benchmark", "small", *workspace)


@pytest.mark.parametrize(
    ("which", "settings", "answer"),
    [
        ("45", ["agee=70 years"], "reads no such feature"),
        ("45", ["age"], "cannot be read"),
        ("45", ["age=old"], "age is not a number"),
        ("2", ["creatinine=1"], "creatinine needs a unit"),
        ("45", ["Confusion=maybe"], "neither yes nor no"),
        ("45", ["age=70 years", "AGE=71 years"], "given twice"),
        ("99", ["age=70 years"], "no such calculator"),
    ],
)
def test_features_that_cannot_be_read_are_refused_in_words(
    which: str, settings: list[str], answer: str, steward: Steward
) -> None:
    given = [word for setting in settings for word in ("--set", setting)]
    assert answer in steward("calculators", which, *given, code=2)


def test_options_that_do_not_go_together_are_refused(steward: Steward) -> None:
    features = ("--set", "age=70 years")
    steward("calculators", "45", *features)
    steward("calculators")
    for options, feature in (
        (features, "for one calculator"),
        (("45", *features, "--table", "rows.csv"), "computes one score"),
        (("--table", "rows.csv", "--benchmark", "small"), "do not go together"),
        (("45", "--list"), "takes no other option"),
    ):
        assert feature in steward("calculators", *options, code=2)


def test_a_table_without_features_is_refused(steward: Steward, tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    file.write_text("uid,label\n1,2\n")
    assert steward.error("calculators", "--table", file, code=3)["what"]


OTHER_NAMES = """Row Number,Calculator ID,Calculator Name,Category,Output Type,Patient Note,Question,Relevant Entities,\
Ground Truth Answer,Lower Limit,Upper Limit,Ground Truth Explanation
1,25,HAS-BLED Score for Major Bleeding Risk,risk,integer,n,q,"{'Age': [60, 'years'], 'HTN': True}",1,1,1,e
2,25,HAS-BLED Score for Major Bleeding Risk,risk,integer,n,q,"{'age': [60, 'years'], 'Raised pressure': True}",1,1,1,e
"""


def test_features_that_are_not_read_are_counted_and_listed_by_row(steward: Steward, tmp_path: Path) -> None:
    table, output = tmp_path / "rows.csv", tmp_path / "out.csv"
    table.write_text(OTHER_NAMES)
    result = steward.json("calculators", "--table", str(table), "--output", str(output))
    assert result["unread"] == [{"uid": "2", "features": ["Raised pressure"]}]
    assert result["labels"] == {"original": {"agree": 1, "of": 2}} and result["abstained"] == 1
    with output.open() as lines:
        assert [row["unread"] for row in csv.DictReader(lines)] == ["", "Raised pressure"]
    answer = steward("calculators", "--table", table)
    assert "rows with features that are not read: 1" in answer and "Raised pressure" in answer


def test_a_row_with_a_feature_that_is_not_read_is_deferred(steward: Steward, tmp_path: Path) -> None:
    table, workspace = tmp_path / "rows.csv", ["--workspace", str(tmp_path / "work")]
    table.write_text(OTHER_NAMES)
    steward("adopt", table, "--name", "small", *workspace)
    for _ in range(2):  # the second call finds all runs stored, and still says what was not read
        result = steward.json("recompute", "--engine", "calculators", *workspace)
        assert result["unread"] == [{"uid": "2", "features": ["Raised pressure"]}]
        assert (result["summary"]["high"], result["summary"]["deferred"]) == (1, 1)
    latest = Benchmark.open(tmp_path / "work").history.latest("recomputed")
    assert (latest["1"].value, latest["1"].status) == ("1", "high_confidence")
    assert (latest["2"].value, latest["2"].status) == (None, "deferred")
