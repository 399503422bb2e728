"""The pipeline: pairs stay whole, what repeats or contradicts goes, versions, ids, files, bytes."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pyarrow.compute as pc
import pytest

from builders.medhal.items import Pair
from builders.texts.origin import Origin, split_of
from ground.contracts.rows_text import MEDHAL_SCHEMA
from ground.errors import InputError
from ground.flow.manifest import LicenceTier
from ground.settings import MedhalSettings
from tests.builders.medhal.feed_world import Doubter, build, digests, feed, pair, rows_of

LONG = "long " * 8_000


def world() -> list[Pair]:
    return [pair(f"q{n}", context=None if n % 3 else f"Context {n % 40}.") for n in range(120)]


def test_every_factual_row_has_its_partner_over_the_same_context_and_in_the_same_split(tmp_path: Path) -> None:
    report, _ = build([feed(world())], tmp_path / "medhal")
    table = rows_of(tmp_path / "medhal")
    assert table.schema.equals(MEDHAL_SCHEMA)
    assert table.num_rows == report.rows == 240
    rows = table.to_pylist()
    for first, second in zip(rows[::2], rows[1::2], strict=True):
        assert first["pair_id"] == second["pair_id"] and {first["label"], second["label"]} == {True, False}
        for shared in ("context", "split", "source", "task", "inner_id", "in_length_filtered", "in_balanced"):
            assert first[shared] == second[shared]
    assert len({row["id"] for row in rows}) == 240
    assert report.splits == dict(Counter(row["split"] for row in rows))


def test_neither_id_nor_place_tells_the_label(tmp_path: Path) -> None:
    build([feed([pair(f"q{n}") for n in range(400)])], tmp_path / "medhal")
    rows = rows_of(tmp_path / "medhal").to_pylist()
    first = sum(row["label"] for row in rows if row["id"].endswith("-a"))
    assert 160 < first < 240
    assert all(one["id"] < other["id"] for one, other in pairwise(rows) if one["pair_id"] == other["pair_id"])


def test_how_pairs_are_batched_changes_no_byte(tmp_path: Path) -> None:
    for name, size in (("one", 1), ("seven", 7), ("all", 1_000)):
        build(
            [feed(world(), judge=Doubter(lambda one: one.origin.inner_id == "q5"))], tmp_path / name, batch_pairs=size
        )
    assert digests(tmp_path / "one") == digests(tmp_path / "seven") == digests(tmp_path / "all")


def test_the_order_of_items_changes_no_row(tmp_path: Path) -> None:
    twice = [*world(), pair("again", context="Context 0.", factual="Statement q0 holds.", wrong="Statement q0 fails.")]
    build([feed(twice)], tmp_path / "one")
    build([feed(twice[::-1])], tmp_path / "other")
    one, other = (rows_of(tmp_path / name).sort_by("id") for name in ("one", "other"))
    assert one.equals(other)


def test_no_more_than_a_batch_is_held_at_once(tmp_path: Path) -> None:
    """Pairs are made as they are needed: the stream is never ahead of the judge by more than a batch."""
    judge = Doubter(lambda _one: False)
    made, ahead = 0, []

    def stream() -> object:
        nonlocal made
        for one in world():
            made += 1
            ahead.append(made - sum(judge.batches))
            yield one

    lazy = feed([], judge=judge)
    object.__setattr__(lazy, "pairs", stream)
    build([lazy], tmp_path / "medhal", batch_pairs=16)
    assert made == 120 and max(ahead) == 16 and max(judge.batches) == 16


def test_a_pair_is_kept_only_where_the_judge_confirms_it(tmp_path: Path) -> None:
    judge = Doubter(lambda one: one.origin.inner_id in {"q1", "q2", "q3"})
    report, tally = build([feed(world(), judge=judge)], tmp_path / "medhal")
    assert report.rows == 234 and tally.reasons() == {"medqa: judge_doubts": 3}
    (counts,) = report.sources
    assert (counts.pairs, counts.confirmed, counts.judge) == (120, 117, "rules")
    assert counts.kept_share == pytest.approx(0.975)
    assert "| MedQA (USMLE) | rules | 99.44 | 97.5 | 120 |" in (tmp_path / "medhal" / "README.md").read_text()


def test_without_a_judge_no_share_is_claimed(tmp_path: Path) -> None:
    judge = Doubter(lambda _one: True)
    report, _ = build([feed(world(), judge=judge)], tmp_path / "medhal", MedhalSettings(judge=False))
    assert report.rows == 240 and judge.batches == []
    assert report.sources[0].judge is None and report.sources[0].kept_share is None


def test_repeated_and_conflicting_pairs_are_left_out_and_counted(tmp_path: Path) -> None:
    pairs = [
        pair("a", factual="Aspirin thins blood.", wrong="Aspirin thickens blood."),
        pair("b", document="a", factual="Aspirin  thins blood. ", wrong="aspirin thickens blood."),
        pair("c", factual="Insulin lowers glucose.", wrong="Insulin raises glucose."),
        pair("d", factual="Insulin raises glucose.", wrong="Insulin does nothing."),
        pair("e", factual="Iron is a metal.", wrong="Iron is a gas."),
        pair("f", factual="Iron is a metal.", wrong="Iron is a liquid."),
        pair("g", document="e2", context="Another context.", factual="Iron is a metal.", wrong="Iron is a gas."),
        pair("g", document="g2", factual="Zinc is a metal.", wrong="Zinc is a gas."),
    ]
    report, tally = build([feed(pairs)], tmp_path / "medhal")
    assert tally.reasons() == {
        "medqa: conflicting_labels": 2,
        "medqa: repeated_elsewhere": 1,
        "medqa: repeated_id": 1,
        "medqa: repeated_pair": 1,
    }
    kept = Counter(row["inner_id"] for row in rows_of(tmp_path / "medhal").to_pylist())
    assert report.rows == 6 and set(kept.values()) == {2}
    assert len({"a", "b"} & set(kept)) == len({"e", "f"} & set(kept)) == 1 and "g" in kept


def test_no_context_stands_in_two_splits(tmp_path: Path) -> None:
    pairs = [
        pair(f"q{n}", context=f"A woman of {n // 4} years." if n % 2 else f"a  woman of {n // 4} years.")
        for n in range(160)
    ]
    report, tally = build([feed(pairs)], tmp_path / "medhal")
    splits: dict[str, set[str]] = {}
    for row in rows_of(tmp_path / "medhal").to_pylist():
        splits.setdefault(" ".join(row["context"].lower().split()), set()).add(row["split"])
    assert len(splits) == 40 and all(len(found) == 1 for found in splits.values())
    assert report.rows == 2 * (160 - tally.dropped["medqa", "context_in_other_split"])
    assert set(tally.reasons()) == {"medqa: context_in_other_split"}


def test_the_licence_of_open_texts_is_that_of_their_sources(tmp_path: Path) -> None:
    tiers: tuple[LicenceTier, ...] = ("open", "credentialed")
    said = []
    for tier in tiers:
        build([feed(world())], tmp_path / tier, tier=tier)
        said.append(json.loads((tmp_path / tier / "croissant.json").read_text())["license"])
    assert "MedQA (USMLE)" in said[0] and "open world" not in said[0] and "PhysioNet" in said[1]


def test_one_document_may_state_the_same_in_several_pairs(tmp_path: Path) -> None:
    pairs = [pair(f"n{n}", document="n", context="A note.", factual="It is so.") for n in range(3)]
    report, tally = build([feed(pairs, "mednli", "nli")], tmp_path / "medhal")
    assert report.rows == 6 and tally.reasons() == {}


def test_versions_filter_by_length_and_balance_the_tasks_of_the_papers_ablation(tmp_path: Path) -> None:
    feeds = [
        feed([pair(f"q{n}") for n in range(50)]),
        feed(
            [
                pair(f"s{n}", "sumpubmed", context=f"Text {n}.", wrong=f"Statement s{n} fails {n} times.")
                for n in range(20)
            ],
            "sumpubmed",
            "summarization",
        ),
        feed(
            [pair(f"i{n}", "acm", context=f"{n} {LONG}" if n < 5 else f"Note {n}.") for n in range(35)],
            "acm",
            "information_extraction",
        ),
        feed([pair(f"n{n}", "mednli") for n in range(8)], "mednli", "nli"),
    ]
    report, _ = build(feeds, tmp_path / "medhal")
    assert report.versions == {
        "full": {"question_answering": 100, "information_extraction": 70, "nli": 16, "summarization": 40},
        "length_filtered": {"question_answering": 100, "information_extraction": 60, "nli": 16, "summarization": 40},
        "balanced": {"question_answering": 40, "information_extraction": 40, "nli": 16, "summarization": 40},
    }
    table = rows_of(tmp_path / "medhal")
    long = [len(row["context"] or "") + len(row["statement"]) >= 30_000 for row in table.to_pylist()]
    assert [not one for one in long] == table["in_length_filtered"].to_pylist()
    assert table.filter(pc.and_(table["in_balanced"], pc.invert(table["in_length_filtered"]))).num_rows == 0


def test_added_items_move_a_balanced_version_at_its_margin_only(tmp_path: Path) -> None:
    texts = [
        pair(f"s{n}", "sumpubmed", context=f"Text {n}.", wrong=f"Statement s{n} fails {n} times.") for n in range(30)
    ]

    def balanced(questions: int) -> set[str]:
        feeds = [feed([pair(f"q{n}") for n in range(questions)]), feed(texts, "sumpubmed", "summarization")]
        build(feeds, tmp_path / str(questions))
        table = rows_of(tmp_path / str(questions))
        table = table.filter(pc.and_(table["in_balanced"], pc.equal(table["source"], "medqa")))
        return set(table["pair_id"].to_pylist())

    before, after = balanced(100), balanced(110)
    assert len(before) == len(after) == 30
    assert len(before & after) >= 20


def test_a_patient_has_the_split_of_the_quadrant_statements(tmp_path: Path) -> None:
    pairs = [pair(f"p{n}", "mednli", subject_id=n) for n in range(60)]
    build([feed(pairs, "mednli", "nli")], tmp_path / "medhal", MedhalSettings(seed=7), patients=42)
    for row in rows_of(tmp_path / "medhal").to_pylist():
        assert row["split"] == split_of(42, Origin("mimic", "-", "-", "train", row["subject_id"]))


def test_another_seed_gives_other_splits_and_the_same_ids(tmp_path: Path) -> None:
    for seed in (1, 2):
        build([feed(world())], tmp_path / str(seed), MedhalSettings(seed=seed))
    one, other = (rows_of(tmp_path / str(seed)).sort_by("id") for seed in (1, 2))
    assert one["pair_id"].equals(other["pair_id"]) and not one["split"].equals(other["split"])


def test_no_pair_is_an_error_that_names_the_reasons_and_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        build([feed(world(), judge=Doubter(lambda _one: True))], tmp_path / "medhal")
    assert "judge_doubts (120)" in (error.value.found or "") and "--splits all" in (error.value.do or "")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_build_leaves_the_dataset_before_it(tmp_path: Path) -> None:
    build([feed(world())], tmp_path / "medhal")
    before = digests(tmp_path / "medhal")

    def broken(_one: Pair) -> bool:
        raise InputError("a file is not of its layout")

    with pytest.raises(InputError):
        build([feed(world(), judge=Doubter(broken))], tmp_path / "medhal")
    assert digests(tmp_path / "medhal") == before and [path.name for path in tmp_path.iterdir()] == ["medhal"]


def test_the_manifest_says_what_was_left_out_and_holds_no_time(tmp_path: Path) -> None:
    report, tally = build([feed(world(), judge=Doubter(lambda one: one.origin.inner_id == "q5"))], tmp_path / "medhal")
    manifest = json.loads((tmp_path / "medhal" / "manifest.json").read_text())
    assert manifest["rows"]["rows"] == report.rows == 238
    assert manifest["dropped"] == tally.reasons()
    assert manifest["settings"]["sources"] == ["medqa"] and manifest["settings"]["engine"] == "rules"
    assert set(manifest["rows"]["files"]) == {
        f"data/{s}-00000-of-00001.parquet" for s in ("train", "validation", "test")
    }


def test_datasets_opens_the_folder_by_its_card(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    report, _ = build([feed(world())], tmp_path / "medhal")
    opened = datasets.load_dataset(str(tmp_path / "medhal"), cache_dir=str(tmp_path / "cache"))
    assert {split: len(rows) for split, rows in opened.items()} == report.splits
