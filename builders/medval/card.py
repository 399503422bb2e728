"""MedVAL's dataset card (Hugging Face): what its rows are, counts, how often generator and validator agree, limits."""

from __future__ import annotations

import polars as pl

from builders.cards import LICENCE, columns_table, front_matter, left_table, percent
from builders.medval.counts import BuildReport, Counts
from builders.medval.feeds import Engine, Plan
from builders.shards import SPLITS
from builders.texts.shortcuts import Shortcut, shortcut_table
from ground.contracts.rows_text import MEDVAL_CATEGORIES, RISK_LEVELS
from ground.flow.manifest import LicenceTier
from ground.settings import MedvalSettings

__all__ = ["DESCRIPTION", "card_of"]

DESCRIPTION = "Outputs of medical text tasks, clean and perturbed at a known level, with errors and a risk level."

INTRODUCTION = """
# MedVAL rows

Each row is an `output` that an `instruction` asked for, the `input` it was made from, and a judgement: `reasoning`,
`errors` (category, explanation, quote) and a `risk_level` from 1 (no risk) to 4 (high risk). A clean output and a
perturbed one share an input: `triple_id`, `variant`.

Built by the engine `{engine}` after MedVAL's Algorithm S1 (Aali et al.): for each input a level is drawn by stable hash
(delta = (level - 1) / 3; where the engine has no edit of that level, the other safe or unsafe one stands in),
a generator makes the clean output and one perturbed at that level, and a validator that sees neither the edit nor the
level judges both. {labels}

`chat/` holds the same rows as conversations (the prompt of a validator and its answer): configuration `chat`.
`triples.parquet` (configuration `triples`) holds every triple, kept or not: both outputs, the exact edits, the level
that was asked for, both judgements, M_MedVAL (engine `lm`), and the reason of a refusal. The input is named there by
its SHA-256.
"""

LIMITS = """
## Limits

{engine}
- Sources without splits of their own count as `train` for `--splits`. `split` here is ours, by document and by patient.
- Not a source of medical advice.
"""

LABELS: dict[Engine, str] = {
    "rules": (
        "**Levels are known by construction**: an edit weighs what its rule says. The validator checks them: it refuses"
        " a row whose outcome (safe or unsafe) it sees otherwise, or whose edit it does not name. Where it finds the"
        " level of the edit, `label_basis` is `by_construction`; where it finds the other safe or unsafe level, the row"
        " has the validator's (`validator`). `consistency` is null."
    ),
    "lm": (
        "**The labels are the validator's** (`label_basis`: `validator`); `delta` keeps what the generator was asked"
        " for. `consistency` is M_MedVAL = 1 - (v(clean)^2 + (v(pert) - delta)^2 + (v(pert) - v(clean) - delta)^2) / 6;"
        " both rows of a triple are here where it is at least {tau:g} (one pass, no iteration)."
    ),
}

ENGINES: dict[Engine, str] = {
    "rules": (
        "The engine `rules` edits references by tables and the concept graph, one clinical weight to an edit; its"
        " validator reads the output against the input on its own, with tables of its own kind. Errors are those that"
        " rules can make: fewer kinds than people and models make. What it cannot do well it refuses (counted above)."
    ),
    "lm": (
        "The engine `lm` writes and judges by language models. A perturbed output is written from the input and the"
        " level alone, so there is no list of edits, and a model may miss the level; the filter is a model's own view."
    ),
}


ONE_LEVEL_OFF = 1 - 2 * (1 / 3) ** 2 / 6
"""M where one of the two judgements is one level off: two of its three terms are (1/3)^2."""


def _what_tau_lets(tau: float) -> str:
    """Return what a judgement may be off at a threshold, in a sentence."""
    if tau <= 0:
        return "A consistency of 0 keeps whatever was judged: filter by `consistency` for agreement."
    if tau <= ONE_LEVEL_OFF:
        return (
            f"A consistency of {tau:g} lets a judgement be one level off (M = {ONE_LEVEL_OFF:.3f});"
            " `--tau 1` keeps full agreement only."
        )
    return f"A consistency of {tau:g} keeps only triples whose two judgements are those that the generator meant."


