"""From answers to labels: what each rater said becomes an event, and of several raters the label that they share.

A row that one rater has is labelled by him. A row that several have is settled when all have answered: by the label of
more than half of them, else it waits for another expert, and until then has no physician's label.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from ground.contracts.labels import LabelKind, LabelValue, parse_label
from ground.settings import StewardSettings
from stewardship.adjudication.agreement import USUAL, ValueType, agrees, value_type
from stewardship.adjudication.discrepancy import relative_error
from stewardship.history.events import OPEN, REVERTED
from stewardship.history.log import Event, History, Role
from stewardship.sheets.batch import SheetBatch
from stewardship.sheets.reading import Rating

__all__ = [
    "AWAITING",
    "LABELLED",
    "OPEN",
    "RATED",
    "SETTLED",
    "Ratings",
    "Settled",
    "agreed_pair",
    "answers_by",
    "current_ratings",
    "new_events",
    "settle",
]

LABELLED = "labelled"
"""Status of the label of the only rater of a row."""
RATED = "rated"
"""Status of one of several raters' answers; an event of another status says what becomes of them."""
SETTLED = "adjudicated"
"""Status of a label that several raters share, or that one gave who decides where they disagree."""
AWAITING = "awaiting"
"""Status of a row whose other raters have not answered; it has no value."""

Ratings = Mapping[str, Mapping[str, LabelValue]]


@dataclass(frozen=True)
class Settled:
    """What becomes of several raters' answers to one row.

    Attributes:
        label: None where no label is that of more than half of them.
    """

    label: LabelValue | None
    why: str


def settle(labels: Mapping[str, LabelValue], settings: StewardSettings = USUAL) -> Settled:
    """Return the label of more than half of the raters.

    Numbers count as equal after rounding to ``decimals`` (small ones: `LabelValue.rounded`). Where that leaves no
    majority, more than half of the raters whose numbers are continuous and all within ``agree_rel`` of one another
    share a label too: the one of theirs that is nearest to the others. Points of an ordinal score are not forgiven
    here: one point is another label.

    Args:
        labels: rater to label, two or more.
        settings: to which decimals numbers are rounded, and how far apart they may be, as a share of the larger one.
    """
    names, relative = sorted(labels), settings.agree_rel
    keys = {name: _key(labels[name], settings.decimals) for name in names}
    counts = Counter(keys.values())
    key, most = max(counts.items(), key=lambda pair: pair[1])
    if 2 * most > len(names):
        rater = next(name for name in names if keys[name] == key)
        return Settled(labels[rater], f"{most} of {len(names)} raters")
    numbers = {name: number for name in names if (number := labels[name].number) is not None}
    # The longest first; of equal ones that of the first name.
    best = max((_near(name, numbers, relative) for name in sorted(numbers)), key=len, default=[])
    if 2 * len(best) > len(names) and value_type(labels[best[0]], labels.values(), settings) is ValueType.CONTINUOUS:
        middle = min(best, key=lambda name: (sum(abs(numbers[name] - numbers[other]) for other in best), name))
        return Settled(labels[middle], f"{len(best)} of {len(names)} raters within {relative:.0%}")
    return Settled(None, f"{len(names)} raters, no majority")


def _near(name: str, numbers: Mapping[str, float], relative: float) -> list[str]:
    """Return raters, this one first, whose numbers are all within ``relative`` of one another."""
    results = [name]
    others = [(abs(number - numbers[name]), other) for other, number in numbers.items() if other != name]
    for _, other in sorted(others):
        if all(float(relative_error(numbers[other], numbers[item])) <= relative for item in results):
            results.append(other)
    return results


def _key(label: LabelValue, decimals: int) -> tuple[LabelKind, object]:
    return label.kind, label.rounded(decimals).value


def current_ratings(history: History) -> dict[str, dict[str, LabelValue]]:
    """Return by row what each rater, no language model, said last, as far as it holds; rows of one rater too."""
    ratings: dict[str, dict[str, LabelValue]] = {}
    for uid, by in answers_by(history, "physician").items():
        for rater, event in by.items():
            label = history.label(event)
            if label.answered:
                ratings.setdefault(uid, {})[rater] = label
    return ratings


def answers_by(history: History, role: Role, uids: Collection[str] | None = None) -> dict[str, dict[str, Event]]:
    """Return by row and rater his last answer; one who decided (status adjudicated) is a rater too.

    Args:
        role: ``physician``, or ``reading`` for what language models answered.
        uids: of these rows; of all where left out.
    """
    holding = history.holds()
    results: dict[str, dict[str, Event]] = {}
    for event in history.events if uids is None else (item for uid in uids for item in history.row(uid)):
        rated = event.status in (LABELLED, RATED) or (event.status == SETTLED and "sheet" in event.evidence)
        if event.role == role and event.batch in holding and rated and event.value is not None:
            results.setdefault(event.uid, {})[event.by] = event
    return results


def _outcomes(history: History, role: Role, uids: Collection[str]) -> dict[str, Event]:
    """Return the last event of a role that holds, of some rows."""
    holding = history.holds()
    own = (event for uid in uids for event in history.row(uid))
    return {item.uid: item for item in own if item.role == role and item.status != REVERTED and item.batch in holding}


