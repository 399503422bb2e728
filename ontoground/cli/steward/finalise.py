"""``ontoground steward finalise``."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ground.errors import InputError
from ontoground.cli.options import Result, verb
from ontoground.cli.steward.options import ConfiguredBenchmark, group

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["finalise"]

SHOWN = 20
"""Changes that are printed; all are in the JSON."""
SUMMARY = """\
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
    from stewardship.adjudication.discrepancy import FLAGGED, discrepancies
    from stewardship.adjudication.finalise import final_events, says_more
    from stewardship.adjudication.standing import disputed, standing

    settings, benchmark = options.settings, options.adopted
    labels, history, policy = standing(benchmark), benchmark.history, policy or settings.finalise
    result = deciding.finalise(labels.settled, labels.physician, policy=policy, settings=settings)
    before = history.latest("final")
    if not result and all(event.value is None for event in before.values()):
        raise InputError(
            "the benchmark has no label that could hold",
            file=benchmark.folder,
            expected="recomputed or physicians' labels",
            do="run `ontoground steward recompute` or `ontoground steward read`",
        )
    events = final_events(history, result, policy)
    changed = [event for event in events if says_more(before.get(event.uid), event)]
    batch = history.append(changed) if changed else None
    both = [uid for uid in result if uid in labels.original]
    against = discrepancies(
        [labels.original[uid] for uid in both], [result[uid].label for uid in both], limit=settings.flag_rel_err
    )
    origins = Counter(event.evidence.get("from") for event in events)
    payload: dict[str, Any] = {
        "policy": policy,
        "rows": benchmark.items.height,
        "final": len(result),
        "without": benchmark.items.height - len(result),
        "from": {source: origins[source] for source in ("recomputed", "rule", "physician")},
        "reviewed": sum(item.reviewed for item in result.values()),
        "disputed": len(disputed(history)),
        "abstentions": sum(item.label.kind.value == "na" for item in result.values()),
        "differ_from_original": sum(flag in FLAGGED for flag in against["flag"]),
        "added": len(changed),
        "batch": batch,
        "changes": [
            {"uid": event.uid, "before": old.value, "after": event.value, "why": event.why}
            for event in changed
            if (old := before.get(event.uid)) is not None and old.value != event.value
        ],
        "why": dict(Counter(event.why for event in events if event.value is not None).most_common()),
    }
    return options.result("finalise", _paint, **payload)


def _paint(out: Console, payload: dict[str, Any]) -> None:
    from ontoground.cli.render import table

    out.print(table(("why", "rows"), list(payload["why"].items())))
    out.print()
    if changes := payload["changes"]:
        rows = [tuple(change.values()) for change in changes[:SHOWN]]
        out.print(table(("uid", "before", "after", "why"), rows, title="labels that changed"))
        if len(changes) > SHOWN:
            out.print(f"and {len(changes) - SHOWN:,} more")
        out.print()
    out.print(SUMMARY.format_map(payload | payload["from"]), soft_wrap=True)
    if payload["disputed"]:
        out.print(DISPUTED.format_map(payload), soft_wrap=True)
    if payload["added"]:
        out.print(f"{payload['added']:,} events added to the history, batch {payload['batch']}")
    else:
        out.print("nothing changed: the history holds these labels already, and nothing was added")
