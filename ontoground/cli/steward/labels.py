"""``ontoground steward triage|finalise|history``: what the labels of a benchmark say, and which of them hold."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer import Argument

from ground.errors import InputError
from ontoground.cli.options import Result, verb
from ontoground.cli.render import Blocks, indented, number, relative, table, text, unfolded
from ontoground.cli.steward.options import ConfiguredBenchmark, InBenchmark, group
from ontoground.cli.steward.shares import percent, short

if TYPE_CHECKING:
    from stewardship.adjudication.finalise import Final
    from stewardship.adjudication.standing import Standing
    from stewardship.benchmark.folder import Benchmark
    from stewardship.history.log import Event

__all__ = ["finalise", "history", "triage"]

PRINTED = 20
"""Changes that are printed; all are in the JSON."""
FINAL = """\
policy {policy}: {final:,} of {rows:,} rows have a final label, {recomputed:,} recomputed, {rule:,} put right by a \
rule, {physician:,} a reviewer's; {abstentions:,} of them say that there is no answer
{differ_from_original:,} differ from the original label"""
DISPUTED = """\
rows whose raters disagree: {disputed:,}; they have no reviewer's label (`ontoground steward sheets --adjudicate`)"""


@verb(group, "Say which label of each row holds.", "ontoground steward finalise --policy physician")
def finalise(
    *,
    policy: Annotated[
        Literal["physician", "released"] | None,
        typer.Option(
            help="physician: the physician's label wherever there is one; released: only where the recomputed one is "
            "not close to it, as in the released data; default: as in the settings",
            show_default=False,
        ),
    ] = None,
    options: ConfiguredBenchmark,
) -> Result:
    """Write the final label of each row to the history, with the reason and the evidence.

    Only rows whose final label changes get an event: a second call adds nothing.
    """
    from stewardship.adjudication import finalise as deciding
    from stewardship.adjudication.finalise import final_events, says_more
    from stewardship.adjudication.standing import standing

    settings, benchmark = options.settings, options.adopted
    labels, history, policy = standing(benchmark), benchmark.history, policy or settings.finalise
    finals = deciding.finalise(labels.settled, labels.physician, policy=policy, settings=settings)
    before = history.latest("final")
    if not finals and all(event.value is None for event in before.values()):
        raise InputError(
            "the benchmark has no label that could become final",
            file=benchmark.folder,
            expected="recomputed or physicians' labels",
            do="run `ontoground steward recompute` or `ontoground steward read`",
        )
    events = final_events(history, finals, policy)
    changed = [event for event in events if says_more(before.get(event.uid), event)]
    batch = history.append(changed) if changed else None
    changes = [
        {"uid": event.uid, "before": old.value, "after": event.value, "why": event.why}
        for event in changed
        if (old := before.get(event.uid)) is not None and old.value != event.value
    ]
    counts = _final_counts(benchmark, labels, finals, events, settings.flag_rel_err)
    why = dict(Counter(event.why for event in events if event.value is not None).most_common())
    results = {**counts, "added": len(changed), "batch": batch, "changes": changes, "why": why}
    return options.result("finalise", _blocks, policy=policy, **results)


def _final_counts(
    benchmark: Benchmark, labels: Standing, finals: Mapping[str, Final], events: Iterable[Event], limit: float
) -> dict[str, Any]:
    from stewardship.adjudication.discrepancy import FLAGGED, discrepancies
    from stewardship.adjudication.standing import disputed

    both = [uid for uid in finals if uid in labels.original]
    apart = discrepancies([labels.original[uid] for uid in both], [finals[uid].label for uid in both], limit=limit)
    sources = Counter(event.evidence.get("from") for event in events)
    return {
        "rows": benchmark.items.height,
        "final": len(finals),
        "without": benchmark.items.height - len(finals),
        "from": {source: sources[source] for source in ("recomputed", "rule", "physician")},
        "reviewed": sum(item.reviewed for item in finals.values()),
        "disputed": len(disputed(benchmark.history)),
        "abstentions": sum(item.label.kind.value == "na" for item in finals.values()),
        "differ_from_original": sum(flag in FLAGGED for flag in apart["flag"]),
    }