def new_events(
    ratings: Iterable[Rating],
    batches: Sequence[SheetBatch],
    history: History,
    *,
    settings: StewardSettings = USUAL,
    settle_now: bool = False,
    role: Role = "physician",
) -> list[Event]:
    """Return the events that answers add to a history; an answer that it holds already adds none.

    Args:
        settings: as in `settle`.
        settle_now: settle rows by the answers there are, though other raters were given them too.
        role: of the events; ``reading`` where the raters are language models.
    """
    ratings = list(ratings)
    by_name = {batch.name: batch for batch in batches}
    asked = _asked(batches)
    uids = {rating.uid for rating in ratings}
    waiting: set[str] = set()
    if settle_now:
        waiting = {uid for uid, event in history.latest(role).items() if event.status == AWAITING}
    before, latest = answers_by(history, role, uids | waiting), _outcomes(history, role, uids | waiting)
    labels = {uid: {rater: event.value or "" for rater, event in by.items()} for uid, by in before.items()}
    answers: list[Event] = []
    decisions: dict[str, Event] = {}
    for rating in ratings:
        batch = by_name[rating.batch]
        single = len(asked.get(rating.uid, ())) <= 1
        event = _event(rating, SETTLED if batch.kind == "adjudication" else LABELLED if single else RATED, batch, role)
        labels.setdefault(rating.uid, {})[rating.rater] = event.value or ""
        old = before.get(rating.uid, {}).get(rating.rater)
        if old is not None and _same(old, event):
            continue
        if event.status == SETTLED:
            decisions[rating.uid] = event
        else:
            answers.append(event)
    changed = {event.uid for event in answers if event.status == RATED}
    decided = {uid: event for uid, event in latest.items() if event.status == SETTLED and "sheet" in event.evidence}
    # A decision stands behind the answers that it decides about, also those that come in after it.
    now = datetime.now(UTC).isoformat(timespec="seconds")
    again = [
        event.model_copy(update={"batch": "", "at": now})
        for uid, event in decided.items()
        if uid in changed and uid not in decisions
    ]
    outcomes = []
    for uid in sorted((changed | waiting) - decisions.keys() - decided.keys()):
        read = {rater: _label(text, history) for rater, text in labels.get(uid, {}).items()}
        outcomes.append(_outcome(uid, read, asked.get(uid, set()), settings, role, settle_now=settle_now))
    return [*answers, *decisions.values(), *again, *outcomes]


def _asked(batches: Sequence[SheetBatch]) -> dict[str, set[str]]:
    """Return by row the raters who were to label it."""
    raters: dict[str, set[str]] = {}
    for batch in batches:
        if batch.kind in ("blind", "sample"):
            for item in batch.items:
                raters.setdefault(item.uid, set()).add(item.rater)
    return raters


def _label(text: str, history: History) -> LabelValue:
    return parse_label(text, physician=True, categories=history.categories)


def _same(old: Event, new: Event) -> bool:
    more = [[item.evidence.get(name) for name in ("reason", "spans")] for item in (old, new)]
    return (old.value, old.why, old.status, more[0]) == (new.value, new.why, new.status, more[1])


def _event(rating: Rating, status: str, batch: SheetBatch, role: Role) -> Event:
    return Event(
        uid=rating.uid,
        role=role,
        value=rating.value.text(),
        status=status,
        by=rating.rater,
        why=rating.comment,
        evidence={
            "sheet": rating.batch,
            "item": rating.item,
            "file": rating.file,
            "row": rating.line,
            "drawn": batch.drawn,
            "blind": batch.blind,
            **({"reason": rating.reason} if rating.reason else {}),
            **({"spans": [span.text() for span in rating.spans]} if rating.spans else {}),
        },
    )


def _outcome(
    uid: str,
    labels: Mapping[str, LabelValue],
    raters: set[str],
    settings: StewardSettings,
    role: Role,
    *,
    settle_now: bool,
) -> Event:
    lacking = sorted(raters - set(labels))
    names = sorted(labels)
    if lacking and not settle_now:
        why = f"{len(names)} of {len(raters)} raters have answered"
        return Event(uid=uid, role=role, status=AWAITING, by="raters", why=why, evidence={"raters": names})
    if len(labels) == 1:
        settled = Settled(next(iter(labels.values())), f"1 of {len(raters)} raters, the others did not answer")
    else:
        settled = settle(labels, settings)
    return Event(
        uid=uid,
        role=role,
        value=None if settled.label is None else settled.label.text(),
        status=OPEN if settled.label is None else SETTLED,
        by="raters",
        why=settled.why,
        evidence={"raters": names, "labels": [labels[name].text() for name in names]},
    )


def agreed_pair(
    value: LabelValue, other: LabelValue, predictions: Iterable[LabelValue], settings: StewardSettings
) -> bool:
    """Return whether two raters agree by the rule for a label and a physician's.

    Neither of the two is the reference, so that both directions must agree.
    """
    every = [value, other, *predictions]
    kinds = [value_type(label, every, settings) for label in (value, other)]
    return all(
        kind is not None and agrees(first, second, kind, settings)
        for kind, first, second in zip(kinds, (value, other), (other, value), strict=True)
    )
