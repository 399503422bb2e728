"""A batch of sheets answered one row at a time: each answer is checked as `reading` does, and is on disk at once.

The batch's key says whose an item is, in which order he has them and what he is shown. What nobody may see before he
answers (rows' names, strata, labels, what others said) does not leave this module by `Review.task`.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

from ground.contracts.labels import LabelKind, LabelValue
from ground.errors import InputError, UsageError
from ground.settings import StewardSettings
from ground.spreadsheet import text_mark
from stewardship.adjudication.discrepancy import relative_error
from stewardship.benchmark.folder import Benchmark
from stewardship.datasets.rows import row_id
from stewardship.history.log import History, Role
from stewardship.sheets.batch import AnswerKind, Item, SheetBatch, read_batches
from stewardship.sheets.cells import VERDICTS, expected_of, read_answer
from stewardship.sheets.display import Display, displays_of, spot_check_displays
from stewardship.sheets.figures import Reliability, reliability
from stewardship.sheets.guidance import HINTS, guidance
from stewardship.sheets.ratings import SETTLED, answers_by, new_events
from stewardship.sheets.reading import Rating
from stewardship.sheets.spans import MARK, Span, in_words, kept_spans, read_spans, shown_mark, shown_spans
from stewardship.sheets.spotchecks import add_spot_checks, spot_checks

__all__ = ["LEAST", "SILENT", "Answered", "ChangedError", "Opinion", "Review", "Task", "open_review"]

LEAST = 10
"""Rows that two have read from which on anything is said of agreement."""
SILENT = "the guideline is silent"
"""Why a row has no label though it was adjudicated: nothing that both sides accept decides."""
LONGEST_REASON, LONGEST_COMMENT = 200, 4000
"""Characters that the form of `explore` takes."""
PAGE = "page"
"""What stands for a sheet's file in the evidence of an answer that was given on a page."""
TRIES = 50


class ChangedError(UsageError):
    """An answer was changed elsewhere since it was shown."""


