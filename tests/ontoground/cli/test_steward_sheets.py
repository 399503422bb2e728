"""``steward sheets``, ``sample`` and ``read``: from the ranked list to labels, and what is refused on the way."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from ground.storage.files import private_directory
from stewardship.benchmark.folder import Benchmark
from stewardship.history.log import Event
from stewardship.runs.store import Run, RunStore
from tests.ontoground.cli.conftest import Steward
from tests.stewardship.sheets.filling import fill, save, sheet_rows
from tests.stewardship.sheets.world import scores, statements


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONTOGROUND_WORKSPACE", str(private_directory(tmp_path / "work")))


@pytest.fixture
def bench(steward: Steward, tmp_path: Path) -> Benchmark:
    result = scores(tmp_path / "work")
    steward("triage")
    return result


def key_of(payload: dict[str, Any]) -> dict[str, dict[str, str]]:
    items = json.loads(Path(payload["key"]).read_text())["items"]
    return {item["item"]: item for item in items}


ANY = ("--pick", "any")
ANSWERS = {"number": "7", "date": "03/21/2006", "weeks": "14 weeks 1 day", "category": "Q1", "verdict": "agree"}


def answered(payload: dict[str, Any], rater: str, out: Path, **special: str) -> Path:
    """A rater's filled sheet; ``special`` says answers by uid, with _ for -."""
    cells = {
        name: {"answer": special.get(item["uid"].replace("-", "_"), ANSWERS[item["expects"]]), "comment": ""}
        for name, item in key_of(payload).items()
        if item["rater"] == rater
    }
    return fill(Path(payload["sheets"][rater]["csv"]), out, cells)


def test_sheets_are_written_filled_refused_corrected_and_taken(
    steward: Steward, bench: Benchmark, tmp_path: Path
) -> None:
    experts = tmp_path / "experts.csv"
    experts.write_text("rater,category\nann,risk\nann,date\nbob,dosage\n")
    payload = steward.json("sheets", "--experts", str(experts), "--rows", "20")
    assert payload["kind"] == "blind" and payload["drawn"] == "sampled" and payload["blind"]
    assert payload["rows"] == sum(payload["raters"].values()) == 20 and set(payload["raters"]) == {"ann", "bob"}
    number, other, date = (
        next(item["uid"] for item in key_of(payload).values() if item["expects"] == kind and item["rater"] == rater)
        for kind, rater in (("number", "bob"), ("number", "ann"), ("date", "ann"))
    )
    bad = {number.replace("-", "_"): "4,4", date.replace("-", "_"): "12", other.replace("-", "_"): "n/a"}
    files = [answered(payload, rater, tmp_path / f"{rater} done.xlsx", **bad) for rater in ("ann", "bob")]
    before = (bench.folder / "history.jsonl").read_bytes()
    refused = steward.json("read", *map(str, files), code=1)
    assert not refused["taken"] and refused["answers"] == 18 and refused["abstentions"] == 1
    assert {(entry["uid"], entry["found"], entry["column"]) for entry in refused["refused"]} == {
        (number, "4,4", "answer"),
        (date, "12", "answer"),
    }
    assert (bench.folder / "history.jsonl").read_bytes() == before and not list(tmp_path.glob("*.refused.csv"))
    text = steward("read", *map(str, files), code=1)
    assert "bob done.xlsx row " in text and "found: 4,4" in text and "NOTHING TAKEN" in text
    assert "do: write a decimal point, as 4.4" in text and "n/a is read as N/A" in text
    taken = steward.json("read", *map(str, files), "--partial")
    assert taken["taken"] and taken["events_added"] == 18 and taken["reviewed"] == 18
    tables = [Path(table) for table in taken["refused_tables"]]
    assert [table.name for table in tables] == ["ann done.refused.csv", "bob done.refused.csv"]
    for table in tables:
        answers = {
            row["item"]: {"answer": "4.4" if row["found"] == "4,4" else "03/21/2006"} for row in sheet_rows(table)
        }
        fill(table, table, answers)
    last = steward.json("read", *map(str, tables))
    assert last["events_added"] == 2 and last["reviewed"] == 20 and last["reviewed_by_draw"] == {"sampled": 20}
    labels = bench.history.labels("physician")
    assert labels[number].number == 4.4 and labels[date].text() == "03/21/2006" and labels[other].kind.value == "na"
    assert steward.json("read", *map(str, files), "--partial")["events_added"] == 0
    # What is reviewed or on a sheet is not drawn again.
    more = steward.json("sheets", "--rater", "cleo", "--pick", "any", "--rows", "40")
    assert more["rows"] == 20 and more["left_out"] == {"reviewed": 20}