def card_of(
    plan: Plan, settings: MedvalSettings, engine: Engine, tier: LicenceTier, counts: Counts, report: BuildReport
) -> str:
    """Return the text of README.md."""
    present = [split for split in SPLITS if report.splits[split]]
    by_model = report.tau is not None
    limits = [ENGINES[engine], *([_what_tau_lets(settings.tau)] if by_model else [])]
    parts = [
        front_matter(
            title="MedVAL rows built by ontoground",
            tier=tier,
            task="text-classification",
            tags=["hallucination-detection", "text-validation"],
            rows=report.rows,
            configs={
                "default": {split: f"data/{split}-*.parquet" for split in present},
                "chat": {split: f"chat/{split}-*.parquet" for split in present},
                "triples": "triples.parquet",
            },
        ),
        INTRODUCTION.format(engine=engine, labels=LABELS[engine].format(tau=settings.tau)),
        "## Kept triples by task and level\n",
        _by_task(report),
        "\n### By source\n",
        _by_source(counts),
        "\n### Rows by split\n",
        left_table(("split", "rows"), [(split, report.splits[split]) for split in SPLITS]),
        "\n## Generator and validator\n",
        "Rows: the level that an output was made at (a clean one: 1). Columns: the level that the validator gave it, of"
        " all judged triples; the last column is the share of outputs whose level was recovered.\n",
        _confusion(counts),
        *(["\n### M_MedVAL\n", _consistency(counts, settings.tau)] if by_model else []),
        "\n## Errors of kept rows\n",
        _categories(counts),
        *(["\n### Edits by level and rule\n", _rules(counts)] if counts.rules.height else []),
        "\n## What the output alone tells\n",
        shortcut_table([Shortcut(**shortcut) for shortcut in report.shortcuts]),
        "\n## Left out, by task, source and reason\n",
        left_table(("reason", "n"), sorted(report.dropped.items())) if report.dropped else "Nothing.",
        _left_out_tasks(plan),
        "\n## Columns\n",
        columns_table("medval"),
        LIMITS.format(engine="\n".join(f"- {limit}" for limit in limits)),
        "## Licences\n",
        _licences(plan),
        f"\n{LICENCE[tier] if tier == 'credentialed' else 'No source is credentialed; the licences above hold.'}\n",
    ]
    return "\n".join(part for part in parts if part)


def _by_task(report: BuildReport) -> str:
    levels = [str(level) for level in RISK_LEVELS]
    columns = ("task", "inputs", "judged", "kept", "kept, %", "mean M", *(f"level {level}" for level in levels))
    rows = [
        (
            task["task"],
            task["inputs"],
            task["judged"],
            task["kept"],
            percent(task["kept"], task["judged"]),
            _decimal(task["mean_consistency"]),
            *(task["kept_by_level"][level] for level in levels),
        )
        for task in report.tasks
    ]
    totals = [sum(task["kept_by_level"][level] for task in report.tasks) for level in levels]
    share = percent(report.kept, report.judged)
    last = ("all", report.inputs, report.judged, report.kept, share, _decimal(report.mean_consistency), *totals)
    return left_table(columns, [*rows, last])


def _decimal(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _by_source(counts: Counts) -> str:
    frame = counts.by_level.group_by("task", "source").agg(pl.col("inputs", "judged", "kept").sum())
    rows = frame.sort("task", "source").rows()
    return left_table(
        ("task", "source", "inputs", "judged", "kept", "kept, %"), [(*row, percent(row[4], row[3])) for row in rows]
    )


def _confusion(counts: Counts) -> str:
    rows = []
    for variant, asked in counts.confusion.select("variant", "asked").unique().sort("variant", "asked").rows():
        part = counts.confusion.filter(pl.col("variant") == variant, pl.col("asked") == asked)
        given = [int(part.filter(pl.col("given") == level)["judged"].sum()) for level in RISK_LEVELS]
        rows.append((variant, asked, *given, percent(given[asked - 1], sum(given))))
    return left_table(("variant", "made at", *(f"given {level}" for level in RISK_LEVELS), "recovered, %"), rows)


def _consistency(counts: Counts, tau: float) -> str:
    rows = [
        (f"{value:.4f}", judged, percent(judged, counts.judged), "yes" if value >= tau else "no")
        for value, judged, _ in counts.consistency.rows()
    ]
    return left_table(("M", "triples", "%", "kept"), rows)


def _categories(counts: Counts) -> str:
    sides = ("edit", "clean", "perturbed")
    counted = {(side, category): n for side, category, n in counts.categories.rows()}
    rows = [
        (category, *(counted.get((side, category), 0) for side in sides)) for category in (*MEDVAL_CATEGORIES, "none")
    ]
    columns = ("category", "edits made", "named in clean outputs", "named in perturbed outputs")
    return "`none`: an edit without clinical meaning.\n\n" + left_table(columns, rows)


def _rules(counts: Counts) -> str:
    return left_table(("level", "rule", "edits"), counts.rules.rows())


def _left_out_tasks(plan: Plan) -> str:
    if not plan.left_out:
        return ""
    return "\n### Tasks that are not here\n\n" + left_table(("task", "why"), plan.left_out)


def _licences(plan: Plan) -> str:
    rows = {(feed.source.name, feed.tier, feed.licence, feed.source.origin): None for feed in plan.feeds}
    return left_table(("source", "tier", "licence", "origin"), list(rows))
