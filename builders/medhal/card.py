"""MedHal's dataset card (Hugging Face): what its rows are, counts, the paper's tables beside ours, limits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from builders.cards import LICENCE, columns_table, front_matter, left_table, percent
from builders.medhal.counts import VERSIONS, BuildReport
from builders.medhal.feeds import Feed
from builders.shards import SPLITS
from builders.texts.shortcuts import Shortcut, shortcut_table
from ground import ROOT
from ground.contracts.taxonomy import medhal_tasks
from ground.flow.manifest import LicenceTier
from ground.settings import MedhalSettings
from ground.storage.tables import read_table

__all__ = ["DESCRIPTION", "card_of"]

DESCRIPTION = "Medical statements, factual or not, each with a partner of the other label; most with a context."
PAPER = ROOT / "builders" / "data" / "medhal_paper.tsv"
COLUMNS = ("table", "key", "name", "column", "value", "source")
NONE = "–"

INTRODUCTION = """
# MedHal statements

Each row is a medical statement with a label: **factual** (`label` true: all that it says is supported by `context`, or
is medical knowledge where there is no context) or **not factual** (`label` false, with an `explanation` where the
source allows one). Every factual row has a partner of the other label over the same context: `pair_id`.

Built by the engine `{engine}` from the {splits} of the sources, after MedHal (Mehenni et al.).
"""

LIMITS = """
## Limits

- Factual rows of the summaries are the source's own text; their partners hold one changed sentence. `synthetic` says
  for each row whether a rule or a model wrote its statement; there it goes with the label and is no input to detect by.
- Without a context the label is the source's answer key: medicine may have moved on since.
- {engine}
- `split` is ours, by document and by patient. A detector that is to be tested on a source's own test split must be
  trained on `--splits train` only.
- Not a source of medical advice.
"""

ENGINES = {
    "rules": "The engine `rules` refuses what it cannot say well; what it keeps is simpler than what the source holds.",
    "lm": "The engine `lm` writes what a model answered. Its judge is a model too and shares a model's blind spots.",
}


@cache
def _paper(table: str) -> list[dict[str, str]]:
    return [row for row in read_table(PAPER, COLUMNS) if row["table"] == table]


def _papers(table: str, key: str, column: str) -> str:
    values = [row["value"] for row in _paper(table) if row["key"] == key and row["column"] == column]
    return values[0] if values else NONE


def card_of(
    feeds: Sequence[Feed],
    settings: MedhalSettings,
    engine: str,
    tier: LicenceTier,
    report: BuildReport,
) -> str:
    """Return the text of README.md."""
    present = [split for split in SPLITS if report.splits[split]]
    splits = "own training splits" if settings.splits == "train" else f"splits `{settings.splits}`"
    parts = [
        front_matter(
            title="MedHal statements built by ontoground",
            tier=tier,
            task="text-classification",
            tags=["hallucination-detection"],
            rows=report.rows,
            configs={"default": {split: f"data/{split}-*.parquet" for split in present}},
        ),
        INTRODUCTION.format(engine=engine, splits=splits),
        _splits_note(settings),
        "## Contents\n",
        _contents(report),
        "\n### By split\n",
        left_table(("split", "rows"), [(split, report.splits[split]) for split in SPLITS]),
        "\n## Beside the paper\n",
        "A dash is a figure that is not there: a source that was not used here, or that the paper does not use.\n",
        "### Sources and generated rows (its Table 2)\n",
        _sources(feeds, report),
        "\n### Pairs that the judge confirmed, in percent (its Table 3)\n",
        _kept(feeds, report),
        "\n### Tasks and versions (its Table 4)\n",
        _versions(report),
        "\n## What the statement alone tells\n",
        shortcut_table([Shortcut(**shortcut) for shortcut in report.shortcuts]),
        "\n## Left out, by source and reason\n",
        left_table(("reason", "n"), sorted(report.dropped.items())),
        "\n## Columns\n",
        columns_table("medhal"),
        LIMITS.format(engine=ENGINES[engine]),
        "## Licences\n",
        _licences(feeds),
        f"\n{LICENCE[tier] if tier == 'credentialed' else 'No source is credentialed; the licences above hold.'}\n",
    ]
    return "\n".join(part for part in parts if part)


def _splits_note(settings: MedhalSettings) -> str:
    if settings.splits == "train":
        return ""
    return (
        f"The paper uses the training splits of its sources only. This build used `--splits {settings.splits}`: a model"
        " that is trained on it must not be tested on those sources.\n"
    )


def _contents(report: BuildReport) -> str:
    rows = [
        (counts.source, counts.task, counts.factual, counts.non_factual, 2 * counts.factual)
        for counts in report.sources
    ]
    total = report.rows // 2
    return left_table(
        ("source", "task", "factual", "not factual", "rows"), [*rows, ("all", "", total, total, report.rows)]
    )


def _sources(feeds: Sequence[Feed], report: BuildReport) -> str:
    ours = {counts.source: counts for counts in report.sources}
    names = [*ours, *(row["key"] for row in _paper("sources") if row["column"] == "rows" and row["key"] not in ours)]
    called = {feed.source.source: feed.source for feed in feeds}
    rows = []
    for name in names:
        counts = ours.get(name)
        rows.append(
            (
                called[name].name if name in called else _name("sources", name),
                ("yes" if called[name].synthetic else "no") if name in called else NONE,
                _papers("sources", name, "samples"),
                counts.items if counts else NONE,
                _papers("sources", name, "rows"),
                2 * counts.factual if counts else NONE,
            )
        )
    return left_table(("source", "source text by a model", "items (paper)", "items", "rows (paper)", "rows"), rows)


def _name(table: str, key: str) -> str:
    return next(row["name"] for row in _paper(table) if row["key"] == key)


def _kept(feeds: Sequence[Feed], report: BuildReport) -> str:
    rows = [
        (
            feed.source.name,
            counts.judge or "none: the source's own labels",
            _papers("kept", counts.source, "percent"),
            percent(counts.confirmed, counts.pairs) if counts.judge else NONE,
            counts.pairs,
        )
        for feed, counts in zip(feeds, report.sources, strict=True)
    ]
    return left_table(("source", "judge", "kept (paper)", "kept", "pairs judged or taken"), rows)


def _versions(report: BuildReport) -> str:
    columns = ["task", *(f"{version.replace('_', ' ')}{of}" for version in VERSIONS for of in (" (paper)", ""))]
    totals = {version: sum(report.versions[version].values()) for version in VERSIONS}
    rows: list[list[object]] = []
    for row in medhal_tasks():
        task = row["task"]
        cells: list[object] = [task]
        for version in VERSIONS:
            n = report.versions[version].get(task, 0)
            cells += [_papers("versions", task, version), f"{n / totals[version]:.2f}" if n else NONE]
        rows.append(cells)
    last: list[object] = ["rows"]
    for version in VERSIONS:
        last += [_papers("versions", "all", version), totals[version]]
    return left_table(columns, [*rows, last])


def _licences(feeds: Sequence[Feed]) -> str:
    return left_table(
        ("source", "tier", "licence", "origin"),
        [(feed.source.name, feed.source.tier, feed.licence, feed.source.origin) for feed in feeds],
    )
