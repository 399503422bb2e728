"""`ontoground sql`: read-only, shut off from files and network, in four formats."""

from __future__ import annotations

import json
import os
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ontoground
from ground.contracts.dictionary import columns_of, described_tables
from ground.storage.files import private_directory
from ground.storage.sqlfiles import sql_names
from ground.storage.warehouse import connect
from ground.storage.workspace import Workspace
from ontoground.cli.main import invoke
from ontoground.views.query import values_of
from tests.ontoground.cli.schemas import checked
from tests.ontoground.conftest import Demo

ORDERED = "select range as n, 'a' || range as name from range(3) order by n desc"


@pytest.fixture
def ask(empty_workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ONTOGROUND_WORKSPACE", str(empty_workspace))
    return empty_workspace


def test_every_column_of_the_tables_made_here_has_a_meaning(demo: Demo) -> None:
    query = "select table_name, column_name from information_schema.columns where table_schema = 'ground' order by all"
    rows = ontoground.open(demo.workspace).sql(query).pl().rows()
    for table, column in rows:
        name = f"ground.{table}" if f"ground.{table}" in described_tables() else table
        assert column in columns_of(name), f"{table}.{column} is not in columns.tsv"
    known = {(table, column) for table in described_tables() for column in columns_of(table)}
    assert {(f"ground.{table}", column) for table, column in rows} >= {one for one in known if one[0][:7] == "ground."}


@pytest.mark.usefixtures("ask")
def test_a_filter_that_keeps_nothing_tells_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["sql", "-c", ORDERED]) == 0
    assert "never" not in capsys.readouterr().err
    many = "select 'v' || lpad(range::varchar, 2, '0') as name, 1 as n from range(11)"
    assert values_of(duckdb.connect(), None, many, ["name=other", "n=1"]) == [
        "name is never other; it is v00, v01, v02, v03, v04, v05, v06, v07, v08, v09, ..."
    ]
    assert invoke(["sql", "loads", "source=nowhere"]) == 0
    assert "source is never nowhere" in capsys.readouterr().err


@pytest.mark.usefixtures("ask")
def test_csv_and_json_go_to_standard_output(capfd: pytest.CaptureFixture[str]) -> None:
    assert invoke(["sql", "-c", ORDERED, "--format", "csv"]) == 0
    assert capfd.readouterr().out == "n,name\n2,a2\n1,a1\n0,a0\n"
    assert invoke(["sql", "-c", ORDERED, "--format", "json"]) == 0
    assert json.loads(capfd.readouterr().out)[0] == {"n": 2, "name": "a2"}


@pytest.mark.usefixtures("ask")
def test_parquet_goes_to_a_file_that_only_its_owner_reads(tmp_path: Path) -> None:
    target = tmp_path / "rows.parquet"
    assert invoke(["sql", "-c", ORDERED, "--format", "parquet", "--output", str(target)]) == 0
    assert pq.read_table(target)["n"].to_pylist() == [2, 1, 0]
    assert target.stat().st_mode & 0o077 == 0
    assert [path.name for path in tmp_path.glob("*.part")] == []


@pytest.mark.usefixtures("ask")
def test_a_failed_query_leaves_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "rows.csv"
    assert invoke(["sql", "-c", "select * from nothing.here", "--format", "csv", "-o", str(target)]) == 2
    assert list(tmp_path.glob("*rows*")) == []
    assert "ontoground status" in capsys.readouterr().err


@pytest.mark.usefixtures("ask")
def test_a_table_is_cut_at_the_limit_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["sql", "-c", "select range as n from range(250)"]) == 0
    printed = capsys.readouterr().out
    assert "the first 100 rows" in printed
    assert invoke(["sql", "-c", "select range as n from range(250)", "--json", "--limit", "0"]) == 0
    assert len(checked(capsys.readouterr().out, "sql")["rows"]) == 250


def test_named_queries_are_listed_with_their_titles(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["sql", "--json"]) == 0
    listed = checked(capsys.readouterr().out, "sql")["queries"]
    assert [f"ontoground/queries/{one['name']}" for one in listed] == sql_names("ontoground/queries")
    assert all(one["title"] for one in listed)


def _dataset(workspace: Path, name: str) -> Path:
    folder = workspace / "datasets" / name
    (folder / "data").mkdir(parents=True)
    pq.write_table(pa.table({"a": [1, 2]}), folder / "data" / "train-0.parquet")
    return folder


