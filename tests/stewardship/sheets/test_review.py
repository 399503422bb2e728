"""A batch that is answered a row at a time: what readers see, what is kept, and what becomes of disagreements."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from ground.errors import InputError, UsageError
from ground.settings import StewardSettings
from ground.storage.files import private_directory
from stewardship.benchmark.folder import Benchmark
from stewardship.history.log import History
from stewardship.sheets.display import spot_check_displays
from stewardship.sheets.ratings import OPEN
from stewardship.sheets.review import LEAST, SILENT, Answered, ChangedError, Review, open_review
from stewardship.sheets.writing import write_batch
from tests.stewardship.sheets.world import QUADRANTS, scores, statements, written

NOTHING = Answered().version


def shared(folder: Path, rows: int = 12, readers: Sequence[str] = ("ann", "bob")) -> Benchmark:
    """A sample that all readers have."""
    benchmark = statements(private_directory(folder / "work"))
    pairs = [(f"s{2 * number:03d}", reader) for number in range(rows) for reader in readers]
    written(benchmark, pairs, "sample-1", kind="sample", drawn="balanced")
    return benchmark


def opened(benchmark: Benchmark, name: str = "sample-1", models: Sequence[str] = ()) -> Review:
    return open_review(Benchmark.open(benchmark.folder.parents[1]), name, StewardSettings(), models)


def item_of(review: Review, reader: str, uid: str) -> str:
    return next(item.item for item in review.batch.items if (item.rater, item.uid) == (reader, uid))


def test_an_answer_is_on_disk_when_it_was_taken(tmp_path: Path) -> None:
    benchmark = shared(tmp_path)
    review = opened(benchmark)
    item = item_of(review, "ann", "s000")
    kept = review.save("ann", item, Answered("q1", " as  said ", "twice\nread "), NOTHING)
    assert kept == Answered("Q1", "as said", "twice\nread")
    event = History(benchmark.folder).row("s000")[-2]
    assert (event.role, event.value, event.by, event.why) == ("physician", "Q1", "ann", "twice\nread")
    assert event.evidence["reason"] == "as said" and event.evidence["sheet"] == "sample-1"
    # Words that were chosen on the page are kept by their places in the row's own context.
    words = '{"begin_offset": 2, "end_offset": 6, "text": "note", "role": "head"}'
    for wrong in ("x", "{}", "[1]", words, f"[{words}".replace("6", "7") + "]", f"[{words}".replace("2", "-4") + "]"):
        with pytest.raises(UsageError, match="nothing was saved"):
            review.save("ann", item, replace(kept, spans=wrong), kept.version)
    kept = review.save("ann", item, replace(kept, spans=f"[{words}, {words}]"), kept.version)
    event = History(benchmark.folder).row("s000")[-2]
    assert event.evidence["spans"] == ["head 2-6"]
    assert [verdict["spans"] for verdict in review.verdicts()] == ["head 2-6 'note'"]
    # Another start of the server goes on there; the same answer again is no event.
    again = opened(benchmark)
    assert again.task("ann", item).answered == kept and dict(again.progress("ann"))[item]
    again.save("ann", item, kept, kept.version)
    assert len(History(benchmark.folder).events) == len(review.benchmark.history.events)


def test_what_sheets_refuse_is_refused_here(tmp_path: Path) -> None:
    benchmark = scores(private_directory(tmp_path / "work"))
    written(benchmark, [("row-0", "ann")])
    review = opened(benchmark, "sheets-1")
    (item,) = (entry.item for entry in review.items("ann"))
    for answer, problem in (("4,4", "decimal point"), ("", "nothing was saved"), ("about 4", "a bound or an estimate")):
        with pytest.raises(UsageError, match=problem):
            review.save("ann", item, Answered(answer), NOTHING)
    for comment, problem in (("x" * 4001, "comment is too long"), ("a\0b", "comment has a NUL")):
        with pytest.raises(UsageError, match=problem):
            review.save("ann", item, Answered("81", comment=comment), NOTHING)
    assert review.save("ann", item, Answered("81 mL/hr"), NOTHING).answer == "81"
    with pytest.raises(UsageError, match="no such row"):
        review.save("bob", item, Answered("81"), NOTHING)


def test_a_reader_is_shown_nothing_that_tells_a_label(tmp_path: Path) -> None:
    review = opened(shared(tmp_path))
    review.save("bob", item_of(review, "bob", "s000"), Answered("Q3", "SEEN REASON"), NOTHING)
    tasks = [review.task("ann", item) for item, _ in review.progress("ann")]
    for task in tasks:
        lines = repr(task)
        assert "relation-" not in lines and "SEEN" not in lines and "bob" not in lines and "uid" not in lines
        assert task.opinions == () and task.display.label == ""
        assert [name for name, _ in task.choices] == [*QUADRANTS, "N/A"]
    assert [task.display.question for task in tasks] != [
        review.task("bob", item).display.question for item, _ in review.progress("bob")
    ]


def test_a_second_tab_that_is_behind_is_refused(tmp_path: Path) -> None:
    review = opened(shared(tmp_path))
    item = item_of(review, "ann", "s000")
    first = review.save("ann", item, Answered("Q1"), NOTHING)
    with pytest.raises(ChangedError):
        review.save("ann", item, Answered("Q2"), NOTHING)
    assert review.save("ann", item, Answered("Q1"), NOTHING) == first
    assert review.save("ann", item, Answered("Q2"), first.version).answer == "Q2"


def test_answers_of_many_at_once_are_all_kept(tmp_path: Path) -> None:
    readers = [f"r{number}" for number in range(16)]
    benchmark = shared(tmp_path, rows=6, readers=readers)
    review, other = opened(benchmark), opened(benchmark)

    def answer(reader: str) -> None:
        for number, (item, _) in enumerate(review.progress(reader)):
            (review, other)[number % 2].save(reader, item, Answered(QUADRANTS[number % 4]), NOTHING)

    with ThreadPoolExecutor(len(readers)) as threads:
        list(threads.map(answer, readers))
    kept = opened(benchmark)
    assert all(done for reader in readers for _, done in kept.progress(reader))
    rated = [event for event in History(benchmark.folder).events if event.status == "rated"]
    assert len(rated) == len({(entry.uid, entry.by) for entry in rated}) == 96


def test_agreement_is_silent_below_ten_rows_and_has_intervals_above(tmp_path: Path) -> None:
    review = opened(shared(tmp_path))
    for number in range(LEAST):
        assert review.agreement()[1] is None
        for reader, say in (("ann", number % 4), ("bob", number % 4 if number else 3)):
            review.save(reader, item_of(review, reader, f"s{2 * number:03d}"), Answered(QUADRANTS[say]), NOTHING)
    rows, result = review.agreement()
    assert rows == LEAST and result is not None
    (pair,) = result.pairs
    assert pair.share.value == 0.9 and pair.kappa is not None
    assert pair.kappa_low is not None and pair.kappa_high is not None
    assert pair.kappa_low < pair.kappa < pair.kappa_high <= 1
    assert result.alphas[0].low is not None and result.alphas[0].value is not None
    assert result.alphas[0].low < result.alphas[0].value


def test_a_models_reading_is_no_physicians_label(tmp_path: Path) -> None:
    benchmark = shared(tmp_path)
    review = opened(benchmark, models=["bob"])
    review.save("bob", item_of(review, "bob", "s000"), Answered("Q1"), NOTHING)
    history = History(benchmark.folder, QUADRANTS)
    assert not history.latest("physician") and history.labels("reading")["s000"].text() == "Q1"
    review.save("ann", item_of(review, "ann", "s000"), Answered("Q2"), NOTHING)
    # She waits for no model.
    assert History(benchmark.folder, QUADRANTS).labels("physician")["s000"].text() == "Q2"
    assert review.agreement()[0] == review.agreement(models=True)[0] == 0
    with pytest.raises(UsageError, match="a person and a model have the same name"):
        opened(benchmark)
    with pytest.raises(UsageError, match="no reader of this batch"):
        opened(benchmark, models=["cleo"])


def test_disagreements_are_adjudicated_by_who_has_not_read_them(tmp_path: Path) -> None:
    benchmark = shared(tmp_path)
    review = opened(benchmark)
    for uid, ann, bob in (("s000", "Q1", "Q2"), ("s002", "Q1", "N/A"), ("s004", "Q4", "Q4")):
        review.save("ann", item_of(review, "ann", uid), Answered(ann, "BECAUSE"), NOTHING)
        review.save("bob", item_of(review, "bob", uid), Answered(bob), NOTHING)
    disputed = [uid for uid, event in benchmark.history.latest("physician").items() if event.status == OPEN]
    assert sorted(disputed) == ["s000", "s002"]
    written(benchmark, [(uid, "cleo") for uid in disputed], "adjudicate-1", kind="adjudication", drawn="open")
    decide = opened(benchmark, "adjudicate-1")
    assert [item.uid for item in decide.items("cleo")] == ["s002", "s000"]
    task = decide.task("cleo", decide.items("cleo")[1].item)
    assert {opinion.answer for opinion in task.opinions} == {"Q1", "Q2"} and "'ann'" not in repr(task)
    assert {opinion.reason for opinion in task.opinions} == {"BECAUSE", ""} and task.choices[-1][0] == SILENT
    decide.save("cleo", item_of(decide, "cleo", "s000"), Answered("Q1"), NOTHING)
    decide.save("cleo", item_of(decide, "cleo", "s002"), Answered(SILENT), NOTHING)
    labels = History(benchmark.folder, QUADRANTS).labels("physician")
    assert (labels["s000"].text(), labels["s002"].text()) == ("Q1", "N/A")
    kept = opened(benchmark, "adjudicate-1").task("cleo", item_of(decide, "cleo", "s002")).answered
    assert (kept.answer, kept.reason) == ("N/A", SILENT)


def test_a_spot_check_is_answered_with_a_verdict(tmp_path: Path) -> None:
    benchmark = statements(private_directory(tmp_path / "work"))
    display = spot_check_displays(benchmark, ["s000"])
    options = {"name": "spot-check-1", "kind": "spot_check", "drawn": "audit", "blind": False, "seed": 1}
    write_batch(benchmark, [("s000", "ann")], display, {"s000": "verdict"}, **options)  # type: ignore[arg-type]
    review = opened(benchmark, "spot-check-1")
    item = item_of(review, "ann", "s000")
    assert [name for name, _ in review.task("ann", item).choices] == ["agree", "disagree", "unclear"]
    said = [{"begin_offset": 0, "end_offset": 1, "text": "A", "role": "other"}]
    kept = review.save("ann", item, Answered("disagree", "it is right", spans=json.dumps(said)), NOTHING)
    assert opened(benchmark, "spot-check-1").task("ann", item).answered == kept


def test_rows_that_read_otherwise_by_now_are_not_reviewed(tmp_path: Path) -> None:
    benchmark = shared(tmp_path)
    file = benchmark.folder / "items.parquet"
    pl.read_parquet(file).with_columns(context=pl.lit("another note")).write_parquet(file)
    with pytest.raises(InputError, match="have changed since"):
        opened(benchmark)
    with pytest.raises(UsageError, match="no such batch"):
        opened(benchmark, "sample-9")


def test_verdicts_stand_beside_the_label(tmp_path: Path) -> None:
    review = opened(shared(tmp_path))
    for uid, answer in (("s000", "Q1"), ("s002", "Q2"), ("s004", "N/A")):
        review.save("ann", item_of(review, "ann", uid), Answered(answer), NOTHING)
    results = {
        verdict["id"]: (verdict["label"], verdict["verdict"], verdict["reader"]) for verdict in review.verdicts()
    }
    assert results == {
        "s000": ("Q1", "right", "ann"),
        "s002": ("Q3", "wrong", "ann"),
        "s004": ("Q1", "doubtful", "ann"),
    }