def _blocks(payload: dict[str, Any]) -> Blocks:
    yield table(("why", "rows"), list(payload["why"].items()))
    if changes := payload["changes"]:
        rows = [tuple(change.values()) for change in changes[:PRINTED]]
        yield table(("uid", "before", "after", "why"), rows, title="labels that changed")
        if len(changes) > PRINTED:
            yield f"and {len(changes) - PRINTED:,} more"
    yield unfolded(FINAL.format_map(payload | payload["from"]))
    if payload["disputed"]:
        yield unfolded(DISPUTED.format_map(payload))
    if payload["added"]:
        yield f"{payload['added']:,} events added to the history, batch {payload['batch']}"
    else:
        yield "nothing changed: the history holds these labels already, and nothing was added"


# Statuses that say no more than the role does.
UNNAMED = ("published", "labelled", "finalised", "reverted", "rule")


@verb(
    group,
    "The history of one row's labels, or of all batches.",
    "ontoground steward history 992",
    "ontoground steward history --json",
)
def history(
    options: InBenchmark,
    uid: Annotated[
        str | None, Argument(metavar="UID", help="Key of the row; default: all batches", show_default=False)
    ] = None,
) -> Result:
    """Show who or what gave each label of a row, when, why and from what evidence, and which label is valid.

    If the history was altered, it is not shown, and the altered line is named.
    """
    benchmark = options.adopted
    events, batches = benchmark.history, benchmark.history.batches()
    results: dict[str, Any] = {"events": len(events.events), "chain": events.chain}
    if uid is None:
        results["batches"] = [asdict(batch) for batch in batches]
        return options.result("history", _blocks_of_batches, **results)
    rows = benchmark.items.filter(uid=uid).to_dicts()
    if not rows:
        what, expected = "no such row in the benchmark", "a key of its first table"
        raise InputError(what, file=benchmark.folder, found=uid, expected=expected)
    item, own = rows[0], events.row(uid)
    taken = {batch.reverts: batch.name for batch in batches if batch.reverts and batch.holds}
    standing = [event for event in own if event.batch not in taken and event.status != "reverted"]
    results |= {
        "uid": uid,
        "row": {role: item.get(role) for role in ("stratum", "stratum_id", "category", "output_type", "question")},
        "holds": {event.role: event.status if event.role == "audit" else event.value for event in standing},
        "history": [{**event.model_dump(), "taken_back_by": taken.get(event.batch)} for event in own],
    }
    return options.result("history", _blocks_of_row, **results)


def _blocks_of_batches(payload: dict[str, Any]) -> Blocks:
    rows = []
    for batch in payload["batches"]:
        who = f"takes back {batch['reverts']} ({batch['by']})" if batch["reverts"] else batch["by"]
        who = who if batch["holds"] else f"{who}; taken back"
        rows.append([batch["name"], batch["at"][:10], batch["events"], ", ".join(batch["roles"]), who])
    yield table(["batch", "when", "events", "labels", "who or what"], rows)
    yield f"\n{number(payload['events'])} events, each as written; chain {payload['chain'][:16]}"


def _blocks_of_row(payload: dict[str, Any]) -> Blocks:
    row = payload["row"]
    named = ", ".join(filter(None, (row["stratum"], row["output_type"])))
    yield text(f"row {payload['uid']} of {payload['benchmark']}: {named}", "bold")
    if row["question"]:
        yield indented(row["question"].strip(), 2)
    rows = []
    for item in payload["history"]:
        label = f"({item['status']})" if item["value"] is None else short(item["value"], 14)
        rows.append([item["batch"], item["at"][:10], item["role"], label, _reasons(item)])
    yield table(["batch", "when", "label of", "label", "who, why, from what"], rows)
    holds = ", ".join(f"{role} {'(none)' if value is None else value}" for role, value in payload["holds"].items())
    yield unfolded(f"\nholds: {holds or 'nothing'}")


def _reasons(item: dict[str, Any]) -> str:
    by, taken = item["by"], item["taken_back_by"]
    evidence = [
        f"{name} {_evidence_text(name, value)}"
        for name, value in item["evidence"].items()
        # What stands in `by` is not said again.
        if value not in (None, "", [], by) and f"{name} {value}" != by and not (name == "rule" and value in by)
    ]
    status = "" if item["status"] in UNNAMED or item["value"] is None else f" ({item['status'].replace('_', ' ')})"
    parts = (f"{by}{status}", item["why"], ", ".join(evidence), taken and f"TAKEN BACK by batch {taken}")
    return "; ".join(filter(None, parts))


def _evidence_text(name: str, value: object) -> str:
    text = ", ".join(value) if isinstance(value, list) else str(value)
    return text[:12] if name.endswith("sha256") else text


