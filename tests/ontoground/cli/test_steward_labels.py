"""``ontoground steward rule|release|diff|history``: what they print, what they write, and how they end."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from ontoground.cli.main import invoke
from stewardship.benchmark.folder import Benchmark
from tests.ontoground.cli.schemas import checked
from tests.stewardship.labelled import adopted, finalised

RULE = """
name = "methadone"
by = "Dr A"
why = "methadone was multiplied by 12 at every dose"
evidence = ["9"]
[rows]
strata = ["49"]
[do]
take = "original"
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    adopted(tmp_path)
    (tmp_path / "rule.toml").write_text(RULE)
    return tmp_path


def run(workspace: Path, *words: str) -> int:
    return invoke(["steward", *words, "--workspace", str(workspace)])


def test_a_rule_is_shown_applied_and_taken_back(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(workspace / "rule.toml")
    assert run(workspace, "rule", file, "--json") == 0
    display = checked(capsys.readouterr().out, "steward-rule")
    assert (display["applied"], display["batch"]) == (False, None)
    assert [(item["uid"], item["before"], item["after"]) for item in display["changed"]] == [("8", "504", "372")]
    assert display["agreed"] == {"before": 0, "after": 1}
    assert run(workspace, "rule", file, "--apply", "--json") == 0
    applied = checked(capsys.readouterr().out, "steward-rule")
    assert (applied["applied"], applied["batch"]) == (True, "0003")
    assert run(workspace, "rule", "--revert", "0003", "--json") == 2, "who and why are asked for"
    checked(capsys.readouterr().out, "error")
    assert run(workspace, "rule", "--revert", "0003", "--by", "Dr B", "--why", "no", "--json") == 0
    assert checked(capsys.readouterr().out, "steward-rule")["was_by"] == "rule methadone (Dr A)"
    assert Benchmark.open(workspace).history.latest("recomputed")["8"].value == "504"


def test_a_rule_for_people_fits_80_columns(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(workspace, "rule", str(workspace / "rule.toml"), "--apply") == 0
    out = capsys.readouterr().out
    assert "agrees with 1 of 1 physicians' labels; before: 0" in out
    assert "recorded as batch 0003" in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("words", [(), ("rule.toml", "--revert", "0003"), ("--revert", "0003", "--apply")])
def test_a_rule_file_or_a_batch_but_not_both(workspace: Path, words: tuple[str, ...]) -> None:
    assert run(workspace, "rule", *words) == 2


def test_releases_are_made_compared_and_checked(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(workspace, "release", "--labels", "original", "--limits", "v1", "--json") == 0
    first = checked(capsys.readouterr().out, "steward-release")
    assert (first["version"], first["written"], first["change"]) == ("1.0.0", True, None)
    finalised(Benchmark.open(workspace))
    assert run(workspace, "release", "--dry-run", "--json") == 0
    planned = checked(capsys.readouterr().out, "steward-release")
    assert (planned["version"], planned["written"], planned["folder"]) == ("1.1.0", False, None)
    assert run(workspace, "release", "--version", "1.0.1") == 2
    assert "1.1.0" in capsys.readouterr().err
    assert run(workspace, "release", "--licence", "CC BY-SA 4.0", "--json") == 0
    second = checked(capsys.readouterr().out, "steward-release")
    assert second["changes"] == planned["changes"]
    assert Path(second["folder"], "SHA256SUMS").is_file()
    assert run(workspace, "release", "--json") == 0
    assert checked(capsys.readouterr().out, "steward-release")["new"] is False

    table = workspace / "changes.csv"
    assert run(workspace, "diff", "--csv", str(table), "--json") == 0
    diff = checked(capsys.readouterr().out, "steward-diff")
    assert (diff["before"]["name"], diff["after"]["name"], diff["grade"]) == ("1.0.0", "1.1.0", "minor")
    # Rows 3 and 7 are whole numbers: exact by the limits of v1.0, 5% by the corrected ones.
    assert diff["counts"] == {"number to number": 3, "limits": 2, "date to date": 1, "number to N/A": 1}
    assert {change["uid"] for change in diff["changes"] if change["change"] == "limits"} == {"3", "7"}
    assert {change["uid"] for change in diff["changes"] if " to " in change["change"]} == {"1", "2", "5", "6", "8"}
    assert pl.read_csv(table, infer_schema=False)["uid"].to_list() == [change["uid"] for change in diff["changes"]]

    assert run(workspace, "release", "--check", "--json") == 0
    whole = checked(capsys.readouterr().out, "steward-release")
    assert [item["version"] for item in whole["checked"]] == ["1.0.0", "1.1.0"]
    labels = Path(first["folder"], "labels.csv")
    labels.chmod(0o644)
    labels.write_text(labels.read_text().replace("24.5", "42.5"))
    assert run(workspace, "release", "--check", "--json") == 1
    altered = checked(capsys.readouterr().out, "steward-release")["altered"]
    assert [(item["of"], item["file"]) for item in altered] == [("1.0.0", str(labels))]


def test_a_rule_goes_through_finalise_into_a_release_and_out_again(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def released() -> str | None:
        assert run(workspace, "finalise") == 0
        capsys.readouterr()
        assert run(workspace, "release", "--json") == 0
        result = checked(capsys.readouterr().out, "steward-release")
        labels = pl.read_parquet(Path(result["folder"], "labels.parquet"))
        ruled = any("methadone" in line for line in result["caveats"])
        return f"{result['version']} {labels.filter(uid='8')['label'].item()} {ruled}"

    assert released() == "1.0.0 504 False"
    assert run(workspace, "rule", str(workspace / "rule.toml"), "--apply") == 0
    assert run(workspace, "release") == 2
    assert "older than their evidence" in capsys.readouterr().err
    assert released() == "1.1.0 372 True"
    assert run(workspace, "rule", "--revert", "0004", "--by", "Dr B", "--why", "the older guideline holds") == 0
    assert run(workspace, "release") == 2
    assert released() == "1.2.0 504 False"
    assert run(workspace, "release", "--check") == 0


def test_roles_and_tables_can_be_compared(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(workspace, "diff", "original", str(workspace / "given" / "labels.csv"), "--json") == 0
    assert checked(capsys.readouterr().out, "steward-diff")["counts"] == {}
    assert run(workspace, "diff", "original", "recomputed") == 0
    out = capsys.readouterr().out
    assert "9 rows before, 8 after: 0 added, 1 removed." in out
    assert "1 row: N/A instead of a number." in out


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ((), 3, "no two releases"),
        (("original",), 2, "one side"),
        (("original", "nothing"), 2, "nothing with this name can be compared"),
        (("original", "1.0.0"), 3, "no release yet"),
        (("original", "final"), 3, "no row has a label of role final"),
    ],
)
def test_what_cannot_be_compared_is_named(
    workspace: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], code: int, message: str
) -> None:
    assert run(workspace, "diff", *words) == code
    assert message in capsys.readouterr().err


def test_the_history_of_a_row_says_who_when_why_and_from_what(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(workspace, "rule", str(workspace / "rule.toml"), "--apply") == 0
    finalised(Benchmark.open(workspace))
    assert run(workspace, "rule", "--revert", "0003", "--by", "Dr B", "--why", "the older guideline holds") == 0
    capsys.readouterr()
    assert run(workspace, "history", "8", "--json") == 0
    result = checked(capsys.readouterr().out, "steward-history")
    assert result["holds"] == {"original": "372", "recomputed": "504", "final": "372"}
    assert [item["taken_back_by"] for item in result["history"]] == [None, None, "0005", None, None]
    assert run(workspace, "history", "8") == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    for answer in ("rule methadone (Dr A)", "TAKEN BACK", "Dr B", "504"):
        assert answer in out
    assert run(workspace, "history", "--json") == 0
    batches = checked(capsys.readouterr().out, "steward-history")["batches"]
    assert [(batch["name"], batch["holds"], batch["reverts"]) for batch in batches[2:]] == [
        ("0003", False, None),
        ("0004", True, None),
        ("0005", True, "0003"),
    ]
    assert run(workspace, "history", "no-such-row") == 3


def test_an_altered_history_is_named_by_its_line(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = workspace / "stewardship" / "bench" / "history.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    lines[3] = lines[3].replace("24.5", "42.5")
    file.write_text("".join(lines))
    assert run(workspace, "history", "4", "--json") == 3
    error = checked(capsys.readouterr().out, "error")["error"]
    assert (error["file"], error["line"]) == (str(file), 4)
    assert run(workspace, "release", "--check", "--json") == 1
    payload = checked(capsys.readouterr().out, "steward-release")
    assert (payload["events"], payload["altered"][0]["line"]) == (None, 4)
