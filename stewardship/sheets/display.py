"""What a sheet shows of a row, and what it asks for: nothing that depends on the row's own label."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import polars as pl

from ground.contracts.labels import LabelKind, LabelValue
from ground.errors import UsageError
from stewardship.benchmark.folder import Benchmark
from stewardship.datasets.rows import is_ours
from stewardship.datasets.sheets import sheet_context
from stewardship.runs.store import read_runs, series_folders
from stewardship.sheets.batch import AnswerKind

__all__ = ["Display", "answer_kinds", "critiques", "displays_of", "spot_check_displays"]

WEEKS = re.compile(r"\bweeks?\b", re.IGNORECASE)


@dataclass(frozen=True)
class Display:
    """What a sheet shows of a row.

    Attributes:
        question: what is asked; a statement, a text to be graded.
        label: the published label; shown on spot checks only.
        critique: what an audit found wrong with it; shown on spot checks only.
    """

    question: str
    context: str
    label: str = ""
    critique: str = ""


def displays_of(benchmark: Benchmark, uids: Collection[str], *, evidence: bool = False) -> dict[str, Display]:
    """Return what sheets show of rows, by uid.

    Rows of our own datasets have the names of the statement marked in the context, the same for every label.

    Args:
        evidence: of our own datasets: mark and say what the label rests on (mentions, the path in words, edits). A
            sheet with it is not blind.

    Raises:
        UsageError: evidence is asked for, and the rows are of none of our datasets.
    """
    rows = benchmark.items.filter(pl.col("uid").is_in(list(uids))).to_dicts()
    if evidence and not all(map(is_ours, rows)):
        raise UsageError(
            "these rows have no evidence to show",
            found=benchmark.name,
            expected="a benchmark adopted from a dataset built by ontoground",
        )
    return {
        row["uid"]: Display(
            row.get("question") or "",
            sheet_context(row, blind=not evidence) if is_ours(row) else row.get("context") or "",
        )
        for row in rows
    }


def spot_check_displays(benchmark: Benchmark, uids: Collection[str]) -> dict[str, Display]:
    """Return what spot checks show of rows, by uid: the label and the audit's critique too."""
    # A sheet that shows the label may show what it rests on.
    ours = all(map(is_ours, benchmark.items.head(1).to_dicts()))
    displays = displays_of(benchmark, uids, evidence=ours)
    labels, critique = benchmark.history.latest("original"), critiques(benchmark)
    return {
        uid: replace(item, label=labels[uid].value or "" if uid in labels else "", critique=critique.get(uid, ""))
        for uid, item in displays.items()
    }


def answer_kinds(benchmark: Benchmark, original: Mapping[str, LabelValue]) -> dict[str, AnswerKind]:
    """Return what belongs into the answer cell of each row, by uid.

    It is the kind of most labels of the row's stratum, or what the benchmark says of its output; never what the row's
    own label alone says, since that would tell an abstention.
    """
    if benchmark.categories:
        return dict.fromkeys(benchmark.items["uid"], "category")
    columns = [name for name in ("uid", "stratum", "output_type", "question") if name in benchmark.items.columns]
    rows = benchmark.items.select(columns).to_dicts()
    kinds: dict[str, Counter[AnswerKind]] = {}
    for row in rows:
        label = original.get(row["uid"])
        if label is not None and label.value is not None:
            kinds.setdefault(row.get("stratum") or "", Counter())[_kind(label)] += 1
    most: dict[str, AnswerKind] = {
        stratum: max(sorted(counts), key=counts.__getitem__) for stratum, counts in kinds.items()
    }
    results: dict[str, AnswerKind] = {}
    for row in rows:
        kind = most.get(row.get("stratum") or "", "number")
        if row.get("output_type") == "date":
            kind = "date"
        # The published question of gestational age asks for weeks and days, the corrected one for days.
        if kind == "weeks" and not WEEKS.search(row.get("question") or ""):
            kind = "number"
        results[row["uid"]] = kind
    return results


def _kind(label: LabelValue) -> AnswerKind:
    if label.kind is LabelKind.DATE:
        return "date"
    return "weeks" if label.weeks_days else "number"


def critiques(benchmark: Benchmark) -> dict[str, str]:
    """Return what the audit found wrong with each row, by uid: the fault named by most of its Suspicious verdicts.

    Of the runs that name it the longest remark is taken; where no run says a word, the reason of the audit's event.
    """
    answers: dict[str, list[tuple[str, str]]] = {}
    for folder in series_folders(benchmark.folder, "audit"):
        for run in read_runs(folder):
            if run.parsed == "Suspicious" and run.remark:
                answers.setdefault(run.uid, []).append((run.failure_mode or "", run.remark))
    results = {uid: event.why for uid, event in benchmark.history.latest("audit").items() if event.why}
    for uid, remarks in answers.items():
        modes = Counter(mode for mode, _ in remarks)
        mode = max(sorted(modes), key=modes.__getitem__)
        words = max((remark for named, remark in remarks if named == mode), key=len)
        results[uid] = f"{mode.replace('_', ' ')}: {words}" if mode else words
    return results
