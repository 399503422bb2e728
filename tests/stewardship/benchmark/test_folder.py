"""A benchmark's folder: taken up whole or not at all, opened by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from ground.errors import InputError, UsageError
from stewardship.benchmark.folder import Benchmark
from stewardship.benchmark.tables import LabelTable, read_label_table
from stewardship.history.log import Event

LABELS = """Unique ID,Calculator ID,Calculator Name,Category,Output Type,Patient Note,Question,Relevant Entities,\
Ground Truth Answer,Lower Limit,Upper Limit,Ground Truth Explanation
1,6,Body Mass Index (BMI),physical,decimal,a note,What is the BMI?,{},24.5,23.275,25.725,how
2,21,Glasgow Coma Score (GCS),severity,integer,another,What is the GCS?,{},17,17,17,how
"""
SHEET = """uid,Calculator Name,Patient Note,Question,Relative Error (min),y_orig,y_new,\
y* (Physician label),Physician Note (Optional)
2,Glasgow Coma Score (GCS),another,What is the GCS?,0.2,17,13,13,counted twice
1,Body Mass Index (BMI),a note,What is the BMI?,,24.5,N/A,,
"""


@pytest.fixture
def tables(tmp_path: Path) -> list[LabelTable]:
    (tmp_path / "labels.csv").write_text(LABELS)
    (tmp_path / "sheet.csv").write_text(SHEET)
    return [read_label_table(tmp_path / name) for name in ("labels.csv", "sheet.csv")]


def test_labels_become_events_and_rows_are_kept_without_them(tmp_path: Path, tables: list[LabelTable]) -> None:
    adopted = Benchmark.adopt(tmp_path, "bench", tables, open_because="invented")
    opened = Benchmark.open(tmp_path)
    assert opened.items.equals(adopted.items)
    assert "label" not in opened.items.columns
    assert opened.items["uid"].to_list() == ["1", "2"]
    latest = {role: opened.history.latest(role) for role in ("original", "recomputed", "physician", "final")}
    assert {role: {uid: event.value for uid, event in result.items()} for role, result in latest.items()} == {
        "original": {"1": "24.5", "2": "17"},
        "recomputed": {"1": "N/A", "2": "13"},
        "physician": {"2": "13"},
        "final": {},
    }
    assert latest["physician"]["2"].why == "counted twice"
    # The sheet says the original label again, which is no event.
    assert [event.role for event in opened.history.row("1")] == ["original", "recomputed"]


def test_what_is_added_is_seen_by_a_benchmark_that_is_open(tmp_path: Path, tables: list[LabelTable]) -> None:
    adopted = Benchmark.adopt(tmp_path, "bench", tables, open_because="invented")
    opened = Benchmark.open(tmp_path, "bench")
    assert not opened.history.latest("final")
    adopted.history.append([Event(uid="1", role="final", value="24.5", status="finalised", by="physician")])
    assert set(opened.history.latest("final")) == {"1"}


def test_a_name_is_taken_once(tmp_path: Path, tables: list[LabelTable]) -> None:
    Benchmark.adopt(tmp_path, "bench", tables, open_because="invented")
    with pytest.raises(UsageError, match="is there already"):
        Benchmark.adopt(tmp_path, "bench", tables, open_because="invented")


@pytest.mark.parametrize("name", ["", "../out", "a/b", ".hidden", "-x"])
def test_a_name_that_leaves_the_folder_is_refused(tmp_path: Path, tables: list[LabelTable], name: str) -> None:
    with pytest.raises(UsageError, match="this cannot be the name of a benchmark"):
        Benchmark.adopt(tmp_path, name, tables, open_because="invented")
    assert not (tmp_path / "stewardship").exists()


def test_what_a_cut_off_adoption_left_is_replaced(tmp_path: Path, tables: list[LabelTable]) -> None:
    left = tmp_path / "stewardship" / "bench"
    left.mkdir(parents=True)
    (left / "history.jsonl").write_text("half a li")
    adopted = Benchmark.adopt(tmp_path, "bench", tables, open_because="invented")
    assert len(Benchmark.open(tmp_path).history.events) == len(adopted.history.events) == 5


def test_which_benchmark_must_be_clear(tmp_path: Path, tables: list[LabelTable]) -> None:
    with pytest.raises(InputError, match="no benchmark yet"):
        Benchmark.open(tmp_path)
    Benchmark.adopt(tmp_path, "one", tables, open_because="invented")
    Benchmark.adopt(tmp_path, "two", tables)
    with pytest.raises(UsageError, match="several"):
        Benchmark.open(tmp_path)
    with pytest.raises(InputError, match="no such benchmark"):
        Benchmark.open(tmp_path, "three")
    assert Benchmark.open(tmp_path, "two").licence_tier == "credentialed"


def test_a_table_that_contradicts_the_original_labels_is_refused(tmp_path: Path, tables: list[LabelTable]) -> None:
    (tmp_path / "more.csv").write_text(SHEET.replace("0.2,17,", "0.2,18,"))
    with pytest.raises(InputError, match="another original label") as result:
        Benchmark.adopt(tmp_path, "b", [tables[0], read_label_table(tmp_path / "more.csv")], open_because="invented")
    assert result.value.found == "1 rows, row 2 first"


def test_a_later_table_with_rows_that_the_first_lacks_is_refused(tmp_path: Path, tables: list[LabelTable]) -> None:
    (tmp_path / "more.csv").write_text(SHEET + "3,x,y,z,,1,1,,\n")
    with pytest.raises(InputError, match="rows that the first one lacks"):
        Benchmark.adopt(tmp_path, "b", [tables[0], read_label_table(tmp_path / "more.csv")], open_because="invented")
    assert not (tmp_path / "stewardship" / "b").exists()
