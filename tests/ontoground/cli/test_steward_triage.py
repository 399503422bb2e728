"""``steward triage``, ``finalise`` and ``report``: what they print, write, add to the history and refuse."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import polars as pl
import pytest

from ontoground.cli.render import console, paint
from ontoground.cli.steward.report import report_blocks
from stewardship.benchmark.folder import Benchmark
from stewardship.benchmark.tables import read_label_table
from stewardship.history.log import Event
from tests.ontoground.cli.conftest import Steward

LABELS = """uid,kind,type,answer,new,doctor
1,BMI,decimal,100,50,50
2,BMI,decimal,100,100.1,
3,GCS,integer,17,N/A,N/A
4,GCS,integer,20,13,19
5,GCS,integer,3,,
6,Due date,date,01/01/2020,01/08/2020,
10,GCS,integer,8,9,
9,GCS,integer,8,9,8
"""
COLUMNS = ("uid=uid", "stratum=kind", "output_type=type", "original=answer", "recomputed=new", "physician=doctor")


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steward: Steward) -> Path:
    folder = tmp_path / "work"
    monkeypatch.setenv("ONTOGROUND_WORKSPACE", str(folder))
    (tmp_path / "labels.csv").write_text(LABELS)
    given = [part for column in COLUMNS for part in ("--column", column)]
    steward("adopt", tmp_path / "labels.csv", *given)
    return folder


def test_triage_ranks_prints_and_writes_the_list(workspace: Path, steward: Steward) -> None:
    payload = steward.json("triage")
    assert {name: payload["summary"][name] for name in ("of", "n", "deferred", "abstained", "differ", "flagged")} == {
        "of": 8,
        "n": 7,
        "deferred": 1,
        "abstained": 1,
        "differ": 5,
        "flagged": 6,
    }
    assert [row["uid"] for row in payload["top"]["abstained"]] == ["3"]
    assert [row["uid"] for row in payload["top"]["numbers"]] == ["1", "4", "9", "10", "2"]
    assert [(row["uid"], row["distance"]) for row in payload["top"]["dates"]] == [("6", 7.0)]
    table = pl.read_parquet(payload["files"]["parquet"])
    with Path(payload["files"]["csv"]).open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [row["uid"] for row in rows] == table["uid"].to_list() == ["3", "1", "4", "9", "10", "2", "6"]
    assert rows[0]["recomputed"] == "N/A" and rows[0]["distance"] == ""
    answer = steward("triage", "--top", "1", "--set", "steward.flag_rel_err=0.6")
    assert "flagged    2 of 8 (25.0%), in 2 of 3 strata" in answer
    assert max(map(len, answer.splitlines()[:-1])) <= 80


def test_finalise_adds_what_changed_and_a_second_call_nothing(workspace: Path, steward: Steward) -> None:
    payload = steward.json("finalise")
    assert (payload["final"], payload["without"], payload["added"], payload["policy"]) == (7, 1, 7, "physician")
    assert payload["from"] == {"recomputed": 3, "rule": 0, "physician": 4}
    history = Benchmark.open(workspace).history
    held = history.latest("final")
    assert {uid: event.value for uid, event in held.items()} == {
        "1": "50",
        "2": "100.1",
        "3": "N/A",
        "4": "19",
        "6": "01/08/2020",
        "9": "8",
        "10": "9",
    }
    rests = {event.batch for event in history.events if event.role == "physician"}
    assert held["4"].evidence["from"] == "physician" and {held["4"].evidence["batch"]} == rests
    count = len(history.events)

    assert "nothing changed" in steward("finalise")
    assert len(Benchmark.open(workspace).history.events) == count

    payload = steward.json("finalise", "--policy", "released")
    assert payload["changes"] == []
    assert payload["added"] == 4
    assert payload["from"]["physician"] == 2
    assert Benchmark.open(workspace).history.latest("final")["1"].by == "policy released"


def test_a_final_label_whose_ground_was_taken_back_holds_no_longer(workspace: Path, steward: Steward) -> None:
    history = Benchmark.open(workspace).history
    batch = history.append([Event(uid="5", role="physician", value="3", status="labelled", by="dr")])
    steward("finalise")
    history = Benchmark.open(workspace).history
    assert history.latest("final")["5"].value == "3"
    history.revert(batch, by="us", why="typed into the wrong row")
    payload = steward.json("finalise")
    assert (payload["added"], payload["changes"][0]["uid"], payload["changes"][0]["after"]) == (1, "5", None)
    result = Benchmark.open(workspace).history.latest("final")["5"]
    assert (result.status, result.value, result.evidence["held"]) == ("withdrawn", None, "3")
    assert steward.json("finalise")["added"] == 0


def test_final_labels_are_withdrawn_where_nothing_that_they_rest_on_holds(workspace: Path, steward: Steward) -> None:
    steward("finalise")
    Benchmark.open(workspace).history.revert("0001", by="me", why="another table")
    payload = steward.json("finalise")
    assert (payload["final"], payload["added"]) == (0, 7)
    held = Benchmark.open(workspace).history.latest("final").values()
    assert {event.status for event in held} == {"withdrawn"}
    steward("finalise", code=3)


def test_report_has_every_phase_its_caveats_and_pictures(
    workspace: Path, steward: Steward, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("statsmodels")
    votes = {"1": 5, "2": 3, "3": 4}
    Benchmark.open(workspace).history.append(
        [
            Event(
                uid=uid,
                role="audit",
                value="Likely Error" if count > 3 else "Passed",
                status="likely_error" if count > 3 else "passed",
                by="auditor",
                evidence={"suspicious": count, "runs": 5, "failure_modes": ["feature extraction"]},
            )
            for uid, count in votes.items()
        ]
    )
    steward("finalise")
    payload = steward.json("report", "--set", "steward.resamples=200")
    assert payload["phase1"] == {"n": 3, "flagged": 2, "rate": 2 / 3, "strata": 2, "strata_touched": 2}
    assert payload["failure_modes"] == {"feature extraction": 2}
    phase3 = payload["phase3"]
    assert (phase3["reviewed"], phase3["types"]) == (4, {"continuous": 1, "na": 1, "ordinal": 2})
    assert [phase3["agreement"][name]["value"] for name in ("original", "recomputed")] == [0.5, 0.75]
    assert (phase3["only"], phase3["both"], phase3["neither"]) == ({"original": 1, "recomputed": 2}, 1, 0)
    assert phase3["smape"]["original"]["n"] == 3
    assert payload["paper"] == [], "the paper is about another benchmark"
    readings = {(reading["outcome"], reading["variant"]): reading["value"] for reading in payload["other_readings"]}
    assert readings["flagged rows", "dates differ above 7 days"] == "5 of 8 (62.5%)"
    files = {Path(name).name: Path(name).read_bytes() for name in payload["files"]}
    assert json.loads(files["report.json"]) == payload
    page = files["report.md"].decode()
    for about in ("deferred rows", "dates", "how rows were chosen", "whom the bound holds for"):
        assert f"- **{about}**" in page
    pictures = [name for name in files if name.endswith(".png")]
    assert pictures == ["agreement.png", "flagged_by_stratum.png", "relative_error.png"]
    assert all(files[name].startswith(b"\x89PNG") and f"({name})" in page for name in pictures)

    paint(console(), report_blocks(payload))
    printed = capsys.readouterr().out
    assert "original agrees with the physician" in printed and "report.md" in printed


def test_labels_of_several_series_are_called_so(workspace: Path, steward: Steward) -> None:
    def abouts() -> list[str]:
        return [caveat["about"] for caveat in steward.json("report", "--set", "steward.resamples=200")["caveats"]]

    pytest.importorskip("matplotlib")
    pytest.importorskip("statsmodels")
    rule = Event(uid="1", role="recomputed", value="7", status="rule", by="rule mine (Dr A)")
    Benchmark.open(workspace).history.append([rule])
    assert "recomputed labels of several series" not in abouts()
    again = Event(uid="10", role="recomputed", value="8", status="high_confidence", by="model-1234")
    Benchmark.open(workspace).history.append([again])
    assert "recomputed labels of several series" in abouts()


def test_a_phase_that_was_not_run_is_left_out(workspace: Path, steward: Steward) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("statsmodels")
    table = workspace.parent / "labels.csv"
    given = [part for column in COLUMNS[:5] for part in ("--column", column)]
    steward("adopt", table, *given, "--name", "bare")
    payload = steward.json("report", "--benchmark", "bare")
    assert (payload["phase1"], payload["phase3"], payload["whole_test"], payload["final"]) == (None, None, [], {})
    assert payload["phase2"]["flagged"] == 6
    assert {caveat["about"] for caveat in payload["caveats"]} == {
        "denominators",
        "deferred rows",
        "flags are not errors",
        "dates",
    }
    assert "Phase 3" not in Path(payload["files"][0]).read_text()


def test_labels_that_are_names_are_crossed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steward: Steward) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("statsmodels")
    monkeypatch.setenv("ONTOGROUND_WORKSPACE", str(tmp_path))
    (tmp_path / "rows.csv").write_text("uid,kind,was,new,doctor\na,x,Q1,Q1,Q1\nb,x,Q1,Q2,Q2\nc,y,Q2,N/A,\nd,y,Q2,q2,\n")
    columns = {"uid": "uid", "stratum": "kind", "original": "was", "recomputed": "new", "physician": "doctor"}
    table = read_label_table(tmp_path / "rows.csv", columns=columns)
    Benchmark.adopt(tmp_path, "quadrants", [table], open_because="invented", categories=("Q1", "Q2"))
    payload = steward.json("report")
    assert payload["phase2"]["pairs"] == {"Q1": {"N/A": 0, "Q1": 1, "Q2": 1}, "Q2": {"N/A": 1, "Q1": 0, "Q2": 1}}
    assert payload["phase3"]["types"] == {"category": 2}
    assert [payload["phase3"]["agreement"][name]["value"] for name in ("original", "recomputed")] == [0.5, 1]
    assert payload["phase3"]["smape"]["original"]["n"] == 0 and payload["whole_test"] == []
    assert "| Q1 | 0 | 1 | 1 |" in Path(payload["files"][0]).read_text()
    display = steward("triage").split("labels of two names")[1].split("output")[0]
    assert "Q1        Q2" in display and "Q1        Q1" not in display


def test_labels_that_are_lacking_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steward: Steward) -> None:
    monkeypatch.setenv("ONTOGROUND_WORKSPACE", str(tmp_path / "work"))
    steward("triage", code=3)
    (tmp_path / "bare.csv").write_text("uid,answer\n1,5\n")
    columns = ["--column", "uid=uid", "--column", "original=answer"]
    steward("adopt", tmp_path / "bare.csv", *columns)
    for verb, what in (
        ("triage", "no recomputed labels"),
        ("finalise", "no label that could become final"),
        ("report", "nothing to report"),
    ):
        assert what in steward(verb, code=3)


@pytest.mark.real
def test_the_papers_numbers_stand_beside_ours(real_data: Path, tmp_path: Path, steward: Steward) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("statsmodels")
    source = real_data / "stewardship" / "source"
    tables = [str(source / name) for name in ("original_test_labels.csv.gz", "y_new_and_sampled_MD_evals.xlsx")]
    steward("adopt", *tables, "--name", "medcalc", "--workspace", tmp_path)
    payload = steward.json("report", "--workspace", tmp_path)
    same = {item["key"]: item["same"] for item in payload["paper"]}
    # The raw audits were never published; ends of bootstrap intervals depend on a seed that is not named.
    assert {key for key, how in same.items() if how == ""} == {"audit_flagged", "audit_rate", "audit_strata"}
    assert {key for key, how in same.items() if how == "ends"} <= {
        "original_smape",
        "recomputed_smape",
        "original_whole_test",
        "recomputed_whole_test",
    }
    assert "no" not in same.values()
    assert len(same) == 22
    readings = {(reading["outcome"], reading["variant"]): reading["value"] for reading in payload["other_readings"]}
    agree = "original and recomputed labels that agree with the physician"
    assert readings[agree, "no point of tolerance for ordinal scores"] == "7 of 50 and 33 of 50"
    assert readings[agree, "share of the larger value, not of the physician's"] == "11 of 50 and 37 of 50"
    printed = "from the sMAPE that the paper prints"
    assert readings["test-wide sMAPE of the original labels", printed] == "19.9% [13.08, 27.07]"
    assert readings["test-wide sMAPE of the recomputed labels", printed] == "9.2% [5.91, 13.53]"
