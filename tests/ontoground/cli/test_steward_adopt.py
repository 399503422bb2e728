"""``ontoground steward adopt``: tables of labels become a benchmark, once, and what does not fit is refused."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ontoground.cli.main import invoke
from stewardship.benchmark.roles import ROLES
from tests.ontoground.cli.schemas import checked
from tests.stewardship.labelled import ROWS, tables


def adopt(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str]:
    code = invoke(["steward", "adopt", *map(str, arguments), "--json"])
    return code, capsys.readouterr().out


def error(printed: str) -> dict[str, Any]:
    return checked(printed, "error")["error"]  # type: ignore[no-any-return]


def test_the_labels_of_all_tables_are_taken_up_by_whose_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    published, sheet = tables(tmp_path)
    code, printed = adopt(capsys, published, sheet, "--name", "invented", "--workspace", tmp_path / "work")
    payload = checked(printed, "steward-adopt")
    recomputed = sum(row[6] is not None for row in ROWS)
    physician = sum(row[7] is not None for row in ROWS)
    assert (code, payload["benchmark"], payload["rows"]) == (0, "invented", len(ROWS))
    assert payload["labels"] == {
        "original": len(ROWS), "recomputed": recomputed, "physician": physician, "final": 0,
    }  # fmt: skip
    assert [file["layout"] for file in payload["files"]] == ["medcalc_v1_uid", "phase3"]


def test_a_person_sees_what_was_taken_up_and_where(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    published, _ = tables(tmp_path)
    work = tmp_path / "work"
    assert invoke(["steward", "adopt", str(published), "--workspace", str(work)]) == 0
    answer = capsys.readouterr().out
    assert (
        f"benchmark labels: {len(ROWS)} rows, credentialed" in answer and str(work / "stewardship" / "labels") in answer
    )
    assert "SECRET" not in answer


def test_labels_that_cannot_be_used_are_named_and_not_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
    code, printed = adopt(capsys, published, sheet, "--workspace", work)
    results = {item["uid"]: (item["role"], item["why"]) for item in checked(printed, "steward-adopt")["doubtful"]}
    assert (code, sorted(results)) == (0, ["1", "4", "9"])
    assert results["1"] == results["9"] == ("physician", "cannot be read, and counts as no label")
    assert "date" in results["4"][1]
    assert invoke(["steward", "adopt", str(published), str(sheet), "--name", "again", "--workspace", str(work)]) == 0
    display = capsys.readouterr().out
    assert "1 (physician), 9 (physician)" in display and "4,4" not in display
    assert invoke(["steward", "finalise", "--benchmark", "again", "--workspace", str(work)]) == 0
    assert "the reviewer's label cannot be read" in capsys.readouterr().out


def test_a_name_is_taken_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    published, _ = tables(tmp_path)
    assert adopt(capsys, published, "--workspace", tmp_path / "work")[0] == 0
    code, printed = adopt(capsys, published, "--workspace", tmp_path / "work")
    assert code == 2 and "there already" in error(printed)["what"]


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
    arguments: list[str], code: int, lines: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "mine.csv"
    with table.open("w", newline="") as file:
        csv.writer(file).writerows([["id", "answer"], ["a", "1"]])
    given = [argument.format(table=table, folder=tmp_path) for argument in arguments]
    result, printed = adopt(capsys, *given, "--workspace", tmp_path / "work")
    failure = error(printed)
    assert result == code and (lines is None or lines in " ".join(str(value) for value in failure.values()))
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize("names", ["ABCD", ("yes", "no")])
def test_labels_that_are_names_are_taken_and_recomputed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], names: Sequence[str]
) -> None:
    labels = {str(row): names[row % len(names)] for row in range(60)}
    table, runs, work = tmp_path / "exam.csv", tmp_path / "runs.csv", tmp_path / "work"
    table.write_text("id,gold\n" + "".join(f"{uid},{label}\n" for uid, label in labels.items()))
    answers = "".join(f"{uid}{f',{label.lower()}' * 5}\n" for uid, label in labels.items())
    runs.write_text("uid,run1,run2,run3,run4,run5\n" + answers)
    given: list[str | Path] = [table, "--column", "uid=id", "--column", "label=gold", "--workspace", work]
    code, printed = adopt(capsys, *given)
    assert code == 2 and f"{names[0]} ({60 // len(names)})" in error(printed)["found"]
    assert not (work / "stewardship").exists()  # nothing is left of what was refused
    code, printed = adopt(capsys, *given, "--categories", "found")
    assert code == 0 and checked(printed, "steward-adopt")["categories"] == sorted(names)
    assert invoke(["steward", "recompute", "--answers", str(runs), "--workspace", str(work), "--json"]) == 0
    summary = checked(capsys.readouterr().out, "steward-recompute")["summary"]
    assert (summary["high"], summary["deferred"]) == (60, 0)


def test_a_table_of_which_no_label_is_taken_up_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "exam.csv"
    table.write_text("id,gold\n1,5\n")
    given = ["steward", "adopt", str(table), "--column", "uid=id", "--workspace", str(tmp_path / "work")]
    assert invoke(given) == 0 and "no label was taken up" in capsys.readouterr().out
    assert invoke([*given, "--column", "label=gold", "--name", "labelled"]) == 0
    assert "no label was taken up" not in capsys.readouterr().out


def test_codes_of_categories_agree_only_where_they_are_equal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, work = tmp_path / "codes.csv", tmp_path / "work"
    table.write_text("id,gold,md\n" + "".join(f"{row},{row % 2},{(row + (row < 5)) % 2}\n" for row in range(20)))
    given: list[str | Path] = [table, "--column", "uid=id", "--column", "label=gold", "--column", "physician=md"]
    for name, more in (("codes", []), ("names", ["--categories", "0,1"])):
        assert adopt(capsys, *given, "--name", name, *more, "--workspace", work)[0] == 0
        assert invoke(["steward", "read", "--benchmark", name, "--workspace", str(work), "--json"]) == 0
        errors = checked(capsys.readouterr().out, "steward-read")["errors"]
        assert [(item["errors"], item["n"]) for item in errors if item["by"] == "all"] == [(5, 20)]
    assert invoke(["steward", "adopt", *map(str, given), "--name", "shown", "--workspace", str(work)]) == 0
    assert "--categories 0,1" in capsys.readouterr().out


def test_the_roles_of_columns_are_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["steward", "adopt", "--help"]) == 0
    answer = " ".join(capsys.readouterr().out.split())
    assert f"Roles: {', '.join(ROLES)}" in answer


def test_a_table_of_no_rows_and_one_that_fails_halfway_leave_no_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    work = tmp_path / "work"
    (tmp_path / "none.csv").write_text("id,gold\n")
    named: list[str | Path] = ["--column", "uid=id", "--column", "label=gold", "--name", "mine", "--workspace", work]
    code, printed = adopt(capsys, tmp_path / "none.csv", *named)
    assert code == 3 and error(printed)["what"] == "the table has no rows"
    published, _ = tables(tmp_path)
    other = published.read_text().replace(f",{ROWS[0][5]},", ",9876,")
    assert other != published.read_text()
    (tmp_path / "other.csv").write_text(other)
    assert adopt(capsys, published, tmp_path / "other.csv", "--name", "mine", "--workspace", work)[0] == 3
    assert adopt(capsys, published, "--name", "mine", "--workspace", work)[0] == 0


def test_what_is_to_be_done_names_the_verb_that_can(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "odd.csv"
    table.write_text("a,b\n1,2\n")
    assert invoke(["steward", "calculators", "--table", str(table), "--json"]) == 3
    assert "`ontoground steward adopt TABLE --column" in error(capsys.readouterr().out)["do"]
