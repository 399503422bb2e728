"""What ``ontoground steward triage`` and ``ontoground steward finalise`` do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ground.errors import InputError
from ground.storage.files import atomic_path
from ontoground.cli.steward.shares import percent

if TYPE_CHECKING:
    from rich.console import Console

    from ground.settings import StewardSettings
    from stewardship.adjudication.finalise import Policy
    from stewardship.benchmark.folder import Benchmark
    from stewardship.history.standing import Standing

__all__ = ["finalise_job", "paint_finalised", "paint_triage", "triage_job"]

STEM = "triage"
SHOWN = {
    "rank": "rank",
    "uid": "uid",
    "stratum": "stratum",
    "original": "original",
    "recomputed": "new",
    "distance": "apart",
}
TITLES = {
    "abstained": "abstained: one of both labels says that there is no answer",
    "numbers": "largest relative errors",
    "names": "labels of two names",
    "dates": "dates most days apart",
}
STRATUM = 36
"""Characters of a stratum that a table of 80 columns has room for."""


def triage_job(settings: StewardSettings, workspace: Path, name: str | None, *, top: int) -> dict[str, Any]:
    """Rank the rows whose two labels differ, write the list, and return what ``--json`` prints.

    Raises:
        InputError: no such benchmark, or it lacks original or recomputed labels.
        UsageError: several benchmarks and none named.
    """
    import polars as pl

    from stewardship.adjudication.discrepancy import Flag
    from stewardship.adjudication.triage import summarise, triage
    from stewardship.benchmark.folder import Benchmark
    from stewardship.history.standing import standing

    benchmark = Benchmark.open(workspace, name)
    labels = standing(benchmark)
    _need_labels(benchmark, labels)
    table = triage(
        labels.original, labels.recomputed, strata=labels.strata, types=labels.types, limit=settings.flag_rel_err
    )
    files = {kind: benchmark.folder / f"{STEM}.{kind}" for kind in ("parquet", "csv")}
    with atomic_path(files["parquet"]) as temporary:
        table.write_parquet(temporary)
    with atomic_path(files["csv"]) as temporary:
        table.write_csv(temporary)
    abstained = pl.col("flag") == Flag.ABSTAINED.value
    parts = {
        "abstained": table.filter(abstained),
        "numbers": table.filter(~abstained, list="main"),
        "dates": table.filter(~abstained, list="dates"),
    }
    return {
        "verb": "steward triage",
        "workspace": str(workspace),
        "benchmark": benchmark.name,
        "flag_rel_err": settings.flag_rel_err,
        "summary": summarise(table, labels.attempted).as_dict(),
        "top": {part: rows.head(top).to_dicts() for part, rows in parts.items()},
        "files": {kind: str(file) for kind, file in files.items()},
    }


def _need_labels(benchmark: Benchmark, labels: Standing) -> None:
    for role, found, remedy in (
        ("original", labels.original, "adopt a table with the labels as they were published"),
        ("recomputed", labels.recomputed, "run `ontoground steward recompute`, or adopt a sheet that has them"),
    ):
        if not found:
            raise InputError(
                f"the benchmark has no {role} labels", file=benchmark.folder, found=benchmark.name, do=remedy
            )


def paint_triage(screen: Console, payload: dict[str, Any]) -> None:
    """Show the head of the lists and the counts."""
    from ontoground.cli.render import relative, table

    for part, head in payload["top"].items():
        # Names that are the same have no distance that a list could begin with.
        rows = [row for row in head if row["unit"] != "name" or row["flag"] != "unflagged"]
        if rows:
            cells = [[_cell(row, name) for name in SHOWN] for row in rows]
            title = TITLES["names" if rows[0]["unit"] == "name" else part]
            screen.print(table(list(SHOWN.values()), cells, title=title))
            screen.print()
    found = payload["summary"]
    types = [[name, *counts.values()] for name, counts in found["by_type"].items()]
    screen.print(table(["output", "rows", "differ", "abstained"], types))
    screen.print()
    n, of = found["n"], found["of"]
    for text in (
        f"compared   {n:,} of {of:,} rows ({percent(found['high_confidence_rate'])}); "
        f"{found['deferred']:,} without a high-confidence label",
        f"differ     {found['differ']:,} of {n:,} ({percent(found['differ_rate'])})",
        f"abstained  {found['abstained']:,} of {n:,} ({percent(found['abstained_rate'])})",
        f"flagged    {found['flagged']:,} of {of:,} ({percent(found['flagged_rate'])}), "
        f"in {found['strata_flagged']:,} of {found['strata']:,} strata",
    ):
        screen.print(text, soft_wrap=True)
    screen.print(f"list in {relative(Path(payload['files']['csv']))}", soft_wrap=True)


def _cell(row: Mapping[str, Any], name: str) -> str | int | float | None:
    value: str | int | float | None = row[name]
    if name == "distance" and row["unit"] == "name":
        return None
    if name == "distance" and isinstance(value, float):
        return f"{value:.0f} d" if row["unit"] == "days" else round(value, 3)
    if name == "stratum" and isinstance(value, str) and len(value) > STRATUM:
        return value[: STRATUM - 1] + "…"
    return value


def finalise_job(
    settings: StewardSettings, workspace: Path, name: str | None, *, policy: Policy | None
) -> dict[str, Any]:
    """Write the label that holds for every row to the history, where it changed, and return what ``--json`` prints.

    Raises:
        InputError: no such benchmark, or it has neither recomputed nor physicians' labels.
        UsageError: several benchmarks and none named.
    """
    from stewardship.adjudication.discrepancy import FLAGGED, discrepancies
    from stewardship.adjudication.finalise import finalise
    from stewardship.adjudication.finalising import final_events, says_more
    from stewardship.benchmark.folder import Benchmark
    from stewardship.history.standing import standing

    benchmark = Benchmark.open(workspace, name)
    labels = standing(benchmark)
    policy = policy or settings.finalise
    found = finalise(labels.settled, labels.physician, policy=policy, relative=settings.agree_rel)
    history = benchmark.history
    before = history.latest("final")
    if not found and all(event.value is None for event in before.values()):
        raise InputError(
            "the benchmark has no label that could hold",
            file=benchmark.folder,
            expected="recomputed or physicians' labels",
            do="run `ontoground steward recompute` or `ontoground steward read`",
        )
    events = final_events(history, found, policy)
    changed = [event for event in events if says_more(before.get(event.uid), event)]
    batch = history.append(changed) if changed else None
    both = [uid for uid in found if uid in labels.original]
    against = discrepancies(
        [labels.original[uid] for uid in both], [found[uid].label for uid in both], limit=settings.flag_rel_err
    )
    held = [event for event in changed if (old := before.get(event.uid)) is not None and old.value != event.value]
    return {
        "verb": "steward finalise",
        "workspace": str(workspace),
        "benchmark": benchmark.name,
        "policy": policy,
        "rows": benchmark.items.height,
        "final": len(found),
        "without": benchmark.items.height - len(found),
        "from": {
            source: sum(event.evidence.get("from") == source for event in events)
            for source in ("recomputed", "rule", "physician")
        },
        "reviewed": sum(one.reviewed for one in found.values()),
        "abstentions": sum(one.label.kind.value == "na" for one in found.values()),
        "differ_from_original": sum(flag in FLAGGED for flag in against["flag"]),
        "added": len(changed),
        "batch": batch,
        "changes": [
            {"uid": event.uid, "before": before[event.uid].value, "after": event.value, "why": event.why}
            for event in held
        ],
        "why": dict(Counter(event.why for event in events if event.value is not None).most_common()),
    }


def paint_finalised(screen: Console, payload: dict[str, Any]) -> None:
    """Show whose labels hold and what changed."""
    from ontoground.cli.render import table

    screen.print(table(["why", "rows"], [[why, rows] for why, rows in payload["why"].items()]))
    screen.print()
    if changes := payload["changes"]:
        rows = [[one["uid"], one["before"], one["after"], one["why"]] for one in changes[:20]]
        screen.print(table(["uid", "before", "after", "why"], rows, title="labels that changed"))
        if len(changes) > len(rows):
            screen.print(f"and {len(changes) - len(rows):,} more")
        screen.print()
    sources = payload["from"]
    screen.print(
        f"policy {payload['policy']}: {payload['final']:,} of {payload['rows']:,} rows have a final label, "
        f"{sources['recomputed']:,} recomputed, {sources['rule']:,} put right by a rule, "
        f"{sources['physician']:,} a physician's; "
        f"{payload['abstentions']:,} of them say that there is no answer",
        soft_wrap=True,
    )
    screen.print(f"{payload['differ_from_original']:,} differ from the original label", soft_wrap=True)
    if payload["added"]:
        screen.print(f"{payload['added']:,} events added to the history, batch {payload['batch']}")
    else:
        screen.print("nothing changed: the history holds these labels already, and nothing was added")