def test_a_row_that_is_refused_for_two_cells_is_counted_once(
    steward: Steward, bench: Benchmark, tmp_path: Path
) -> None:
    assert bench.name == "scores"
    sheet = answered(steward.json("sheets", "--rater", "ann", "--rows", "3"), "ann", tmp_path / "ann.csv")
    rows = sheet_rows(sheet)
    rows[0] |= {"question": "another?", "context": "another"}
    text = steward("read", str(save(sheet, rows)), code=1)
    assert text.count("is not the item's") == 2 and "NOTHING TAKEN: 1 of 3 answers" in text


def test_a_rater_for_whom_no_row_was_drawn_is_named(steward: Steward, bench: Benchmark) -> None:
    assert bench.name == "scores"
    lines = steward("sheets", "--rater", "ann", "--rater", "bob", "--rows", "1").splitlines()
    assert sorted(line.split()[1] for line in lines[1:3]) == ["0", "1"]
    assert sorted(line.split()[0] for line in lines[1:3]) == ["ann", "bob"]
    assert any(line.split()[2] == "none" for line in lines[1:3])


def test_no_label_of_the_benchmark_is_in_what_the_experts_get(steward: Steward, bench: Benchmark) -> None:
    payload = steward.json("sheets", "--rater", "ann", "--pick", "any", "--rows", "40")
    values = {event.value or "" for event in bench.history.events} - {"N/A"}
    with zipfile.ZipFile(payload["sheets"]["ann"]["excel"]) as archive:
        inside = "".join(archive.read(name).decode() for name in archive.namelist())
    everything = inside + Path(payload["sheets"]["ann"]["csv"]).read_text("utf-8-sig")
    # As whole words: a label such as 12 is part of many an item's name.
    words = set(re.findall(r"[\w./-]+", everything))
    assert values and not values & words and not [value for value in values if len(value) > 4 and value in everything]


def test_two_raters_disagree_and_a_third_decides(steward: Steward, bench: Benchmark, tmp_path: Path) -> None:
    payload = steward.json("sheets", "--rater", "ann", "--rater", "bob", "--raters-per-row", "2", "--rows", "8", *ANY)
    uid = next(item["uid"] for item in key_of(payload).values() if item["expects"] == "number")
    ann, bob = (
        answered(payload, rater, tmp_path / f"{rater}.csv", **{uid.replace("-", "_"): text})
        for rater, text in (("ann", "3"), ("bob", "5"))
    )
    first = steward.json("read", str(ann))
    assert first["awaiting"] == 8 and first["reviewed"] == 0 and first["agreement"]["rows"] == 0
    second = steward.json("read", str(bob))
    assert (second["to_adjudicate"], second["reviewed"], second["awaiting"]) == (1, 7, 0)
    agreement = second["agreement"]
    assert agreement["rows"] == 8 and agreement["pairs"][0]["agree"] == 7
    assert "agreement of raters" in steward("read")
    assert steward.json("finalise")["disputed"] == 1
    assert "rows whose raters disagree: 1" in steward("finalise")
    release = steward.json("release", "--dry-run")
    assert release["disputed"] == 1 and any("Rows whose raters disagree: 1" in line for line in release["caveats"])
    assert "too few experts" in str(steward.error("sheets", "--adjudicate", "--rater", "ann"))
    decide = steward.json("sheets", "--adjudicate", "--rater", "cleo")
    assert decide["kind"] == "adjudication" and decide["rows"] == 1
    third = steward.json("read", str(answered(decide, "cleo", tmp_path / "cleo.csv", **{uid.replace("-", "_"): "4"})))
    assert third["to_adjudicate"] == 0 and third["reviewed"] == 8
    assert bench.history.labels("physician")[uid].number == 4


