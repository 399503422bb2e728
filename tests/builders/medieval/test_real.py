"""The whole flow on the real open inputs makes at least as many rows as was measured, and finds what was annotated."""

from __future__ import annotations

import gzip
import json
import math
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from ground.contracts.rows import QUADRANTS
from tests.builders.real_world import Real

pytestmark = pytest.mark.real


def test_coverage_of_the_open_demo_does_not_fall(real: Real) -> None:
    report = real.mapped
    rows = {(count.source, count.method): count.rows for count in report.counts}
    # The README of the release counts 836 + 652 rows by their own code, 7,576 orders by NDC, 9,671 by exact name.
    assert rows["diagnoses_icd", "exact"] == 836 + 652
    assert rows["prescriptions_ndc", "ndc_rxcui"] == 7_576
    assert rows["prescriptions_ndc", "ndc_ingredient"] == 9_311 - 7_576
    assert rows["prescriptions_drug", "drug_name"] >= 9_671
    # The README's best: 1,983 + 1,888 of 4,506 diagnosis rows, 86.4% of orders.
    assert report.share("diagnoses_icd") >= (1_983 + 1_888) / 4_506
    assert report.share("prescriptions") >= 0.95
    assert report.share("procedures_icd") >= 0.49


def test_no_unsupported_end_is_named_in_the_text(real: Real) -> None:
    assert real.named == []


def test_the_real_dataset_reaches_the_floors(real: Real) -> None:
    rows, validation = real.rows, real.validation
    assert validation.disagreements == []
    assert validation.rows == len(rows)
    for quadrant in QUADRANTS:
        of = [row for row in rows if row["quadrant"] == quadrant]
        assert len({(r["hadm_id"], r["head_cui"], r["predicate"], r["tail_cui"]) for r in of}) >= 150, quadrant
        assert len({row["predicate"] for row in of}) >= 4, quadrant
        pairs = Counter((row["head_cui"], row["tail_cui"]) for row in of)
        assert max(pairs.values()) <= math.ceil(0.03 * len(of)), quadrant
    assert sum(row["hops"] > 1 for row in rows) >= 0.25 * len(rows)
    groups = Counter(row["group_id"] for row in rows)
    assert sum(n == 4 for n in groups.values()) >= 0.6 * len(groups)


def test_neither_side_of_the_real_dataset_tells_the_label(real: Real) -> None:
    shortcuts = [auc for auc in real.baselines if (auc["view"], auc["label"]) != ("statement", "is_true")]
    assert {(auc["view"], auc["label"]) for auc in shortcuts} == {
        ("statement", "is_supported"),
        ("context", "is_supported"),
        ("context", "is_true"),
    }
    for auc in shortcuts:
        assert float(str(auc["low"])) <= 0.5 <= float(str(auc["high"])) < 0.58, auc


def test_mentions_of_written_notes_overlap_the_gold(real: Real, real_data: Path) -> None:
    found = defaultdict[str, list[tuple[int, int]]](list)
    for note_id, begin, end in real.mentions:
        found[note_id].append((begin, end))
    with gzip.open(real_data / "mimic_iv_demo" / "note_gold.jsonl.gz", "rt") as file:
        gold = [json.loads(line) for line in file]
    hits = wanted = right = predicted = 0
    for note in gold:
        spans = found[note["note_id"]]
        marks = [(mark["start"], mark["end"]) for mark in note["mentions"]]
        wanted += len(marks)
        predicted += len(spans)
        hits += sum(any(begin < stop and end > start for begin, end in spans) for start, stop in marks)
        right += sum(any(begin < stop and end > start for start, stop in marks) for begin, end in spans)
    assert hits / wanted > 0.93
    assert right / predicted > 0.97
