"""Final labels as events of the history: each says what it rests on, and is withdrawn where that holds no longer."""

from __future__ import annotations

from collections.abc import Mapping

from stewardship.adjudication.finalise import Final, Policy
from stewardship.adjudication.standing import rests_on, reviewers
from stewardship.history.events import RULE, Event, Events

__all__ = ["final_events", "says_more"]


def final_events(history: Events, found: Mapping[str, Final], policy: Policy) -> list[Event]:
    """Return the events that say the final labels, one for each row that has one or has lost it.

    Args:
        history: that the labels were taken from.
        found: uid to final label (`stewardship.adjudication.finalise.finalise`).
        policy: that decided between a physician's and a recomputed label.
    """
    rests = rests_on(history)
    reviewed = rests["physician"]
    events = [_final(uid, one, rests[one.source][uid], reviewed.get(uid), policy) for uid, one in found.items()]
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
        if uid not in found
    ]
    return events + withdrawn


def _final(uid: str, one: Final, rest: Event, review: Event | None, policy: Policy) -> Event:
    ruled = one.source == "recomputed" and rest.status == RULE
    why = f"{one.why}; labelled by {reviewers(review)}" if one.reviewed and review else one.why
    return Event(
        uid=uid,
        role="final",
        value=one.label.text(),
        status="finalised",
        by=f"policy {policy}" if one.reviewed else "finalise",
        why=f"{why}; a rule put the label right" if ruled else why,
        evidence={
            "from": RULE if ruled else one.source,
            "batch": rest.batch,
            "by": rest.by,
            # The policy decides reviewed rows alone: another policy leaves the others as they are.
            **({"policy": policy} if one.reviewed else {}),
        },
    )


def says_more(last: Event | None, event: Event) -> bool:
    """Tell whether a final label's event says something else than the last one of its row."""
    if last is not None and last.status == event.status == "withdrawn":
        return False
    return last is None or last.says() != event.says()
