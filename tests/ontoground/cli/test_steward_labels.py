"""``ontoground steward rule|release|diff|history``: what they print, what they write, and how they end."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from stewardship.benchmark.folder import Benchmark
from tests.ontoground.cli.conftest import Steward
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
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ONTOGROUND_WORKSPACE", str(tmp_path))
    adopted(tmp_path)
    (tmp_path / "rule.toml").write_text(RULE)
    return tmp_path


def test_a_rule_is_shown_applied_and_taken_back(workspace: Path, steward: Steward) -> None:
    file = str(workspace / "rule.toml")
    display = steward.json("rule", file)
    assert (display["applied"], display["batch"]) == (False, None)
    assert [(item["uid"], item["before"], item["after"]) for item in display["changed"]] == [("8", "504", "372")]
    assert display["agreed"] == {"before": 0, "after": 1}
    applied = steward.json("rule", file, "--apply")
    assert (applied["applied"], applied["batch"]) == (True, "0003")
    steward.error("rule", "--revert", "0003", code=2)
    assert steward.json("rule", "--revert", "0003", "--by", "Dr B", "--why", "no")["was_by"] == "rule methadone (Dr A)"
    assert Benchmark.open(workspace).history.latest("recomputed")["8"].value == "504"


def test_a_rule_for_people_fits_80_columns(workspace: Path, steward: Steward) -> None:
    out = steward("rule", workspace / "rule.toml", "--apply")
    assert "agrees with 1 of 1 physicians' labels; before: 0" in out
    assert "recorded as batch 0003" in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("words", [(), ("rule.toml", "--revert", "0003"), ("--revert", "0003", "--apply")])
def test_a_rule_file_or_a_batch_but_not_both(workspace: Path, steward: Steward, words: tuple[str, ...]) -> None:
    steward("rule", *words, code=2)


def test_releases_are_made_compared_and_checked(workspace: Path, steward: Steward) -> None:
    first = steward.json("release", "--labels", "original", "--limits", "v1")
    assert (first["version"], first["written"], first["change"]) == ("1.0.0", True, None)
    finalised(Benchmark.open(workspace))
    planned = steward.json("release", "--dry-run")
    assert (planned["version"], planned["written"], planned["folder"]) == ("1.1.0", False, None)
    assert "1.1.0" in steward("release", "--version", "1.0.1", code=2)
    second = steward.json("release", "--licence", "CC BY-SA 4.0")
    assert second["changes"] == planned["changes"]
    assert Path(second["folder"], "SHA256SUMS").is_file()
    assert steward.json("release")["new"] is False

    table = workspace / "changes.csv"
    diff = steward.json("diff", "--csv", table)
    assert (diff["before"]["name"], diff["after"]["name"], diff["grade"]) == ("1.0.0", "1.1.0", "minor")
    # Rows 3 and 7 are whole numbers: exact by the limits of v1.0, 5% by the corrected ones.
    assert diff["counts"] == {"number to number": 3, "limits": 2, "date to date": 1, "number to N/A": 1}
    assert {change["uid"] for change in diff["changes"] if change["change"] == "limits"} == {"3", "7"}
    assert {change["uid"] for change in diff["changes"] if " to " in change["change"]} == {"1", "2", "5", "6", "8"}
    assert pl.read_csv(table, infer_schema=False)["uid"].to_list() == [change["uid"] for change in diff["changes"]]

    whole = steward.json("release", "--check")
    assert [item["version"] for item in whole["checked"]] == ["1.0.0", "1.1.0"]
    labels = Path(first["folder"], "labels.csv")
    labels.chmod(0o644)
    labels.write_text(labels.read_text().replace("24.5", "42.5"))
    altered = steward.json("release", "--check", code=1)["altered"]
    assert [(item["of"], item["file"]) for item in altered] == [("1.0.0", str(labels))]


def test_a_rule_goes_through_finalise_into_a_release_and_out_again(workspace: Path, steward: Steward) -> None:
    def released() -> str | None:
        steward("finalise")
        result = steward.json("release")
        labels = pl.read_parquet(Path(result["folder"], "labels.parquet"))
        ruled = any("methadone" in line for line in result["caveats"])
        return f"{result['version']} {labels.filter(uid='8')['label'].item()} {ruled}"

    assert released() == "1.0.0 504 False"
    steward("rule", workspace / "rule.toml", "--apply")
    assert "older than their evidence" in steward("release", code=2)
    assert released() == "1.1.0 372 True"
    steward("rule", "--revert", "0004", "--by", "Dr B", "--why", "the older guideline holds")
    steward("release", code=2)
    assert released() == "1.2.0 504 False"
    steward("release", "--check")


def test_roles_and_tables_can_be_compared(workspace: Path, steward: Steward) -> None:
    assert steward.json("diff", "original", workspace / "given" / "labels.csv")["counts"] == {}
    out = steward("diff", "original", "recomputed")
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
    workspace: Path, steward: Steward, words: tuple[str, ...], code: int, message: str
) -> None:
    assert message in steward("diff", *words, code=code)


def test_the_history_of_a_row_says_who_when_why_and_from_what(workspace: Path, steward: Steward) -> None:
    steward("rule", workspace / "rule.toml", "--apply")
    finalised(Benchmark.open(workspace))
    steward("rule", "--revert", "0003", "--by", "Dr B", "--why", "the older guideline holds")
    result = steward.json("history", "8")
    assert result["holds"] == {"original": "372", "recomputed": "504", "final": "372"}
    assert [item["taken_back_by"] for item in result["history"]] == [None, None, "0005", None, None]
    out = steward("history", "8")
    assert max(map(len, out.splitlines())) <= 80
    for answer in ("rule methadone (Dr A)", "TAKEN BACK", "Dr B", "504"):
        assert answer in out
    batches = steward.json("history")["batches"]
    assert [(batch["name"], batch["holds"], batch["reverts"]) for batch in batches[2:]] == [
        ("0003", False, None),
        ("0004", True, None),
        ("0005", True, "0003"),
    ]
    steward("history", "no-such-row", code=3)


def test_an_altered_history_is_named_by_its_line(workspace: Path, steward: Steward) -> None:
    file = workspace / "stewardship" / "bench" / "history.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    lines[3] = lines[3].replace("24.5", "42.5")
    file.write_text("".join(lines))
    error = steward.error("history", "4", code=3)
    assert (error["file"], error["line"]) == (str(file), 4)
    payload = steward.json("release", "--check", code=1)
    assert (payload["events"], payload["altered"][0]["line"]) == (None, 4)
