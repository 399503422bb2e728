"""The one reader of sql/, and the habits of every file there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ground import ROOT
from ground.errors import UsageError
from ground.storage.parquet import parquet_rows
from ground.storage.sqlfiles import sql_names, sql_root, sql_text, sql_title
from ground.storage.warehouse import open_database

ROOMS = ("builders", "ehr", "evaluation", "ground", "kg", "ontoground", "openworld", "stewardship", "training")
NAMES = sorted(path.relative_to(sql_root()).with_suffix("").as_posix() for path in sql_root().rglob("*.sql"))


def test_there_are_files_and_no_package() -> None:
    assert len(NAMES) > 50
    assert not list(sql_root().rglob("__init__.py"))


def test_a_file_is_found_by_its_name() -> None:
    assert sql_text("ground/schemas").startswith("--")
    assert sql_title("ground/schemas") == "Schemas and bookkeeping tables of the warehouse"


def test_the_names_of_an_area_are_sorted_and_all_there() -> None:
    areas = {name.split("/")[0] for name in NAMES}
    assert [name for area in sorted(areas) for name in sql_names(area)] == NAMES
    assert sql_names("no-such-area") == []


@pytest.mark.parametrize("name", ["ontoground/queries/no_such_query", "nothing/at_all", ""])
def test_a_name_that_does_not_exist_is_refused_with_those_that_do(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        sql_text(name)
    assert caught.value.expected
    assert "ontoground/queries/loads" in caught.value.expected or not name.startswith("ontoground/queries")


def has_header(name: str) -> bool:
    lines = sql_text(name).splitlines(keepends=True)
    comments = [line for line in lines if line.startswith("--")]
    return (
        len(sql_title(name)) > 5 and bool(re.match(r"-- \S", lines[0])) and len(comments) >= 2 and lines[-1][-1] == "\n"
    )


def test_every_file_has_a_header() -> None:
    assert [name for name in NAMES if not has_header(name)] == []


LEFT_JOIN = re.compile(
    r"(?<!asof )left join\s+(.*?)"
    r"(?=\n\s*(?:(?:left|inner|asof|cross|full|anti|semi) |where|group by|order by|\)|;)|;|$)",
    re.S,
)


def conditions_of_the_left_side(text: str) -> list[str]:
    """Return the conditions of left joins that do not name the table that is joined."""
    found = []
    for join in LEFT_JOIN.findall(re.sub(r"--.*", "", text)):
        joined, _, conditions = " ".join(join.split()).partition(" on ")
        alias = joined.split()[-1].split(".")[-1]
        found += [one for one in conditions.split(" and ") if alias != ")" and "." in one and f"{alias}." not in one]
    return found


def test_each_condition_of_a_left_join_names_the_table_that_is_joined() -> None:
    """One that does not makes DuckDB 1.5 compare all rows with all others."""
    assert {name: wrong for name in NAMES if (wrong := conditions_of_the_left_side(sql_text(name)))} == {}


def test_a_condition_of_the_left_side_alone_is_seen() -> None:
    query = "select 1 from a\nleft join b as c on a.x = c.x and a.y is null\nleft join d on c.z = d.z\nwhere a.y > 1"
    assert conditions_of_the_left_side(query) == ["a.y is null"]


def test_no_reader_takes_the_name_of_a_file_for_a_pattern() -> None:
    readers = {"read_parquet", "scan_parquet", "read_csv", "scan_csv", "read_ndjson", "scan_ndjson"}
    given = []
    for file in sorted(one for room in ROOMS for one in (ROOT / room).rglob("*.py")):
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in readers:
                named = {one.arg: ast.unparse(one.value) for one in call.keywords}
                opened = ast.unparse(call.args[0]).endswith(".read_bytes()")
                given += [] if opened or named.get("glob") == "False" else [f"{file}:{call.lineno}"]
    assert given == []


def test_rows_are_counted_of_the_file_that_is_named(tmp_path: Path) -> None:
    for folder, rows in (("r2", [1, 2, 3]), ("r[2]", [1])):
        (tmp_path / folder).mkdir()
        pq.write_table(pa.table({"n": rows}), tmp_path / folder / "x.parquet")
    with open_database() as connection:
        assert parquet_rows(connection, tmp_path / "r[2]" / "x.parquet") == 1
