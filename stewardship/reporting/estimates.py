"""How many labels of a whole dataset are wrong, by audit, recomputation and reviewers: by relation and by label.

A benchmark may be a sample that is balanced over labels and strata, so each (stratum, label) cell is weighed by its
rows in the dataset: p = sum W_h p_h with W_h = N_h / N. The interval is Wilson's with the effective number of rows,
1 / sum(W_h^2 / n_h) (Kish, Survey Sampling, 1965; Franco, Little, Louis and Slud, J Surv Stat Methodol 2019, for Wilson
intervals of weighted shares). With one cell, or a sample in proportion, it is the plain
Wilson interval.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from ground.contracts.labels import LabelKind
from ground.markdown import markdown_table
from stewardship.benchmark.folder import Benchmark
from stewardship.datasets.adopt import population_of
from stewardship.runs.votes import LIKELY_ERROR
from stewardship.sheets.batch import read_batches
from stewardship.sheets.figures import drawn_of

__all__ = ["SOURCES", "WHO", "GroupEstimate", "estimates_markdown", "label_estimates", "scope", "stratified_share"]

Source = Literal["audit", "recomputed", "physician"]
SOURCES: tuple[Source, ...] = get_args(Source)
WHO: dict[Source, str] = {"audit": "audit", "recomputed": "recomputation", "physician": "reviewers"}
# Other sheets were drawn from what looks wrong: their shares stand for no dataset.
FAIR_DRAWS = frozenset({"any", "balanced"})


@dataclass(frozen=True)
class GroupEstimate:
    """The share of wrong labels in a part of the dataset, as one source has it.

    Attributes:
        source: ``audit``, ``recomputed`` or ``physician``.
        by: ``all``, ``label`` or ``stratum``.
        judged: of these, rows that the source says something of; the others are taken to be like them.
        covered: share of the part's rows that lie in cells with a judged row; the estimate holds for these.
        share, low, high: of wrong labels, weighed to the dataset's own distribution, with the 95% interval.
    """

    source: Source
    by: Literal["all", "label", "stratum"]
    group: str
    rows: int
    taken: int
    judged: int
    errors: int
    covered: float
    share: float | None
    low: float | None
    high: float | None

    @property
    def holds_for(self) -> int:
        """Rows of the dataset in cells with a judged row."""
        return round(self.covered * self.rows)


def label_estimates(benchmark: Benchmark) -> list[GroupEstimate]:
    """Estimate the share of wrong original labels by each source that has spoken, over all, by label and by stratum.

    Empty for a benchmark that is none of our datasets.
    """
    population = population_of(benchmark)
    if population.is_empty():
        return []
    labels = {uid: event.value for uid, event in benchmark.history.latest("original").items()}
    strata = dict(zip(benchmark.items["uid"], benchmark.items["stratum"], strict=True))
    cells = {(stratum, label): rows for stratum, label, rows in population.iter_rows()}
    rows = [(uid, strata[uid], label) for uid, label in labels.items() if uid in strata and label is not None]
    return [
        group
        for source in SOURCES
        if (verdicts := _verdicts(benchmark, source, labels))
        for group in _by_groups(source, cells, rows, verdicts)
    ]


def stratified_share(cells: Collection[tuple[int, int, int]]) -> tuple[float | None, float | None, float | None]:
    """Return a share over cells weighed by their sizes, with its 95% interval.

    Args:
        cells: rows of the whole in the cell, rows judged, errors among them; cells without a judged row do not count.

    >>> stratified_share([(900, 10, 0), (100, 10, 10)])[0]
    0.1
    """
    from statsmodels.stats.proportion import proportion_confint

    counted = [(size, n, errors) for size, n, errors in cells if n]
    total = sum(size for size, _, _ in counted)
    if not total:
        return None, None, None
    share = sum(size / total * errors / n for size, n, errors in counted)
    equal = 1 / sum((size / total) ** 2 / n for size, n, _ in counted)
    low, high = proportion_confint(share * equal, equal, alpha=0.05, method="wilson")
    return share, max(0.0, float(low)), min(1.0, float(high))


def scope(rows: int, covered: float) -> str:
    """Say which rows of a dataset an estimate holds for.

    >>> scope(7116, 0.439)
    '43.9% of the dataset (3,124 of 7,116 rows: those whose stratum and label have a judged row)'
    """
    if covered == 1:
        return f"the whole dataset ({rows:,} rows)"
    some = f"{round(covered * rows):,} of {rows:,} rows"
    return f"{covered:.1%} of the dataset ({some}: those whose stratum and label have a judged row)"


def estimates_markdown(results: Collection[GroupEstimate]) -> str:
    """Write estimates as a section of a page; nothing where there are none."""
    if not results:
        return ""
    lines = [
        "\n## Wrong labels in the dataset\n",
        "Each cell of stratum and label is weighed by its rows in the dataset, since the rows here may be drawn in",
        "other shares; 95% Wilson intervals with the effective number of rows. Rows that a source says nothing of are",
        "taken to be like the others of their cell, and a share holds for the cells that have a judged row. An audit",
        "or a second road that errs as the builder does finds nothing: only reviewers are independent of both.\n",
        *(
            f"- By {WHO[item.source]}: holds for {scope(item.rows, item.covered)}."
            for item in results
            if item.by == "all"
        ),
        "",
    ]
    heads = ("says", "by", "part", "rows", "in judged cells", "judged", "wrong", "share", "95% interval")
    rows = []
    for item in results:
        share, ends = ("", "") if item.share is None else (f"{item.share:.1%}", f"{item.low:.1%} to {item.high:.1%}")
        counts = [f"{count:,}" for count in (item.rows, item.holds_for, item.judged, item.errors)]
        rows.append((WHO[item.source], item.by, item.group, *counts, share, ends))
    return "\n".join(lines) + "\n" + markdown_table(heads, rows, left=3)


def _verdicts(benchmark: Benchmark, source: Source, labels: Mapping[str, str | None]) -> dict[str, bool]:
    """Return whether the label is wrong, of each row that the source judges."""
    history = benchmark.history
    events = history.latest(source)
    if source == "audit":
        return {uid: event.status == LIKELY_ERROR for uid, event in events.items()}
    if source == "physician":
        drawn = drawn_of(history, read_batches(benchmark.folder))
        events = {uid: event for uid, event in events.items() if drawn.get(uid) in FAIR_DRAWS}
    theirs = history.labels(source)
    # An abstention says that the row has no label, not which is right.
    return {
        uid: theirs[uid].text() != labels.get(uid)
        for uid in events
        if uid in theirs and theirs[uid].kind is LabelKind.CATEGORY
    }


def _by_groups(
    source: Source,
    cells: Mapping[tuple[str, str], int],
    rows: Collection[tuple[str, str, str]],
    verdicts: Mapping[str, bool],
) -> Iterator[GroupEstimate]:
    taken = dict.fromkeys(cells, 0)
    judged = dict.fromkeys(cells, 0)
    errors = dict.fromkeys(cells, 0)
    for uid, *cell in rows:
        place = (cell[0], cell[1])
        taken[place] += 1
        judged[place] += uid in verdicts
        errors[place] += verdicts.get(uid, False)
    parts: list[tuple[Literal["all", "label", "stratum"], str]] = [
        ("all", "all"),
        *(("label", label) for label in sorted({label for _, label in cells})),
        *(("stratum", stratum) for stratum in sorted({stratum for stratum, _ in cells})),
    ]
    for by, group in parts:
        inside = [cell for cell in cells if by == "all" or group == (cell[1] if by == "label" else cell[0])]
        size = sum(cells[cell] for cell in inside)
        covered = sum(cells[cell] for cell in inside if judged[cell])
        share, low, high = stratified_share([(cells[cell], judged[cell], errors[cell]) for cell in inside])
        counts = [sum(of[cell] for cell in inside) for of in (taken, judged, errors)]
        yield GroupEstimate(source, by, group, size, counts[0], counts[1], counts[2], covered / size, share, low, high)
