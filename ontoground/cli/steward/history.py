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
    found: dict[str, Any] = {"events": len(events.events), "chain": events.chain}
    if uid is None:
        found["batches"] = [asdict(one) for one in batches]
        return options.result("history", _paint_batches, **found)
    rows = benchmark.items.filter(pl.col("uid") == uid)
    if not rows.height:
        raise InputError(
            "no such row in the benchmark", file=benchmark.folder, found=uid, expected="a key of its first table"
        )
    item = rows.row(0, named=True)
    taken = {one.reverts: one.name for one in batches if one.reverts and one.holds}
    standing = [event for event in events.row(uid) if event.batch not in taken and event.status != "reverted"]
    found |= {
        "uid": uid,
        "row": {role: item.get(role) for role in ("stratum", "stratum_id", "category", "output_type", "question")},
        "holds": {event.role: event.status if event.role == "audit" else event.value for event in standing},
        "history": [{**event.model_dump(), "taken_back_by": taken.get(event.batch)} for event in events.row(uid)],
    }
    return options.result("history", _paint_row, **found)


def _paint_batches(out: Console, payload: dict[str, Any]) -> None:
    from ontoground.cli.render import number, table

    rows = []
    for one in payload["batches"]:
        who = f"takes back {one['reverts']} ({one['by']})" if one["reverts"] else one["by"]
        who = who if one["holds"] else f"{who}; taken back"
        rows.append([one["name"], one["at"][:10], one["events"], ", ".join(one["roles"]), who])
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
    for one in payload["history"]:
        label = f"({one['status']})" if one["value"] is None else short(one["value"], 14)
        rows.append([one["batch"], one["at"][:10], one["role"], label, _reasons(one)])
    out.print(table(["batch", "when", "label of", "label", "who, why, from what"], rows))
    holds = ", ".join(f"{role} {'(none)' if value is None else value}" for role, value in payload["holds"].items())
    out.print(f"\nholds: {holds or 'nothing'}", soft_wrap=True)


def _reasons(one: dict[str, Any]) -> str:
    by, taken = one["by"], one["taken_back_by"]
    evidence = [
        f"{name} {_plain(name, value)}"
        for name, value in one["evidence"].items()
        # What stands in `by` is not said again.
        if value not in (None, "", [], by) and f"{name} {value}" != by and not (name == "rule" and value in by)
    ]
    status = "" if one["status"] in PLAIN or one["value"] is None else f" ({one['status'].replace('_', ' ')})"
    parts = (f"{by}{status}", one["why"], ", ".join(evidence), taken and f"TAKEN BACK by batch {taken}")
    return "; ".join(filter(None, parts))


def _plain(name: str, value: object) -> str:
    plain = ", ".join(value) if isinstance(value, list) else str(value)
    return plain[:12] if name.endswith("sha256") else plain
