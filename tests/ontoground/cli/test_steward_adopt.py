"""``ontoground steward adopt``: tables of labels become a benchmark, once, and what does not fit is refused."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import pytest

from stewardship.benchmark.roles import ROLES
from tests.ontoground.cli.conftest import Steward
from tests.stewardship.labelled import ROWS, tables


def test_the_labels_of_all_tables_are_taken_up_by_whose_they_are(tmp_path: Path, steward: Steward) -> None:
    published, sheet = tables(tmp_path)
    payload = steward.json("adopt", published, sheet, "--name", "invented", "--workspace", tmp_path / "work")
    recomputed = sum(row[6] is not None for row in ROWS)
    physician = sum(row[7] is not None for row in ROWS)
    assert (payload["benchmark"], payload["rows"]) == ("invented", len(ROWS))
    assert payload["labels"] == {
        "original": len(ROWS), "recomputed": recomputed, "physician": physician, "final": 0,
    }  # fmt: skip
    assert [file["layout"] for file in payload["files"]] == ["medcalc_v1_uid", "phase3"]


def test_a_person_sees_what_was_taken_up_and_where(tmp_path: Path, steward: Steward) -> None:
    published, _ = tables(tmp_path)
    work = tmp_path / "work"
    answer = steward("adopt", published, "--workspace", work)
    assert (
        f"benchmark labels: {len(ROWS)} rows, credentialed" in answer and str(work / "stewardship" / "labels") in answer
    )
    assert "SECRET" not in answer


def test_labels_that_cannot_be_used_are_named_and_not_shown(tmp_path: Path, steward: Steward) -> None:
    published, sheet = tables(tmp_path)
    with sheet.open() as lines:
        rows = list(csv.DictReader(lines))
    for row in rows:  # invented: two answers, an ambiguous comma, a date beside a number
        answer = {"1": "4, 4", "9": "4,4", "4": "03/21/2006"}.get(row["uid"], "")
        row["y* (Physician label)"] = answer
    with sheet.open("w") as lines:
        writer = csv.DictWriter(lines, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    work = tmp_path / "work"
    doubtful = steward.json("adopt", published, sheet, "--workspace", work)["doubtful"]
    results = {item["uid"]: (item["role"], item["why"]) for item in doubtful}
    assert sorted(results) == ["1", "4", "9"]
    assert results["1"] == results["9"] == ("physician", "cannot be read, and counts as no label")
    assert "date" in results["4"][1]
    display = steward("adopt", published, sheet, "--name", "again", "--workspace", work)
    assert "1 (physician), 9 (physician)" in display and "4,4" not in display
    assert "the reviewer's label cannot be read" in steward("finalise", "--benchmark", "again", "--workspace", work)


def test_a_name_is_taken_once(tmp_path: Path, steward: Steward) -> None:
    published, _ = tables(tmp_path)
    arguments = ("adopt", published, "--workspace", tmp_path / "work")
    steward(*arguments)
    assert "there already" in steward.error(*arguments)["what"]


@pytest.mark.parametrize(
    ("arguments", "code", "lines"),
    [
        (["{table}", "--column", "uid"], 2, "ROLE=NAME"),
        (["{table}", "--column", "key=id", "--column", "uid=id"], 2, "uid"),
        (["{table}", "--layout", "nonsense"], 2, "medcalc_v1"),
        (["{table}", "--column", "uid=id", "--column", "label=gold"], 3, "gold"),
        (["{table}"], 3, "--column ROLE=NAME"),
        (["{table}", "--rows", "3", "--column", "uid=id"], 2, None),
        (["{folder}", "{table}"], 2, "no further table"),
        (["missing.csv"], 3, None),
    ],
)
def test_what_does_not_fit_is_refused(
    arguments: list[str], code: int, lines: str | None, tmp_path: Path, steward: Steward
) -> None:
    table = tmp_path / "mine.csv"
    with table.open("w", newline="") as file:
        csv.writer(file).writerows([["id", "answer"], ["a", "1"]])
    given = [argument.format(table=table, folder=tmp_path) for argument in arguments]
    failure = steward.error("adopt", *given, "--workspace", tmp_path / "work", code=code)
    assert lines is None or lines in " ".join(str(value) for value in failure.values())
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize("names", ["ABCD", ("yes", "no")])
def test_labels_that_are_names_are_taken_and_recomputed(tmp_path: Path, steward: Steward, names: Sequence[str]) -> None:
    labels = {str(row): names[row % len(names)] for row in range(60)}
    table, runs, work = tmp_path / "exam.csv", tmp_path / "runs.csv", tmp_path / "work"
    table.write_text("id,gold\n" + "".join(f"{uid},{label}\n" for uid, label in labels.items()))
    answers = "".join(f"{uid}{f',{label.lower()}' * 5}\n" for uid, label in labels.items())
    runs.write_text("uid,run1,run2,run3,run4,run5\n" + answers)
    given: list[str | Path] = [table, "--column", "uid=id", "--column", "label=gold", "--workspace", work]
    assert f"{names[0]} ({60 // len(names)})" in steward.error("adopt", *given)["found"]
    assert not (work / "stewardship").exists()  # nothing is left of what was refused
    assert steward.json("adopt", *given, "--categories", "found")["categories"] == sorted(names)
    summary = steward.json("recompute", "--answers", runs, "--workspace", work)["summary"]
    assert (summary["high"], summary["deferred"]) == (60, 0)


def test_a_table_of_which_no_label_is_taken_up_is_told(tmp_path: Path, steward: Steward) -> None:
    table = tmp_path / "exam.csv"
    table.write_text("id,gold\n1,5\n")
    given = ("adopt", table, "--column", "uid=id", "--workspace", tmp_path / "work")
    assert "no label was taken up" in steward(*given)
    assert "no label was taken up" not in steward(*given, "--column", "label=gold", "--name", "labelled")


def test_codes_of_categories_agree_only_where_they_are_equal(tmp_path: Path, steward: Steward) -> None:
    table, work = tmp_path / "codes.csv", tmp_path / "work"
    table.write_text("id,gold,md\n" + "".join(f"{row},{row % 2},{(row + (row < 5)) % 2}\n" for row in range(20)))
    given: list[str | Path] = [table, "--column", "uid=id", "--column", "label=gold", "--column", "physician=md"]
    for name, more in (("codes", []), ("names", ["--categories", "0,1"])):
        steward("adopt", *given, "--name", name, *more, "--workspace", work)
        errors = steward.json("read", "--benchmark", name, "--workspace", work)["errors"]
        assert [(item["errors"], item["n"]) for item in errors if item["by"] == "all"] == [(5, 20)]
    assert "--categories 0,1" in steward("adopt", *map(str, given), "--name", "shown", "--workspace", work)


def test_the_roles_of_columns_are_in_the_help(steward: Steward) -> None:
    answer = " ".join(steward("adopt", "--help").split())
    assert f"Roles: {', '.join(ROLES)}" in answer


def test_a_table_of_no_rows_and_one_that_fails_halfway_leave_no_name(tmp_path: Path, steward: Steward) -> None:
    work = tmp_path / "work"
    (tmp_path / "none.csv").write_text("id,gold\n")
    named: list[str | Path] = ["--column", "uid=id", "--column", "label=gold", "--name", "mine", "--workspace", work]
    assert steward.error("adopt", tmp_path / "none.csv", *named, code=3)["what"] == "the table has no rows"
    published, _ = tables(tmp_path)
    other = published.read_text().replace(f",{ROWS[0][5]},", ",9876,")
    assert other != published.read_text()
    (tmp_path / "other.csv").write_text(other)
    steward("adopt", published, tmp_path / "other.csv", "--name", "mine", "--workspace", work, code=3)
    steward("adopt", published, "--name", "mine", "--workspace", work)


def test_what_is_to_be_done_names_the_verb_that_can(tmp_path: Path, steward: Steward) -> None:
    table = tmp_path / "odd.csv"
    table.write_text("a,b\n1,2\n")
    assert "`ontoground steward adopt TABLE --column" in steward.error("calculators", "--table", table, code=3)["do"]