RANKED = ("rank", "uid", "stratum", "original", "new", "apart")
TITLES = {
    "abstained": "abstained: one of both labels says that there is no answer",
    "numbers": "largest relative errors",
    "names": "labels of two names",
    "dates": "dates most days apart",
}
STRATUM = 36
"""Characters of a stratum that a table of 80 columns has room for."""
TRIAGE = """\
compared   {n:,} of {of:,} rows ({high_confidence_rate}); {deferred:,} without a high-confidence label
differ     {differ:,} of {n:,} ({differ_rate})
abstained  {abstained:,} of {n:,} ({abstained_rate})
flagged    {flagged:,} of {of:,} ({flagged_rate}), in {strata_flagged:,} of {strata:,} strata"""


@verb(
    group,
    "Rank the rows whose recomputed label differs from the original.",
    "ontoground steward triage --benchmark medcalc",
    "ontoground steward triage --top 50 --set steward.flag_rel_err=0.1",
)
def triage(
    *,
    top: Annotated[int, typer.Option(min=0, metavar="N", help="Rows of each part of the list to print")] = 10,
    options: ConfiguredBenchmark,
) -> Result:
    """Compare recomputed labels with the original ones and rank the rows, worst first.

    Abstentions come first, then numbers by relative error; dates make a list of their own, by days. A row is flagged
    above steward.flag_rel_err. The whole list is written to triage.parquet and triage.csv in the benchmark's folder.
    """
    import polars as pl

    from ground.spreadsheet import write_csv
    from ground.storage.files import atomic_path
    from stewardship.adjudication import triage as ranking
    from stewardship.adjudication.discrepancy import Flag

    settings, benchmark = options.settings, options.adopted
    labels = _both_labels(benchmark)
    ranked = ranking.triage(
        labels.original, labels.recomputed, strata=labels.strata, types=labels.types, limit=settings.flag_rel_err
    )
    files = {kind: benchmark.folder / f"triage.{kind}" for kind in ("parquet", "csv")}
    for kind, write in (("parquet", ranked.write_parquet), ("csv", functools.partial(write_csv, ranked))):
        with atomic_path(files[kind]) as temporary:
            write(temporary)
    abstained = pl.col("flag") == Flag.ABSTAINED.value
    parts = {
        "abstained": ranked.filter(abstained),
        "numbers": ranked.filter(~abstained, list="main"),
        "dates": ranked.filter(~abstained, list="dates"),
    }
    return options.result(
        "triage",
        _blocks_of_triage,
        flag_rel_err=settings.flag_rel_err,
        summary=ranking.summarise(ranked, labels.attempted).as_dict(),
        top={part: rows.head(top).to_dicts() for part, rows in parts.items()},
        files={kind: str(file) for kind, file in files.items()},
    )


def _both_labels(benchmark: Benchmark) -> Standing:
    """Return the labels that stand, where there are original and recomputed ones."""
    from stewardship.adjudication.standing import standing

    labels = standing(benchmark)
    for role, own, remedy in (
        ("original", labels.original, "adopt a table with the labels as they were published"),
        ("recomputed", labels.recomputed, "run `ontoground steward recompute`, or adopt a sheet that has them"),
    ):
        if not own:
            what = f"the benchmark has no {role} labels"
            raise InputError(what, file=benchmark.folder, found=benchmark.name, do=remedy)
    return labels


def _blocks_of_triage(payload: dict[str, Any]) -> Blocks:
    for part, head in payload["top"].items():
        # Names that are the same have no distance that a list could begin with.
        rows = [row for row in head if row["unit"] != "name" or row["flag"] != "unflagged"]
        if rows:
            title = TITLES["names" if rows[0]["unit"] == "name" else part]
            yield table(RANKED, list(map(_cells, rows)), title=title)
    summary = payload["summary"]
    types = [(name, *counts.values()) for name, counts in summary["by_type"].items()]
    yield table(("output", "rows", "differ", "abstained"), types)
    answers = {name: percent(value) if name.endswith("_rate") else value for name, value in summary.items()}
    yield unfolded("\n" + TRIAGE.format_map(answers))
    yield unfolded(f"list in {relative(Path(payload['files']['csv']))}")


def _cells(row: Mapping[str, Any]) -> tuple[Any, ...]:
    stratum, apart = row["stratum"], row["distance"]
    if stratum is not None and len(stratum) > STRATUM:
        stratum = stratum[: STRATUM - 1] + "…"
    if row["unit"] == "name":
        apart = None
    elif apart is not None:
        apart = f"{apart:.0f} d" if row["unit"] == "days" else round(apart, 3)
    return row["rank"], row["uid"], stratum, row["original"], row["recomputed"], apart