@dataclass(frozen=True)
class Answered:
    """What a reader said of an item: the answer's text, reason and comment, all empty where nothing was said.

    ``spans`` are a JSON list as a page sends it, its places those of the text that is shown.
    """

    answer: str = ""
    reason: str = ""
    comment: str = ""
    spans: str = "[]"

    @property
    def version(self) -> str:
        """Tells whether what a page shows is still what was said last."""
        said = json.dumps([self.answer, self.reason, self.comment, self.spans])
        return hashlib.sha256(said.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Opinion:
    """What a reader, who is not named, said of a row that is adjudicated."""

    reader: str
    answer: str
    reason: str
    comment: str
    spans: str


@dataclass(frozen=True)
class Task:
    """All that a reader is shown of one item.

    Attributes:
        number, of: its place among the reader's items.
        display: question and context; label and critique on spot checks only.
        choices: what can be chosen, with its meaning; none where the answer is written.
        opinions: of an adjudication, what was said of the row.
        before, after: the items beside it, if any.
    """

    item: str
    number: int
    of: int
    display: Display
    kind: AnswerKind
    choices: tuple[tuple[str, str], ...]
    expected: str
    answered: Answered
    opinions: tuple[Opinion, ...]
    before: str | None
    after: str | None


@dataclass
class Review:
    """A batch under review; of use to several threads at once.

    Attributes:
        batches: all of the benchmark, which say who was given a row.
        models: readers that are language models: what they say is a reading, and no physician's label.
    """

    benchmark: Benchmark
    batch: SheetBatch
    batches: Sequence[SheetBatch]
    settings: StewardSettings
    models: frozenset[str] = frozenset()
    _answered: dict[str, Answered] = field(default_factory=dict)
    _chain: str | None = None
    _alone: threading.RLock = field(default_factory=threading.RLock)

    def __post_init__(self) -> None:
        """Refuse a batch whose texts are no longer those that it was written with, and a reader of two kinds."""
        displays = self._displays
        if moved := [item for item in self.batch.items if _marks(displays[item.uid]) != (item.question, item.context)]:
            raise InputError(
                "rows have changed since the batch was written",
                file=self.benchmark.folder,
                found=f"{len(moved):,} of {len(self.batch.items):,} items of {self.batch.name}",
                do="write another batch: `ontoground steward sheets`",
            )
        for rater in self.batch.raters:
            other: Role = "physician" if rater in self.models else "reading"
            if any(rater in by for by in answers_by(self.benchmark.history, other).values()):
                was = "a person" if rater in self.models else "a language model"
                raise UsageError("a person and a model have the same name", found=rater, expected=f"what it was: {was}")

    def items(self, rater: str) -> list[Item]:
        """Return a reader's items in his order; of an adjudication, those with the worst disagreement first."""
        own = self._items_of.get(rater, [])
        if self.batch.kind != "adjudication":
            return own
        return sorted(own, key=lambda item: -self._disagreement[item.uid])

    def progress(self, rater: str) -> list[tuple[str, bool]]:
        """Return a reader's items in his order, and whether he has answered each."""
        answers = self._answers()
        return [(item.item, item.item in answers) for item in self.items(rater)]

    def task(self, rater: str, name: str) -> Task:
        """Return what a reader is shown of an item.

        Raises:
            UsageError: he has no such item.
        """
        items = self.items(rater)
        place = self._place(items, name)
        item = items[place]
        return Task(
            item=name,
            number=place + 1,
            of=len(items),
            display=self._displays[item.uid],
            kind=item.expects,
            choices=self._choices(item.expects),
            expected=HINTS[item.expects],
            answered=self._answers().get(name, Answered()),
            opinions=self._opinions(item.uid, rater),
            before=items[place - 1].item if place else None,
            after=items[place + 1].item if place + 1 < len(items) else None,
        )

    def guidance(self) -> tuple[list[str], list[tuple[str, str]]]:
        """Return what a page tells the batch's readers; see `stewardship.sheets.guidance.guidance`."""
        expects = sorted({item.expects for item in self.batch.items})
        categories = self.benchmark.categories
        return guidance(self.batch.kind, blind=self.batch.blind, expects=expects, categories=categories, on="page")

    def save(self, rater: str, name: str, answer: Answered, version: str) -> Answered:
        """Take an answer: when this returns it is on disk.

        Args:
            version: of what the page showed as his answer until then.

        Raises:
            UsageError: it is none of his items, or the answer cannot be taken, and what is expected.
            ChangedError: the item was answered elsewhere since the page was shown.
        """
        items = self.items(rater)
        rating = self._rating(items[self._place(items, name)], answer)
        new = Answered(rating.value.text(), rating.reason, rating.comment, self._shown(rating.uid, rating.spans))
        with self._alone:
            for _ in range(TRIES):
                history = self.benchmark.history
                chain = history.chain
                old = self._answers().get(name, Answered())
                if version != old.version and new != old:
                    do = "look at it again: the page shows what is kept now"
                    raise ChangedError("this row was answered elsewhere since it was shown here", do=do)
                if self._append(rating, history, chain):
                    return self._answers()[name]
        raise InputError("other programs keep writing the history", file=self.benchmark.folder, do="try it again")

    def agreement(self, *, models: bool = False) -> tuple[int, Reliability | None]:
        """Return how many rows two readers or more have read, and how far they agree: None below `LEAST` rows.

        Args:
            models: of the readers that are language models, or else of people: the two are never put together.
        """
        here: dict[str, dict[str, LabelValue]] = {}
        for item in self.batch.items:
            answer = self._answers().get(item.item)
            if answer is not None and (item.rater in self.models) is models:
                here.setdefault(item.uid, {})[item.rater] = self.benchmark.parse(answer.answer)
        shared = sum(len(by) > 1 for by in here.values())
        return shared, reliability(here, {}, self.settings) if shared >= LEAST else None

    def verdicts(self) -> Iterator[dict[str, str]]:
        """Yield what was said of each row beside its published label: of no use to whoever still reads.

        ``id`` is the row's in its dataset (`ontoground explain ID`), ``uid`` the benchmark's, ``question`` its first
        paragraph: the statement. ``verdict``: right where the answer is the published label, doubtful where it is N/A,
        else wrong.
        """
        answers = self._answers()
        with self._alone:
            labels = self.benchmark.history.labels("original")
        strata = self.benchmark.column("stratum")
        wanted = pl.col("uid").is_in([entry.uid for entry in self.batch.items])
        ids = {row["uid"]: row_id(row) for row in self.benchmark.items.filter(wanted).to_dicts()}
        for item in sorted(self.batch.items, key=lambda entry: (entry.uid, entry.rater)):
            if (entry := answers.get(item.item)) is None:
                continue
            label = labels.get(item.uid)
            value = self.benchmark.parse(entry.answer)
            yield {
                "id": ids[item.uid],
                "uid": item.uid,
                "stratum": strata.get(item.uid, ""),
                "question": self._displays[item.uid].question.split("\n\n", 1)[0],
                "label": label.text() if label else "",
                "answer": entry.answer,
                "verdict": _verdict(value, label),
                "reason": entry.reason,
                "comment": entry.comment,
                "spans": in_words(self._spans(item.uid, entry.spans), self._contexts[item.uid]),
                "reader": item.rater,
            }

    @cached_property
    def _items_of(self) -> Mapping[str, list[Item]]:
        results: dict[str, list[Item]] = {}
        for item in self.batch.items:
            results.setdefault(item.rater, []).append(item)
        return results

    @cached_property
    def _displays(self) -> Mapping[str, Display]:
        uids = {item.uid for item in self.batch.items}
        if self.batch.kind == "spot_check":
            return spot_check_displays(self.benchmark, uids)
        return displays_of(self.benchmark, uids, evidence=not self.batch.blind)

    @cached_property
    def _contexts(self) -> Mapping[str, str]:
        wanted = pl.col("uid").is_in([item.uid for item in self.batch.items])
        return {row["uid"]: row.get("context") or "" for row in self.benchmark.items.filter(wanted).to_dicts()}

    @cached_property
    def _disagreement(self) -> Mapping[str, float]:
        uids = {item.uid for item in self.batch.items}
        return {
            uid: _apart([self.benchmark.parse(opinion.answer) for opinion in self._opinions(uid, "")]) for uid in uids
        }

    def _opinions(self, uid: str, rater: str) -> tuple[Opinion, ...]:
        """Return what others than a reader said of a row that is adjudicated, in an order that names nobody."""
        if self.batch.kind != "adjudication":
            return ()
        roles: tuple[Role, ...] = ("physician", "reading")
        with self._alone:
            history = self.benchmark.history
            answers = [event for role in roles for event in answers_by(history, role, [uid]).get(uid, {}).values()]
        events = [item for item in answers if item.by != rater and item.status != SETTLED]
        ordered = sorted(events, key=lambda item: hashlib.sha256(f"{self.batch.seed}{uid}{item.by}".encode()).digest())
        return tuple(
            Opinion(
                f"reader {number}",
                item.value or "",
                str(item.evidence.get("reason") or ""),
                item.why,
                in_words(kept_spans(item.evidence.get("spans")), self._contexts[uid]),
            )
            for number, item in enumerate(ordered, start=1)
        )

    def _choices(self, kind: AnswerKind) -> tuple[tuple[str, str], ...]:
        names: Sequence[str] = VERDICTS if kind == "verdict" else self.benchmark.categories
        if kind not in ("verdict", "category"):
            return ()
        means = dict(self.guidance()[1])
        choices = [(name, means.get(name, "")) for name in names]
        if kind == "category":
            choices.append(("N/A", "doubtful: it cannot be judged"))
        if self.batch.kind == "adjudication":
            choices.append((SILENT, "no label: nothing that both sides accept decides"))
        return tuple(choices)

    @staticmethod
    def _place(items: Sequence[Item], name: str) -> int:
        for place, item in enumerate(items):
            if item.item == name:
                return place
        raise UsageError("no such row on your sheet", do="open the list of your rows")

    def _rating(self, item: Item, answers: Answered) -> Rating:
        silent = answers.answer == SILENT and self.batch.kind == "adjudication"
        categories, question = self.benchmark.categories, self._displays[item.uid].question
        written = "N/A" if silent else answers.answer.strip()
        answer = read_answer(written, item.expects, question=question, categories=categories)
        expected = expected_of(item.expects, categories)
        if answer.value is None:
            raise UsageError(answer.problem, expected=expected, do=answer.do)
        if answer.value.kind is LabelKind.MISSING:
            raise UsageError("no answer was given: nothing was saved", expected=expected)
        reason = SILENT if silent else " ".join(answers.reason.split())
        comment = answers.comment.strip()
        for name, text, most in (("reason", reason, LONGEST_REASON), ("comment", comment, LONGEST_COMMENT)):
            if len(text) > most:
                found, expected = f"{len(text):,} characters", f"at most {most:,}"
                raise UsageError(f"the {name} is too long: nothing was saved", found=found, expected=expected)
            if "\0" in text:
                raise UsageError(f"the {name} has a NUL: nothing was saved", do="type it instead of pasting it")
        spans = self._spans(item.uid, answers.spans)
        named = (item.uid, item.rater, self.batch.name, item.item)
        return Rating(*named, answer.value, written, comment, PAGE, 0, reason, spans)

    def _spans(self, uid: str, written: str) -> tuple[Span, ...]:
        """Return the spans that a page sent, in the row's own context."""
        return read_spans(written, self._contexts[uid], self._before(uid))

    def _shown(self, uid: str, spans: Iterable[Span]) -> str:
        """Return spans as a page has them."""
        return shown_spans(spans, self._contexts[uid], self._before(uid))

    def _before(self, uid: str) -> int:
        """Return how many characters a page shows in front of a row's context: the legend of its marks."""
        return len(MARK.sub(shown_mark, self._displays[uid].context)) - len(self._contexts[uid])

    def _append(self, rating: Rating, history: History, chain: str) -> bool:
        """Write an answer, unless another program wrote to the history since it was at ``chain``."""
        if self.batch.kind == "spot_check":
            add_spot_checks(self.benchmark.folder, [rating])
            return True
        model = rating.rater in self.models
        events = new_events(
            [rating],
            self._batches_of[model],
            history,
            settings=self.settings,
            role="reading" if model else "physician",
        )

        def check() -> None:
            if history.chain != chain:
                raise _MovedError

        try:
            if events:
                history.append(events, check=check)
        except _MovedError:
            return False
        return True

    @cached_property
    def _batches_of(self) -> Mapping[bool, list[SheetBatch]]:
        """Return the batches with the items of people (False) and of models (True): neither waits for the other."""
        return {
            models: [
                batch.model_copy(update={"items": tuple(x for x in batch.items if (x.rater in self.models) is models)})
                for batch in self.batches
            ]
            for models in (False, True)
        }

    def _answers(self) -> Mapping[str, Answered]:
        """Return what was said of each item that was answered, as it is on disk."""
        # One at a time: a history that is read by one thread while another adds to it takes events twice.
        with self._alone:
            if self.batch.kind == "spot_check":
                return dict(self._checked())
            history = self.benchmark.history
            if self._chain != history.chain:
                self._answered, self._chain = dict(self._from(history)), history.chain
            return self._answered

    def _from(self, history: History) -> Iterator[tuple[str, Answered]]:
        uids = {entry.uid for entry in self.batch.items}
        known = {models: answers_by(history, "reading" if models else "physician", uids) for models in (False, True)}
        for item in self.batch.items:
            event = known[item.rater in self.models].get(item.uid, {}).get(item.rater)
            if event is not None and event.evidence.get("sheet") == self.batch.name:
                spans = self._shown(item.uid, kept_spans(event.evidence.get("spans")))
                yield item.item, Answered(event.value or "", str(event.evidence.get("reason") or ""), event.why, spans)

    def _checked(self) -> Iterator[tuple[str, Answered]]:
        known = spot_checks(self.benchmark.folder)
        for item in self.batch.items:
            entry = known.get(item.uid, {}).get(item.rater)
            if entry is not None and entry["sheet"] == self.batch.name:
                spans = self._shown(item.uid, kept_spans(entry.get("spans")))
                yield item.item, Answered(entry["verdict"], entry.get("reason", ""), entry["comment"], spans)


class _MovedError(Exception):
    """The history has grown."""


def open_review(benchmark: Benchmark, name: str, settings: StewardSettings, models: Collection[str] = ()) -> Review:
    """Open a batch of sheets for review.

    Args:
        models: which of its readers are language models.

    Raises:
        UsageError: the benchmark has no such batch, or a model is none of its readers.
        InputError: rows are no longer as they were when the batch was written.
    """
    batches = read_batches(benchmark.folder)
    batch = next((item for item in batches if item.name == name), None)
    if batch is None:
        known = ", ".join(item.name for item in batches)
        do = "write one: `ontoground steward sample --rater ann --rater bob`"
        raise UsageError("no such batch of sheets", found=name, expected=known or "a batch of sheets", do=do)
    if strange := sorted(set(models) - set(batch.raters)):
        raise UsageError("no reader of this batch", found=", ".join(strange), expected=", ".join(batch.raters))
    return Review(benchmark, batch, batches, settings, frozenset(models))


def _marks(display: Display) -> tuple[str, str]:
    return text_mark([display.question]), text_mark([display.context])


def _verdict(answer: LabelValue, label: LabelValue | None) -> str:
    if answer.kind is LabelKind.ABSTENTION or label is None:
        return "doubtful"
    return "right" if answer == label else "wrong"


def _apart(labels: Sequence[LabelValue]) -> float:
    """Return how far labels are apart, at most 3: N/A against a value most, then names and dates, then numbers."""
    if any(label.kind is LabelKind.ABSTENTION for label in labels) and len({label.kind for label in labels}) > 1:
        return 3.0
    numbers = [number for label in labels if (number := _number(label)) is not None]
    if numbers and len(numbers) == len(labels):
        return float(relative_error(min(numbers), max(numbers)))
    counts = Counter(label.text() for label in labels)
    return 1.0 + len(counts) / len(labels) if len(counts) > 1 else 0.0


def _number(label: LabelValue) -> float | None:
    """Return a number, or a level that is one by its name."""
    if label.number is None and label.kind is LabelKind.CATEGORY and label.text().isdecimal():
        return float(label.text())
    return label.number