def test_a_balanced_sample_is_reviewed_by_two_with_kappa_and_errors_by_quadrant(
    steward: Steward, tmp_path: Path
) -> None:
    bench = statements(tmp_path / "work")
    payload = steward.json("sample", "--rows", "40", "--rater", "ann", "--rater", "bob")
    assert payload["by_label"] == dict.fromkeys(("Q1", "Q2", "Q3", "Q4"), 10)
    assert payload["raters"] == {"ann": 40, "bob": 40} and payload["drawn"] == "balanced"
    published = {uid: event.value or "" for uid, event in bench.history.latest("original").items()}
    # One row of Q2 is Q3 to both, one of Q3 to bob alone.
    both = next(item["uid"] for item in key_of(payload).values() if published[item["uid"]] == "Q2")
    alone = next(item["uid"] for item in key_of(payload).values() if published[item["uid"]] == "Q3")
    ann = answered(payload, "ann", tmp_path / "ann.xlsx", **{**published, both: "Q3"})
    bob = answered(payload, "bob", tmp_path / "bob.csv", **{**published, both: "q3", alone: "Q 2"})
    slip = steward.json("read", str(ann), str(bob), code=1)["refused"]
    assert [(entry["found"], entry["do"]) for entry in slip] == [("Q 2", "did you mean Q2?")]
    bob = answered(payload, "bob", tmp_path / "bob.csv", **{**published, both: "q3", alone: "Q2"})
    result = steward.json("read", str(ann), str(bob))
    (pair,) = result["agreement"]["pairs"]
    assert (pair["n"], pair["agree"], pair["by_label"]["Q3"]) == (40, 39, {"Q2": 1, "Q3": 10})
    assert pair["kappa"] == pytest.approx(1 - (1 / 40) / 0.75, abs=1e-3)
    assert result["reviewed"] == 39 and result["to_adjudicate"] == 1
    errors = {error["group"]: (error["errors"], error["n"]) for error in result["errors"] if error["by"] == "label"}
    assert errors == {"Q1": (0, 10), "Q2": (1, 10), "Q3": (0, 9), "Q4": (0, 10)}
    assert result["confusion"]["balanced"]["Q2"] == {"Q2": 9, "Q3": 1}
    text = steward("read")
    assert "Cohen's kappa" in text and "published label by reviewers' label" in text


def test_a_spot_check_shows_label_and_critique_and_is_no_label(
    steward: Steward, bench: Benchmark, tmp_path: Path
) -> None:
    assert steward.error("sheets", "--spot-check", "--rater", "ann")["expected"].endswith(
        "`ontoground steward audit` first"
    )
    flagged = [f"row-{number}" for number in range(9)]
    with RunStore(bench.folder, "audit", "model", {"model": "m"}) as store:
        runs = [
            Run(
                uid=uid,
                phase="audit",
                run=number,
                outcome="answered",
                parsed="Suspicious",
                failure_mode="feature_extraction",
                remark=f"The weight of {uid} is taken from another patient.",
                model="m",
            )
            for uid in flagged
            for number in (1, 2, 3, 4)
        ]
        store.append(runs)
    bench.history.append(
        [Event(uid=uid, role="audit", value="Likely Error", status="likely_error", by="audit") for uid in flagged]
    )
    payload = steward.json("sheets", "--spot-check", "--rater", "ann")
    assert payload["rows"] == 7 and not payload["blind"] and payload["kind"] == "spot_check"
    rows = sheet_rows(Path(payload["sheets"]["ann"]["csv"]))
    assert list(rows[0]) == ["item", "question", "label", "critique", "answer", "comment", "context"]
    uids = {name: item["uid"] for name, item in key_of(payload).items()}
    labels = bench.history.latest("original")
    for row in rows:
        assert row["label"] == labels[uids[row["item"]]].value
        assert (
            row["critique"] == f"feature extraction: The weight of {uids[row['item']]} is taken from another patient."
        )
    read = steward.json("read", str(answered(payload, "ann", tmp_path / "ann.xlsx")))
    assert read["spot_checks_added"] == 7 and read["events_added"] == 0 and read["reviewed"] == 0
    assert read["spot_check"]["verdicts"] == {"agree": 7, "disagree": 0, "unclear": 0}
    assert "agree 100.0% [64.6, 100.0]" in steward("read")


