"""Which rows go on whose sheet."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ground.errors import InputError, UsageError
from stewardship.benchmark.folder import Benchmark
from stewardship.sheets.draws import assign, balanced, candidates
from stewardship.sheets.experts import Experts
from tests.stewardship.sheets.world import ranked, scores, statements


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    return scores(tmp_path, 40)


def experts_file(folder: Path, *lines: str) -> Path:
    file = folder / "experts.csv"
    file.write_text("\n".join(lines) + "\n")
    return file


def test_only_flagged_rows_are_drawn_and_the_worst_come_first(benchmark: Benchmark) -> None:
    table = ranked(benchmark)
    flagged = table.filter(pl.col("flag") != "unflagged")
    top = candidates(table, pick="top", seed=42)
    assert set(top) == set(flagged["uid"]) == set(candidates(table, pick="sampled", seed=42))
    main = flagged.filter(list="main").sort("rank")["uid"].to_list()
    # Dates are ranked in days, and so stand behind.
    assert top[: len(main)] == main and top[len(main) :] == flagged.filter(list="dates").sort("rank")["uid"].to_list()
    assert len(candidates(table, pick="any", seed=42)) == table.height


def test_a_sample_does_not_depend_on_the_order_of_the_list(benchmark: Benchmark) -> None:
    table = ranked(benchmark)
    drawn = candidates(table, pick="sampled", seed=42)
    assert drawn == candidates(table.reverse(), pick="sampled", seed=42)
    assert drawn != candidates(table, pick="sampled", seed=7)
    rest = candidates(table, pick="sampled", seed=42, without=drawn[:3])
    assert rest == drawn[3:]


def test_a_list_without_ranks_is_refused(benchmark: Benchmark) -> None:
    with pytest.raises(InputError, match="lacks columns") as raised:
        candidates(ranked(benchmark).drop("rank"), pick="top", seed=42)
    assert raised.value.do is not None and "triage" in raised.value.do


def test_rows_go_to_those_who_know_them_and_are_spread_evenly(benchmark: Benchmark, tmp_path: Path) -> None:
    file = experts_file(
        tmp_path,
        "rater,category,calculator,rows",
        "ann,risk,,",
        "ann,dosage,,",
        "bob,dosage,,3",
        "cleo,,Due Date,",
    )
    known = Experts.read(file, benchmark.items)
    order = candidates(ranked(benchmark), pick="any", seed=42)
    given_out = assign(order, benchmark.items, known, rows=None, seed=42)
    of = {row["uid"]: row for row in benchmark.items.to_dicts()}
    by = {rater: [of[uid] for uid, who in given_out.pairs if who == rater] for rater in ("ann", "bob", "cleo")}
    assert {row["stratum"] for row in by["cleo"]} == {"Due Date"}
    assert {row["category"] for row in by["bob"]} == {"dosage"} and len(by["bob"]) == 3
    assert {row["category"] for row in by["ann"]} == {"dosage", "risk"}
    assert len(given_out.uids) == len(given_out.pairs) == 30
    # Gestational ages belong to nobody.
    assert given_out.passed_over == {"too_few_experts": 10}


def test_each_row_goes_to_as_many_experts_as_asked(benchmark: Benchmark) -> None:
    known = Experts.everyone(["ann", "bob", "cleo"])
    order = candidates(ranked(benchmark), pick="any", seed=42)
    result = assign(order, benchmark.items, known, rows=12, raters_per_row=2, seed=42)
    assert Counter(Counter(uid for uid, _ in result.pairs).values()) == {2: 12}
    assert set(Counter(rater for _, rater in result.pairs).values()) == {8}
    assert result.uids == order[:12]
    none = assign(order, benchmark.items, known, rows=12, raters_per_row=4, seed=42)
    assert not none.pairs and none.passed_over == {"too_few_experts": 40}


def test_a_calculator_gets_no_more_rows_than_allowed_and_barred_raters_get_none(benchmark: Benchmark) -> None:
    order = candidates(ranked(benchmark), pick="any", seed=42)
    result = assign(order, benchmark.items, Experts.everyone(["ann"]), rows=20, per_stratum=2, seed=42)
    strata = dict(benchmark.items.select("uid", "stratum").iter_rows())
    assert Counter(strata[uid] for uid in result.uids) == dict.fromkeys(set(strata.values()), 2)
    both = Experts.everyone(["ann", "bob"])
    barred = assign(order, benchmark.items, both, rows=9, barred={uid: {"ann"} for uid in order}, seed=42)
    assert {rater for _, rater in barred.pairs} == {"bob"}


@pytest.mark.parametrize(
    ("lines", "result"),
    [
        (["rater,category", "ann,rsik"], "did you mean risk?"),
        (["rater,calculator", "ann,Due Dat"], "did you mean Due Date?"),
        (["rater,speciality", "ann,heart"], "rater, and any of"),
        (["rater,category", "dr ann/../x,risk"], "letters, digits"),
        (["rater,category,rows", "ann,risk,few"], "a number, such as 17"),
    ],
)
def test_a_table_of_experts_that_is_wrong_is_refused_with_its_line(
    benchmark: Benchmark, tmp_path: Path, lines: list[str], result: str
) -> None:
    with pytest.raises(InputError) as raised:
        Experts.read(experts_file(tmp_path, *lines), benchmark.items)
    assert result in (raised.value.expected or "")


def test_raters_of_a_table_differ_in_more_than_capitals(benchmark: Benchmark, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="differ in capitals only"):
        Experts.read(experts_file(tmp_path, "rater,category", "ann,risk", "Ann,risk"), benchmark.items)


def test_raters_are_named_once() -> None:
    for names in ([], ["ann", "ann"], ["ann", "Ann"], ["ann b"]):
        with pytest.raises(UsageError):
            Experts.everyone(names)


def sample_frame(benchmark: Benchmark) -> pl.DataFrame:
    named = benchmark.history.labels("original")
    labels = {uid: label.text() for uid, label in named.items()}
    return benchmark.items.select("uid", "stratum", "context", group=pl.col("uid").replace_strict(labels))


def test_a_balanced_sample_is_spread_over_quadrants_and_relations_with_no_context_twice(tmp_path: Path) -> None:
    frame = sample_frame(statements(tmp_path, 200))
    drawn = balanced(frame, most=40, seed=42)
    rows = frame.filter(pl.col("uid").is_in(drawn))
    assert len(drawn) == len(set(drawn)) == 40
    assert dict(rows.group_by("group").len().iter_rows()) == dict.fromkeys(("Q1", "Q2", "Q3", "Q4"), 10)
    assert rows["context"].n_unique() == 40
    assert rows.group_by("group", "stratum").len()["len"].to_list() == [2] * 20
    assert drawn == balanced(frame.reverse(), most=40, seed=42)


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.integers(0, 4)), max_size=30),
    st.integers(1, 12),
)
def test_a_balanced_sample_is_never_over_its_share_and_takes_what_there_is(
    rows: list[tuple[str, str, int]], most: int
) -> None:
    frame = pl.DataFrame(
        {
            "uid": [f"u{at}" for at in range(len(rows))],
            "group": [row[0] for row in rows],
            "stratum": [row[1] for row in rows],
            "context": [f"c{row[2]}" for row in rows],
        },
        schema=dict.fromkeys(("uid", "group", "stratum", "context"), pl.String),
    )
    drawn = balanced(frame, most=most, seed=1)
    assert len(set(drawn)) == len(drawn)
    counts = Counter(row[0] for row in rows)
    taken = Counter(rows[int(uid[1:])][0] for uid in drawn)
    for at, group in enumerate(sorted(counts)):
        assert taken[group] == min(counts[group], most // len(counts) + (at < most % len(counts)))
