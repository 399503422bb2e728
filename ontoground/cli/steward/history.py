"""``ontoground steward history``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument

from ground.errors import InputError
from ontoground.cli.options import Result, verb
from ontoground.cli.steward.options import InBenchmark, group

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["history"]

# Statuses that say no more than the role does.
PLAIN = ("published", "labelled", "finalised", "reverted", "rule")


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
    import polars as pl

    benchmark = options.adopted
    events, batches = benchmark.history, benchmark.history.batches()
    results: dict[str, Any] = {"events": len(events.events), "chain": events.chain}
    if uid is None:
        results["batches"] = [asdict(batch) for batch in batches]
        return options.result("history", _paint_batches, **results)
    rows = benchmark.items.filter(pl.col("uid") == uid)
    if not rows.height:
        raise InputError(
            "no such row in the benchmark", file=benchmark.folder, found=uid, expected="a key of its first table"
        )
    item = rows.row(0, named=True)
    taken = {batch.reverts: batch.name for batch in batches if batch.reverts and batch.holds}
    standing = [event for event in events.row(uid) if event.batch not in taken and event.status != "reverted"]
    results |= {
        "uid": uid,
        "row": {role: item.get(role) for role in ("stratum", "stratum_id", "category", "output_type", "question")},
        "holds": {event.role: event.status if event.role == "audit" else event.value for event in standing},
        "history": [{**event.model_dump(), "taken_back_by": taken.get(event.batch)} for event in events.row(uid)],
    }
    return options.result("history", _paint_row, **results)


def _paint_batches(out: Console, payload: dict[str, Any]) -> None:
    from ontoground.cli.render import number, table

    rows = []
    for batch in payload["batches"]:
        who = f"takes back {batch['reverts']} ({batch['by']})" if batch["reverts"] else batch["by"]
        who = who if batch["holds"] else f"{who}; taken back"
        rows.append([batch["name"], batch["at"][:10], batch["events"], ", ".join(batch["roles"]), who])
    out.print(table(["batch", "when", "events", "labels", "who or what"], rows))
    out.print(f"\n{number(payload['events'])} events, each as written; chain {payload['chain'][:16]}")


def _paint_row(out: Console, payload: dict[str, Any]) -> None:
    from ontoground.cli.render import indented, table
    from ontoground.cli.steward.shares import short

    row = payload["row"]
    named = ", ".join(filter(None, (row["stratum"], row["output_type"])))
    out.print(f"row {payload['uid']} of {payload['benchmark']}: {named}", style="bold")
    if row["question"]:
        out.print(indented(row["question"].strip(), 2))
    out.print()
    rows = []
    for item in payload["history"]:
        label = f"({item['status']})" if item["value"] is None else short(item["value"], 14)
        rows.append([item["batch"], item["at"][:10], item["role"], label, _reasons(item)])
    out.print(table(["batch", "when", "label of", "label", "who, why, from what"], rows))
    holds = ", ".join(f"{role} {'(none)' if value is None else value}" for role, value in payload["holds"].items())
    out.print(f"\nholds: {holds or 'nothing'}", soft_wrap=True)


def _reasons(item: dict[str, Any]) -> str:
    by, taken = item["by"], item["taken_back_by"]
    evidence = [
        f"{name} {_plain(name, value)}"
        for name, value in item["evidence"].items()
        # What stands in `by` is not said again.
        if value not in (None, "", [], by) and f"{name} {value}" != by and not (name == "rule" and value in by)
    ]
    status = "" if item["status"] in PLAIN or item["value"] is None else f" ({item['status'].replace('_', ' ')})"
    parts = (f"{by}{status}", item["why"], ", ".join(evidence), taken and f"TAKEN BACK by batch {taken}")
    return "; ".join(filter(None, parts))


def _plain(name: str, value: object) -> str:
    text = ", ".join(value) if isinstance(value, list) else str(value)
    return text[:12] if name.endswith("sha256") else text