@pytest.mark.parametrize(
    ("arguments", "code", "about"),
    [
        (["sheets"], 2, "no rater is named"),
        (["sheets", "--rater", "a b"], 2, "cannot be the name"),
        (["sheets", "--rater", "ann", "--name", "../x"], 2, "cannot be the name of sheets"),
        (["sheets", "--rater", "ann", "--evidence"], 2, "no evidence to show"),
        (["sheets", "--rater", "ann", "--experts", "none.csv"], 2, "together"),
        (["sheets", "--experts", "none.csv"], 3, "no such table"),
        (["sheets", "--rater", "ann", "--raters-per-row", "2"], 2, "needs more raters"),
        (["sheets", "--rater", "ann", "--adjudicate"], 2, "no row is left to draw"),
        (["read", "none.csv"], 3, "no such sheet"),
        (["read", "a/x.csv", "b/x.csv"], 2, "two sheets have the same name"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_done_is_said(
    steward: Steward, bench: Benchmark, arguments: list[str], code: int, about: str
) -> None:
    assert bench.name == "scores"
    assert about in steward.error(*arguments, code=code)["what"]


def test_sheets_go_to_a_folder_of_choice_and_overwrite_nothing(
    steward: Steward, bench: Benchmark, tmp_path: Path
) -> None:
    given = ("sheets", "--rater", "ann", "--rows", "3", "--out", str(tmp_path / "out"))
    payload = steward.json(*given, "--name", "first")
    assert Path(payload["sheets"]["ann"]["excel"]) == tmp_path / "out" / "first-ann.xlsx"
    assert Path(payload["key"]).is_relative_to(bench.folder)
    Path(payload["key"]).unlink()
    assert "is there already" in steward.error(*given, "--name", "first")["what"]


def test_sheets_need_a_ranked_list(steward: Steward, tmp_path: Path) -> None:
    scores(tmp_path / "work")
    assert "steward triage" in steward.error("sheets", "--rater", "ann", code=3)["do"]


@pytest.mark.real
def test_the_published_sheet_is_adopted_reported_and_blind_again(
    steward: Steward, real_data: Path, tmp_path: Path
) -> None:
    source = real_data / "stewardship" / "source"
    tables = [source / "original_test_labels.csv.gz", source / "y_new_and_sampled_MD_evals.xlsx"]
    steward("adopt", *map(str, tables), "--name", "medcalc")
    steward("triage")
    result = steward.json("read", str(tables[1]))
    assert result["already_adopted"] == [str(tables[1])] and result["reviewed"] == 50 and result["events_added"] == 0
    whole = {
        error["labeller"]: (error["n"] - error["errors"], error["n"])
        for error in result["errors"]
        if error["by"] == "all"
    }
    # The paper: 10 and 37 of 50 agree with the physician.
    assert whole == {"original": (10, 50), "recomputed": (37, 50)}
    payload = steward.json("sheets", "--rater", "ann", "--pick", "top", "--rows", "236")
    assert payload["rows"] == 236 and payload["left_out"] == {"reviewed": 50}
    rows = sheet_rows(Path(payload["sheets"]["ann"]["csv"]))
    bench = Benchmark.open(tmp_path / "work")
    notes = dict(bench.items.select("uid", "context").iter_rows())
    uids = {name: item["uid"] for name, item in key_of(payload).items()}
    for row in rows:
        display = "".join(text for name, text in row.items() if name.startswith("context"))
        assert "".join(display.replace("'", "").split()) == "".join(notes[uids[row["item"]]].replace("'", "").split())
    assert set(rows[0]) - {"item", "question", "answer", "comment"} == {
        "context",
        *(f"context {at}" for at in range(2, 5)),
    }
