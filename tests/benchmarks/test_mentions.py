"""The benchmark of mentions: what counts as found, the files that all readers get, and our own reader on them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from benchmarks.measures import Measure
from benchmarks.stages.mentions import Options, checks, ours, prepare
from benchmarks.yardsticks.prepare import OWN, write_notes
from benchmarks.yardsticks.scoring import Score, score
from benchmarks.yardsticks.task import AssertedSpan, Note, Reader, clocked, read_names, read_notes
from ground.errors import InputError
from tests.ehr.test_lexicon import fill

TEXT = "Chief Complaint:\npneumonia\n\nHistory of Present Illness:\nDenies hypertension. On warfarin.\n"
MARKS = [
    {"start": TEXT.index(word), "end": TEXT.index(word) + len(word), "assertion": assertion}
    for word, assertion in (("pneumonia", "present"), ("hypertension", "absent"), ("warfarin", "present"))
]


@pytest.fixture
def options(tmp_path: Path) -> Options:
    warehouse = tmp_path / "warehouse.duckdb"
    with duckdb.connect(str(warehouse)) as connection:
        connection.execute("create schema kg")
        fill(connection)
    notes, gold = tmp_path / "discharge.csv", tmp_path / "gold.jsonl"
    notes.write_text(f'note_id,text\nn1,"{TEXT}"\nn2,"no gold"\n', encoding="utf-8")
    gold.write_text(json.dumps({"note_id": "n1", "mentions": MARKS}) + "\n", encoding="utf-8")
    (tmp_path / "bench").mkdir()
    return Options(warehouse, notes, gold, tmp_path / "bench", names=100, least=0.0)


def test_spans_that_overlap_count_and_those_of_unread_notes_do_not() -> None:
    notes = [
        Note("a", "", ((0, 4, "present"), (10, 14, "family"), (20, 24, "absent"), (30, 34, "present"))),
        Note("unread", "", ((0, 4, "present"),)),
    ]
    spans: dict[str, list[AssertedSpan]] = {
        "a": [(0, 4, "present"), (12, 20, "absent"), (22, 23, "possible"), (40, 44, "present")]
    }
    assert score(notes, spans) == Score(recall=3 / 4, exact_recall=1 / 4, precision=3 / 4, assertion=2 / 3)


def test_every_reader_gets_the_lexicon_filled_up_and_ours_finds_the_marked_spans(options: Options) -> None:
    done = prepare(options)
    names = list(read_names(options.folder))
    assert done.rows == len(names) >= 100
    texts = {name.text for name in names}
    assert {"Hypertensive disease", "Aortic Valve Stenosis", "warfarin"} <= texts
    assert {name.cui for name in names if name.text == "Pneumonia"} == {"C2", "C10"}
    assert not {"Escherichia coli", "warfarin 5 MG Oral Tablet"} & texts
    assert ours(options).rows == len(TEXT)
    answer = json.loads(options.answer("ours").read_text(encoding="utf-8"))
    assert score(read_notes(options.folder), answer["spans"]) == Score(1.0, 1.0, 1.0, 1.0)


def test_a_release_with_more_names_than_wanted_keeps_those_that_the_notes_could_name(options: Options) -> None:
    prepare(options)
    every = {(name.text, name.cui) for name in read_names(options.folder)}
    thin = replace(options, folder=options.folder.with_name("thin"), names=7)
    thin.folder.mkdir()
    prepare(thin)
    kept = {(name.text, name.cui) for name in read_names(thin.folder) if name.cui != OWN}
    assert kept == {(text, cui) for text, cui in every if cui in {"C1", "C2", "C3", "C4", "C10"}}
    ours(thin)
    answer = json.loads(thin.answer("ours").read_text(encoding="utf-8"))
    assert score(read_notes(thin.folder), answer["spans"]) == Score(1.0, 1.0, 1.0, 1.0)


def test_a_gold_whose_notes_have_no_text_is_refused(options: Options) -> None:
    options.gold.write_text(json.dumps({"note_id": "n9", "mentions": MARKS}) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="no note of the gold has a text"):
        write_notes(options.notes, options.gold, options.folder, 10)


def test_notes_are_read_again_by_a_new_reader_until_the_least_time_has_gone(tmp_path: Path) -> None:
    notes = [Note(name, "x" * 5_000, ()) for name in "ab"]
    made: list[list[str]] = []

    def make() -> Reader:
        read: list[str] = []
        made.append(read)
        return lambda note: read.append(note.id) or [(0, sum(map(ord, note.text)) > 0, "")]  # type: ignore[func-returns-value]

    figures = clocked(make, notes, tmp_path / "out.json", 0.002, 10.0)
    assert figures["passes"] == len(made) > 1
    assert all(read == ["a", "a", "b"] for read in made)
    assert figures["bytes"] == 10_000 * len(made)


def test_the_fastest_other_reader_sets_the_speed_and_each_its_recall() -> None:
    mine = Measure("ontoground", 30_000_000, cpu_seconds=10.0, figures={"recall": 0.9})
    slow = replace(mine, name="slow", rows=1_000_000, figures={"recall": 0.8})
    fast = replace(mine, name="fast", rows=2_000_000, figures={"recall": 0.99})
    broken = Measure("broken", failed="it stopped")
    kept = {check.what: (check.value, check.met) for check in checks([mine, slow, fast, broken])}
    assert kept == {
        "text, MB per core second": (3.0, True),
        "speed, times that of fast, the fastest": (15.0, True),
        "recall less that of slow": (0.1, True),
        "recall less that of fast": (-0.09, False),
    }