def test_a_folders_name_is_a_name_and_no_sql(
    ask: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = "x\" as select 1; copy (select 42) to 'out.csv'; --"
    _dataset(ask, name)
    quoted = '"' + name.replace('"', '""') + '"'
    assert invoke(["sql", "-c", f"select sum(a) as n from {quoted}", "--format", "csv"]) == 0
    assert capfd.readouterr().out == "n\n3\n"
    assert not list(tmp_path.rglob("out.csv"))


def test_an_answer_to_a_file_opens_no_folder_for_reading(
    ask: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "secret.txt").write_text("word")
    (ask / "ontoground.toml").write_text("# word")
    for file in (tmp_path / "secret.txt", ask / "ontoground.toml"):
        query = f"select content from read_text('{file}')"
        assert invoke(["sql", "-c", query, "--format", "csv", "-o", str(tmp_path / "answer.csv")]) == 2
        assert invoke(["sql", "-c", query]) == 2
    assert "word" not in capsys.readouterr().out and not (tmp_path / "answer.csv").exists()


def test_a_broken_file_of_a_dataset_is_named_and_blocks_no_other_query(
    ask: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = _dataset(ask, "medieval")
    (folder / "statements.parquet").write_bytes(b"PAR1 broken")
    assert invoke(["sql", "-c", "select count(*) as n from medieval"]) == 0
    assert "statements.parquet cannot be read" in capsys.readouterr().err


def test_the_answer_of_a_named_query_is_filtered(demo: Demo, capsys: pytest.CaptureFixture[str]) -> None:
    place = ["--workspace", str(demo.workspace)]
    assert invoke(["sql", "mentions_by_assertion", "--json", *place]) == 0
    whole = json.loads(capsys.readouterr().out)
    assert invoke(["sql", "mentions_by_assertion", "assertion=absent", "--json", *place]) == 0
    payload = json.loads(capsys.readouterr().out)
    at = whole["columns"].index("assertion")
    assert payload["rows"] == [row for row in whole["rows"] if row[at] == "absent"] != []
    assert invoke(["sql", "mentions_by_assertion", "assertion=o'hara", "--json", *place]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == []


def test_the_sql_of_a_query_is_shown_and_its_rows_as_markdown(demo: Demo, capsys: pytest.CaptureFixture[str]) -> None:
    place = ["--workspace", str(demo.workspace)]
    assert invoke(["sql", "loads", "--show-sql", *place]) == 0
    assert "ground.load" in capsys.readouterr().out
    assert invoke(["sql", "loads", "--show-sql", "--json", *place]) == 0
    assert "ground.load" in checked(capsys.readouterr().out, "sql")["sql"]
    assert invoke(["sql", "-c", "select 'a|b' as x, null as y", "--format", "markdown", *place]) == 0
    assert capsys.readouterr().out == "| x | y |\n| --- | --- |\n| a\\|b |  |\n"


def test_a_device_or_a_pipe_is_not_replaced_by_a_file(demo: Demo, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    arguments = ["sql", "loads", "--format", "csv", "--output", str(pipe), "--workspace", str(demo.workspace)]
    assert invoke(arguments) == 3
    assert pipe.is_fifo()


def test_a_workspace_whose_name_reads_as_a_pattern_shows_its_own_rows(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for name, mine in (("work[1]", 1), ("work1", 0)):
        workspace = Workspace.create(tmp_path / name)
        connect(workspace.warehouse).close()
        data = private_directory(workspace.dataset("medieval") / "data")
        pq.write_table(pa.table({"mine": [mine]}), data / "train-00000-of-00001.parquet")
    query = "select mine from medieval"
    assert invoke(["sql", "-c", query, "--format", "csv", "--workspace", str(tmp_path / "work[1]")]) == 0
    assert capfd.readouterr().out == "mine\n1\n"


def test_an_answer_takes_the_place_of_no_part_of_the_workspace(ask: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (ask / "warehouse.duckdb").read_bytes()
    for name in ("warehouse.duckdb", "ontoground.toml"):
        assert invoke(["sql", "-c", ORDERED, "--format", "csv", "--output", str(ask / name)]) == 2
        assert "part of the workspace" in capsys.readouterr().err
    assert (ask / "warehouse.duckdb").read_bytes() == before
    assert not (ask / "ontoground.toml").exists()


@pytest.mark.usefixtures("ask")
def test_an_answer_does_not_replace_what_it_is_made_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    note = tmp_path / "note.txt"
    note.write_text("Denies chest pain.", encoding="utf-8")
    assert invoke(["notes", "read", str(note), "--html", str(note)]) == 2
    assert "its own input" in capsys.readouterr().err
    assert note.read_text(encoding="utf-8") == "Denies chest pain."


@pytest.mark.usefixtures("ask")
def test_a_number_that_json_does_not_have_is_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["sql", "--json", "-c", "select 'inf'::double as a, ['nan'::double, 1.5] as b"]) == 0

    def refuse(name: str) -> None:
        raise AssertionError(name)

    payload = json.loads(capsys.readouterr().out, parse_constant=refuse)
    assert payload["rows"] == [["inf", ["nan", 1.5]]]


@pytest.mark.usefixtures("ask")
@pytest.mark.parametrize("form", ["table", "markdown"])
def test_a_terminal_is_told_nothing_by_a_row(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    query = "select chr(27) || '[31mred' || chr(8238) as \"a\x1b]0;b\x07\""
    assert invoke(["sql", "-c", query, "--format", form]) == 0
    out = capsys.readouterr().out
    assert "[31mred" in out
    assert not {"\x1b", "\x07", "\u202e"} & set(out)


@pytest.mark.usefixtures("ask")
def test_nothing_in_a_row_of_markdown_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["sql", "-c", "select '[x](javascript:y) <img src=z>' as a", "--format", "markdown"]) == 0
    out = capsys.readouterr().out
    assert "](javascript" not in out and "<img" not in out
