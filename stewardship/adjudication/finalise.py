"""Which label holds in the end (docs/stewardship.md#final-labels)."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from ground import ROOT
from ground.contracts.labels import LabelKind, LabelValue, parse_label
from ground.settings import StewardSettings
from ground.storage.tables import read_table
from stewardship.adjudication.agreement import USUAL, ValueType, agrees
from stewardship.adjudication.standing import rests_on, reviewers
from stewardship.history.events import RULE, Event, Events

__all__ = ["POLICIES", "Final", "Policy", "final_events", "finalise", "says_more"]

Policy = Literal["physician", "released"]
POLICIES: tuple[Policy, ...] = get_args(Policy)
Source = Literal["physician", "recomputed"]
EXCEPTIONS = ROOT / "stewardship" / "data" / "finalise_exceptions.tsv"


@dataclass(frozen=True)
class Final:
    """The label that holds."""

    label: LabelValue
    source: Source
    why: str
    reviewed: bool


def finalise(
    recomputed: Mapping[str, LabelValue],
    physician: Mapping[str, LabelValue],
    *,
    policy: Policy,
    settings: StewardSettings = USUAL,
) -> dict[str, Final]:
    """Return the final label of every row that has one.

    ``physician`` is the paper's words: the physician's label wherever there is one, else the recomputed one.
    ``released`` is what the released data do, on all 887 rows: the physician's label where the recomputed one is more
    than ``agree_rel`` of it away, or only one of both abstains; otherwise the recomputed one stays. Points of ordinal
    scores are not forgiven here, other than in `stewardship.adjudication.agreement`; the one row that departs from
    this is recorded in ``data/finalise_exceptions.tsv``.

    A row with neither label (deferred, not reviewed) has no final label. One that cannot be read counts as none.

    Args:
        recomputed: uid to the label recomputed with high confidence.
        physician: uid to the physician's label.
        settings: the share of the physician's value that ``released`` lets pass.
    """
    new, reviewed = ({uid: item for uid, item in given.items() if item.answered} for given in (recomputed, physician))
    finals = {}
    for uid in [*new, *(uid for uid in reviewed if uid not in new)]:
        if (label := reviewed.get(uid)) is not None:
            finals[uid] = _reviewed(uid, label, new.get(uid), policy, settings)
        else:
            unread = uid in physician and physician[uid].kind is LabelKind.UNPARSEABLE
            why = "the reviewer's label cannot be read" if unread else "no reviewer labelled the row"
            finals[uid] = Final(new[uid], "recomputed", why, reviewed=False)
    return finals


def _reviewed(
    uid: str, label: LabelValue, other: LabelValue | None, policy: Policy, settings: StewardSettings
) -> Final:
    if other is None:
        return Final(label, "physician", "the reviewer's label, as nothing was recomputed", reviewed=True)
    if policy == "physician":
        return Final(label, "physician", "the reviewer's label", reviewed=True)
    close = agrees(label, other, ValueType.CONTINUOUS, settings)
    takes: Source = "recomputed" if close else "physician"
    if label.number is None or other.number is None:
        why = "both say the same" if close else "recomputed and reviewer's label are not of one kind, or not equal"
    else:
        why = (
            f"the recomputed label is {'within' if close else 'not within'} {settings.agree_rel:.3g} of the reviewer's"
        )
    if recorded := _exceptions().get((uid, other, label)):
        takes, why = recorded, f"recorded exception of the released data ({EXCEPTIONS.name})"
    return Final(label if takes == "physician" else other, takes, why, reviewed=True)


@functools.cache
def _exceptions() -> dict[tuple[str, LabelValue, LabelValue], Source]:
    rows = read_table(EXCEPTIONS, ("uid", "recomputed", "physician", "takes", "source"))
    return {
        (row["uid"], parse_label(row["recomputed"]), parse_label(row["physician"])): _source(row["takes"])
        for row in rows
    }


def _source(name: str) -> Source:
    return "physician" if name == "physician" else "recomputed"


def final_events(history: Events, results: Mapping[str, Final], policy: Policy) -> list[Event]:
    """Return the events that say the final labels, one for each row that has one or has lost it.

    Args:
        results: uid to final label (`stewardship.adjudication.finalise.finalise`).
        policy: that decided between a physician's and a recomputed label.
    """
    rests = rests_on(history)
    reviewed = rests["physician"]
    events = [_final(uid, item, rests[item.source][uid], reviewed.get(uid), policy) for uid, item in results.items()]
    # A label that held and has lost what it rested on (its batch was taken back) holds no longer.
    withdrawn = [
        Event(
            uid=uid,
            role="final",
            status="withdrawn",
            by="finalise",
            why="neither a recomputed nor a reviewer's label holds any more",
            evidence={"held": old.value},
        )
        for uid, old in history.latest("final").items()
        if uid not in results
    ]
    return events + withdrawn


def _final(uid: str, final: Final, rest: Event, review: Event | None, policy: Policy) -> Event:
    ruled = final.source == "recomputed" and rest.status == RULE
    why = f"{final.why}; labelled by {reviewers(review)}" if final.reviewed and review else final.why
    return Event(
        uid=uid,
        role="final",
        value=final.label.text(),
        status="finalised",
        by=f"policy {policy}" if final.reviewed else "finalise",
        why=f"{why}; a rule put the label right" if ruled else why,
        evidence={
            "from": RULE if ruled else final.source,
            "batch": rest.batch,
            "by": rest.by,
            # The policy decides reviewed rows alone: another policy leaves the others as they are.
            **({"policy": policy} if final.reviewed else {}),
        },
    )


def says_more(last: Event | None, event: Event) -> bool:
    """Tell whether a final label's event says something else than the last one of its row."""
    if last is not None and last.status == event.status == "withdrawn":
        return False
    return last is None or last.says() != event.says()
