"""Learn how certain mentions are (``ehr.learned``) from notes with gold, and measure it on notes that were left out.

    python -m benchmarks.learn_certainty WORKSPACE --real DIR --clinic DIR --more A NOTES GOLD ... [--write]

The workspace gives the names of the release. The written notes, phrases and probes of ``tests/data/notes`` are learned
from, all but the notes of ``unread``, the last real notes and the probes that are kept, which are only scored.
``--real`` names the folder of the texts of real notes by id (``notes.jsonl.gz``), whose gold is in ``tests/data/notes``
and in that folder (``gold.jsonl``); ``--clinic`` the notes of ACI-Bench; each ``--more`` another set. A set of written
notes, or the probes of a writer, is scored by a model that learned from all others, a tenth of the real notes by one
that learned from all else. With ``--write`` the model of all is written to ``ehr/data``. No text is in it: weights by
hashes of words that stand in three notes or more.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import random
import re
import string
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from ehr.certainty import ASSERTIONS, named_in
from ehr.learned import GROUPS, MODEL, inputs_of
from ehr.learned_scan import AHEAD, NO_MENTION, NONE_AHEAD, SLOTS, TABLE, features_of
from ehr.reading import TextReader
from ehr.spans import KINDS, Assertion, Kind
from ground import ROOT
from ground.settings import NoteSettings
from ground.storage.tables import read_table
from ground.storage.warehouse import connect
from ontoground.cli.render import console, table
from stewardship.adjudication.agreement import wilson

__all__ = ["Examples", "Options", "examples_of", "is_right", "learn", "left_out", "write"]

GOLD = ROOT / "tests" / "data" / "notes"
LEARNED_FROM = ("plain", "hard", "tuned", "kept", "scored_once")
ONLY_SCORED = ("unread", "probes_kept", "real, last")
PROBES = "probes"
_MARKED = re.compile(r"((?:(?!\[\[).)*)(?:\[\[([^\[\]|]+)\|([a-z,]*)\|([a-z,]*)\]\]|$)", re.DOTALL)
"""A piece of a text, and the marked name that follows it, if any."""
ANSWERS = ("right", "silent", "wrong", "serious", "not read")
"""What answers to probes are worth."""
REAL = "real"
PIECES = ", paragraphs"
PLAIN = frozenset({"brief_hospital_course", "history_of_present_illness", "chief_complaint", "unknown"})
"""Sections in which nothing but the words says what is asserted."""
NAME_TYPES = {"D": "disorder", "E": "disorder", "S": "finding", "T": "finding", "M": "drug", "N": "drug"}
"""What fills each place of a phrase."""
FILLED = 6
"""How often each phrase is filled."""
PROBLEMS = frozenset({"disorder", "finding"})
AS_GOOD = {"present": {"present", "given"}, "absent": {"absent", "family"}, "family": {"family", "other"}}
"""What the gold may say where rules say the first; all others have the same name in both."""
FOLDS, CHOICE_FOLDS = 10, 4
SCALE, CHOICE_SCALE = 1000, 30
"""Weights are whole numbers of thousandths, those of which assertion it is of thirtieths."""
SAME = {"given": "present", "other": "none"}
"""Assertions of the gold that are learned as another."""
LEAST: dict[str, dict[str, float]] = {
    "present": {"disorder": 0.94, "finding": 0.95, "drug": 0.93, "procedure": 0.97},
    "absent": dict.fromkeys(KINDS, 0.96),
    "other": dict.fromkeys(KINDS, 0.96),
}
"""How likely right a certain mention of each group and kind is, at least; present ones alone make labels.

Chosen by what is right of each kind in notes that were left out; few facts have procedures as ends.
"""
_TOGETHER = 16
Mention = dict[str, Any]


@dataclass(frozen=True)
class Options:
    """How models are fitted.

    Attributes:
        strength, strength_asserting: inverse of the penalty, of the certainty and of which assertion it is.
        real, pieces, probes: what mentions of a real note, of paragraphs by themselves, and of probes count.
        notes: the least number of notes in which a feature stands; asserting: of one that tells which assertion it is.
    """

    strength: float = 0.05
    strength_asserting: float = 0.05
    real: float = 3.0
    pieces: float = 0.5
    probes: float = 0.5
    probes_asserting: float = 4.0
    notes: int = 3
    notes_asserting: int = 5


@dataclass(frozen=True)
class Examples:
    """Mentions with gold.

    Of each: set, note, group, kind, if the rules are certain, if it has a concept, if it is right.

    ``by_rule`` and ``asserted`` are places in ``ASSERTIONS``: what rules say, and the gold (NO_MENTION: nothing).
    ``weight`` is 0.5 where two annotators differ. shape of each: (mentions,); of ``places``: (mentions, SLOTS)
    """

    of_set: npt.NDArray[np.str_]
    note: npt.NDArray[np.str_]
    group: npt.NDArray[np.int64]
    kind: npt.NDArray[np.int64]
    by_rules: npt.NDArray[np.bool_]
    has_concept: npt.NDArray[np.bool_]
    right: npt.NDArray[np.bool_]
    by_rule: npt.NDArray[np.int64]
    asserted: npt.NDArray[np.int64]
    weight: npt.NDArray[np.float64]
    places: npt.NDArray[np.int32]

    def take(self, which: npt.NDArray[Any]) -> Examples:
        """Return some of them."""
        return Examples(*(getattr(self, name)[which] for name in self.__dataclass_fields__))

    @classmethod
    def together(cls, parts: Sequence[Examples]) -> Examples:
        """Return the examples of all parts."""
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__dataclass_fields__))


def _names() -> dict[str, list[str]]:
    """Return names of each type that stand in three written notes or more."""
    notes: Counter[tuple[str, str]] = Counter()
    for name in LEARNED_FROM:
        for mentions in _gold(GOLD / f"{name}_gold.jsonl.gz").values():
            notes.update({(one["type"], one["text"]) for one in mentions if one["text"].replace(" ", "").isalpha()})
    return {kind: sorted(text for (of_kind, text), n in notes.items() if of_kind == kind and n > 2) for kind in KINDS}


def _phrases() -> tuple[dict[str, str], dict[str, list[list[Mention]]]]:
    """Return written phrases with names filled in, and what is asserted of these; of other names nothing is known."""
    draw, names = random.Random(0), _names()
    texts, gold = dict[str, str](), dict[str, list[list[Mention]]]()
    for number, row in enumerate(read_table(GOLD / "phrases.tsv", ("text", "assertions"))):
        asserted = dict(part.split("=") for part in row["assertions"].split())
        for filling in range(FILLED):
            text, mentions = "", []
            for before, place, *_ in string.Formatter().parse(row["text"].replace("\\n", "\n")):
                text += before
                if place:
                    begin, kind = len(text), NAME_TYPES[place]
                    text += draw.choice(names[kind])
                    known = {"assertion": asserted[place], "in_stay": False} if place in asserted else {"unsure": True}
                    mentions.append({"start": begin, "end": len(text), "type": kind, "assertion": "other"} | known)
            rest = {"start": 0, "end": len(text), "type": "finding", "assertion": "other", "unsure": True}
            texts[f"{number}-{filling}"], gold[f"{number}-{filling}"] = text, [[*mentions, rest]]
    return texts, gold


def _lines(file: Path) -> Iterator[str]:
    opened = gzip.open if file.suffix == ".gz" else open
    with opened(file, "rt", encoding="utf-8", newline="") as read:
        yield from read


def _gold(file: Path) -> dict[str, list[Mention]]:
    notes = map(json.loads, _lines(file))
    return {note.get("note_id") or note["id"]: note["mentions"] for note in notes}


def _texts(file: Path) -> dict[str, str]:
    if ".jsonl" in file.name:
        return {note["id"]: note["text"] for note in map(json.loads, _lines(file))}
    csv.field_size_limit(1 << 30)
    return {row["note_id"]: row["text"] for row in csv.DictReader(_lines(file))}


def _clinic(file: Path) -> Iterator[tuple[str, str]]:
    """Yield the notes of a file of ACI-Bench; files of metadata have none."""
    for row in csv.DictReader(_lines(file)):
        if "note" in row:
            yield row["encounter_id"], row["note"]


def _best(begin: int, end: int, gold: Sequence[Mention]) -> tuple[list[Mention], Mention | None]:
    """Return the mentions of the gold that overlap with a span, and the one that does most."""
    hits = [one for one in gold if one["start"] < end and begin < one["end"]]
    return hits, max(hits, key=lambda one: min(end, one["end"]) - max(begin, one["start"]), default=None)


def _is_other(gold: Mention, kind: Kind) -> bool:
    """Whether a mention of the gold is of another kind; a probe's is of any."""
    return gold["type"] is not None and (gold["type"] in PROBLEMS) != (kind in PROBLEMS)


def _asserted(kind: Kind, begin: int, end: int, gold: Sequence[Mention]) -> int:
    """Return the place of what the gold asserts of a mention."""
    _, best = _best(begin, end, gold)
    if best is None or _is_other(best, kind):
        return NO_MENTION
    asserted = str(SAME.get(best["assertion"], best["assertion"]))
    return NO_MENTION if asserted == "none" else ASSERTIONS.index(Assertion(asserted))


def is_right(
    rules: Assertion, kind: Kind, begin: int, end: int, gold: Sequence[Mention], *, is_real: bool
) -> bool | None:
    """Tell whether what rules say of a mention is right; None: the gold does not tell.

    A problem that is part of a treatment's name, or the other way round ("balloon tamponade"), is another concept.
    """
    hits, best = _best(begin, end, gold)
    if best is None:
        return False
    if best.get("unsure"):
        return None
    if _is_other(best, kind):
        return False
    said = set(best.get("right", [best["assertion"]]))
    if rules == "present" and not is_real:
        said |= {one["assertion"] for one in hits}
        # A drug of the stay that ended attests its concept, a stopped home drug does not; some gold does not tell.
        if best["assertion"] == "discontinued" and said.isdisjoint(AS_GOOD["present"]):
            in_stay: bool | None = best.get("in_stay")
            return in_stay
    return not said.isdisjoint(AS_GOOD.get(rules, {rules}))


def examples_of(
    reader: TextReader, of_set: str, texts: dict[str, str], gold: dict[str, list[list[Mention]]]
) -> Iterator[Examples]:
    """Yield the mentions of a set of notes, and once more those of paragraphs that are read without their note.

    Args:
        reader: with rules alone.
        of_set: name of the set.
        texts: by note.
        gold: mentions by note, as each annotator has them.
    """
    ids = sorted(gold)
    for first in range(0, len(ids), _TOGETHER):
        some = ids[first : first + _TOGETHER]
        whole = [_Piece(note, 0, texts[note]) for note in some]
        yield _examples(reader, of_set, whole, gold, headers=True)
        if pieces := list(_paragraphs(reader, whole)):
            yield _examples(reader, of_set + PIECES, pieces, gold, headers=False)


@dataclass(frozen=True)
class _Piece:
    """A part of a note that is read by itself, and where it begins."""

    note: str
    begin: int
    text: str


def _paragraphs(reader: TextReader, notes: Sequence[_Piece]) -> Iterator[_Piece]:
    """Yield the paragraphs of sections in which nothing but the words says what is asserted."""
    joined, _, _ = reader.join([piece.text for piece in notes])
    segments = joined.segments
    blocks, first = np.unique(segments.block, return_index=True)
    last = np.append(first[1:], segments.block.size) - 1
    begins, ends = segments.begin[first], segments.end[last]
    section = np.searchsorted(joined.sections.begin, begins, side="right") - 1
    owner = np.searchsorted(joined.begin, begins, side="right") - 1
    for place in range(blocks.size):
        begin = max(int(begins[place]), int(joined.body[section[place]]))
        if joined.sections.names[joined.sections.name[section[place]]] in PLAIN and begin < ends[place]:
            note = notes[owner[place]]
            yield _Piece(note.note, begin - int(joined.begin[owner[place]]), joined.joined[begin : ends[place]])


def _examples(
    reader: TextReader, of_set: str, pieces: Sequence[_Piece], gold: dict[str, list[list[Mention]]], *, headers: bool
) -> Examples:
    joined, _, _ = reader.join([piece.text for piece in pieces], headers=headers)
    judged = reader.judge(joined)
    mentions = judged.clear
    named = named_in(mentions.owner, reader.lexicon.best[mentions.entry])
    inputs = inputs_of(joined, mentions, reader.lexicon, named, judged.assertion, judged.unsure)
    right, weight = np.zeros(mentions.owner.size, dtype=np.bool_), np.zeros(mentions.owner.size)
    asserted = np.zeros(mentions.owner.size, dtype=np.int64)
    rules = [ASSERTIONS[place] for place in judged.assertion.tolist()]
    kinds = [KINDS[place] for place in reader.lexicon.kind[mentions.entry].tolist()]
    columns = zip(mentions.owner.tolist(), *inputs.mentions[:, :2].T.tolist(), rules, kinds, strict=True)
    for number, (owner, begin, end, assertion, kind) in enumerate(columns):
        moved = pieces[owner].begin - int(joined.begin[owner])
        is_real = of_set.startswith(REAL)
        own = gold[pieces[owner].note]
        answers = [is_right(assertion, kind, begin + moved, end + moved, each, is_real=is_real) for each in own]
        right[number] = bool(answers[0])
        asserted[number] = _asserted(kind, begin + moved, end + moved, own[0])
        weight[number] = 0 if answers[0] is None else (1 if len({*answers} - {None}) == 1 else 0.5)
    return Examples(
        np.full(right.size, of_set),
        np.array([piece.note for piece in pieces])[mentions.owner],
        inputs.mentions[:, 2],
        inputs.mentions[:, 3],
        judged.unsure == 0,
        reader.lexicon.best[mentions.entry] >= 0,
        right,
        judged.assertion,
        asserted,
        weight,
        features_of(inputs),
    ).take(weight > 0)


def _probes(file: Path) -> Iterator[tuple[str, dict[str, str], dict[str, list[list[Mention]]]]]:
    """Yield the probes of each writer: a name, the texts, and what is asserted of the marked names."""
    rows = read_table(file, ("writer", "kind", "text"))
    for writer in dict.fromkeys(row["writer"] for row in rows):
        texts, gold = dict[str, str](), dict[str, list[list[Mention]]]()
        for row in rows:
            if row["writer"] == writer:
                number = f"{writer}-{len(texts)}"
                texts[number], mentions = unmarked(row["text"])
                rest = {"start": 0, "end": len(texts[number]), "type": "finding", "assertion": "other", "unsure": True}
                gold[number] = [[*mentions, rest]]
        yield f"{file.stem} {writer}", texts, gold


def unmarked(marked: str) -> tuple[str, list[Mention]]:
    """Return a text without its marks, and its mentions; those that would be a serious error are ``never``."""
    text, mentions = "", list[Mention]()
    for before, name, right, never in _MARKED.findall(marked.replace("\\n", "\n")):
        text += before
        if name:
            values = [SAME.get(part, part) for part in right.split(",")]
            known = {"type": None, "assertion": values[0], "right": values, "never": never.split(","), "in_stay": False}
            mentions.append({"start": len(text), "end": len(text) + len(name)} | known)
        text += name
    return text, mentions


def answer(mention: tuple[str, bool] | None, probe: Mention) -> str:
    """Return what an answer to a probe is worth: right, silent (unsure and another), wrong, serious, or not read.

    Args:
        mention: what is asserted of the mention that overlaps most, and whether it is certain and has a concept.
        probe: what is right of it, and what would be a serious error.
    """
    if mention is None:
        return "right" if "none" in probe["right"] else "not read"
    asserted, is_certain = mention
    if asserted in probe["right"]:
        return "right"
    if not is_certain:
        return "silent"
    is_serious = asserted in probe["never"] or (asserted == "present" and "none" in probe["right"])
    return "serious" if is_serious else "wrong"


def _print_probes(reader: TextReader) -> None:
    """Print how the reader answers the probes that are kept, by writer."""
    rows = list[tuple[str | int, ...]]()
    for name, texts, gold in _probes(GOLD / "probes_kept.tsv"):
        joined, _, _ = reader.join(list(texts.values()))
        judged = reader.judge(joined)
        mentions, count = judged.clear, Counter[str]()
        is_certain = (judged.unsure == 0) & (reader.lexicon.best[mentions.entry] >= 0)
        begin = mentions.begin - joined.begin[mentions.owner]
        of_text = pl.DataFrame({"text": mentions.owner, "start": begin, "end": begin + mentions.end - mentions.begin})
        for number, probes in enumerate(gold.values()):
            own = of_text.with_row_index().filter(pl.col("text") == number).to_dicts()
            for probe in probes[0][:-1]:
                _, best = _best(probe["start"], probe["end"], own)
                place = None if best is None else best["index"]
                asserted = (
                    None if place is None else (str(ASSERTIONS[judged.assertion[place]]), bool(is_certain[place]))
                )
                count[answer(asserted, probe)] += 1
        rows.append((name, *(count[each] for each in ANSWERS)))
    console().print(table(("probes", *ANSWERS), rows))


def _known_places(examples: Examples, least: int) -> npt.NDArray[np.int64]:
    """Return the places of features that stand in enough notes."""
    note = np.unique(examples.note, return_inverse=True)[1]
    row, slot = np.nonzero(examples.places >= 0)
    pairs = np.unique(np.stack((examples.places[row, slot], note[row])), axis=1)
    return np.flatnonzero(np.bincount(pairs[0], minlength=TABLE) >= least)


def _matrix(places: npt.NDArray[np.int32]) -> Any:
    """Return which places the features of each mention have, how often. shape: (mentions, TABLE)"""
    from scipy.sparse import csr_matrix

    held = places >= 0
    begins = np.append(0, np.cumsum(held.sum(axis=1)))
    return csr_matrix((np.ones(begins[-1], dtype=np.float32), places[held], begins), shape=(len(places), TABLE))


def _weights(examples: Examples, options: Options, probes: float) -> npt.NDArray[np.float64]:
    """Return what each mention counts."""
    weight = examples.weight.copy()
    for is_some, counted in (
        (np.char.startswith(examples.of_set, REAL), options.real),
        (np.char.startswith(examples.of_set, PROBES), probes),
        (np.char.endswith(examples.of_set, PIECES), options.pieces),
    ):
        weight[is_some] *= counted
    return weight


def learn(examples: Examples, options: Options) -> npt.NDArray[np.float64]:
    """Return the weight of each place, in logarithms of odds; the mentions are of one group."""
    from sklearn.linear_model import LogisticRegression

    known = _known_places(examples, options.notes)
    weight = _weights(examples, options, options.probes)
    fitted = LogisticRegression(C=options.strength, fit_intercept=False, max_iter=300, tol=1e-5)
    fitted.fit(_matrix(examples.places)[:, known], examples.right, sample_weight=weight)
    weights = np.zeros(TABLE)
    weights[known] = fitted.coef_[0]
    return weights


def learn_choice(examples: Examples, options: Options) -> npt.NDArray[np.int8]:
    """Return the weight of each place for each assertion, and last for no mention. shape: (TABLE, assertions + 1)"""
    from sklearn.linear_model import LogisticRegression

    known = _known_places(examples, options.notes_asserting)
    weight = _weights(examples, options, options.probes_asserting)
    fitted = LogisticRegression(C=options.strength_asserting, fit_intercept=False, max_iter=300, tol=1e-3)
    fitted.fit(_matrix(examples.places)[:, known], examples.asserted, sample_weight=weight)
    # What no gold asserts is never the likeliest.
    choice = np.full((TABLE, NO_MENTION + 1), -8, dtype=np.int8)
    choice[:, fitted.classes_] = 0
    choice[np.ix_(known, fitted.classes_)] = np.clip(np.rint(fitted.coef_.T * CHOICE_SCALE), -127, 127)
    return choice


def choose(examples: Examples, options: Options) -> npt.NDArray[np.int64]:
    """Return the likeliest assertion of each mention, by weights that learned from other sets (real: other notes)."""
    is_real, learned_from = np.char.startswith(examples.of_set, REAL), _is_learned_from(examples)
    name = np.where(is_real, examples.note, np.char.replace(examples.of_set, PIECES, ""))
    fold = np.unique(name, return_inverse=True)[1] % CHOICE_FOLDS
    chosen = np.zeros(examples.right.size, dtype=np.int64)
    for number in range(CHOICE_FOLDS):
        choice = learn_choice(examples.take(learned_from & (fold != number)), options)
        which = np.flatnonzero(fold == number)
        sums, by_rule = _matrix(examples.places[which]) @ choice, examples.by_rule[which]
        of_rule, likeliest = sums[np.arange(which.size), by_rule], np.argmax(sums[:, :NO_MENTION], axis=1)
        best = np.where(sums[:, :NO_MENTION].max(axis=1) < of_rule + AHEAD, by_rule, likeliest)
        is_none = sums[:, NO_MENTION] >= sums[np.arange(which.size), best] + NONE_AHEAD
        chosen[which] = np.where(is_none, NO_MENTION, best)
    return chosen


def _is_learned_from(examples: Examples) -> npt.NDArray[np.bool_]:
    learned = np.ones(examples.right.size, dtype=np.bool_)
    for name in ONLY_SCORED:
        learned &= ~np.char.startswith(examples.of_set, name)
    return learned


def _parts(examples: Examples) -> Iterator[tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]]:
    """Yield what is scored and what is learned from: each set in turn, real notes by tenths."""
    is_real = np.char.startswith(examples.of_set, REAL)
    of_set, is_learned_from = np.char.replace(examples.of_set, PIECES, ""), _is_learned_from(examples)
    for name in np.unique(of_set[~is_real]):
        yield of_set == name, is_learned_from & (of_set != name)
    notes = np.random.default_rng(0).permutation(np.unique(examples.note[is_real]))
    for fold in range(FOLDS):
        scored = np.isin(examples.note, notes[fold::FOLDS])
        yield scored, is_learned_from & ~scored


def left_out(examples: Examples, options: Options) -> npt.NDArray[np.float64]:
    """Return how likely right each mention is, by a model that did not learn from its set (real: note)."""
    sums = np.zeros(examples.right.size)
    for scored, learned in _parts(examples):
        for group in range(len(GROUPS)):
            weights = learn(examples.take(learned & (examples.group == group)), options)
            which = np.flatnonzero(scored & (examples.group == group))
            sums[which] = _matrix(examples.places[which]) @ weights
    return 1 / (1 + np.exp(-sums))


def _share(right: npt.NDArray[np.bool_], of: int) -> str:
    """Return how much is right, its 95% interval, and how much it is of what the rules call certain."""
    share = wilson(int(right.sum()), right.size)
    low, high = 100 * (share.low or 0), 100 * (share.high or 0)
    return f"{100 * right.mean():.1f} ({low:.1f}-{high:.1f}) of {100 * right.size / of:.0f}%"


def _print_table(examples: Examples, likely: npt.NDArray[np.float64]) -> None:
    levels = (0.9, 0.93, 0.95, 0.96, 0.97, 0.98)
    is_real = np.char.startswith(examples.of_set, REAL)
    is_piece = np.char.endswith(examples.of_set, PIECES)
    names = np.where(is_real, np.where(is_piece, REAL + PIECES, REAL), examples.of_set)
    for group, assertion in enumerate(GROUPS):
        rows = []
        for name in dict.fromkeys(names.tolist()):
            which = (names == name) & (examples.group == group) & examples.has_concept
            own, sure = examples.take(which), int((which & examples.by_rules).sum())
            chosen = (own.by_rules, *(likely[which] >= level for level in levels))
            rows.append((name, sure, *(_share(own.right[one], sure) for one in chosen)))
        heads = (assertion, "certain by rules", "of these right", *(f"p >= {level}" for level in levels))
        console().print(table(heads, rows))


def _least() -> npt.NDArray[np.float64]:
    return np.array([[LEAST[group][kind] for kind in KINDS] for group in GROUPS])


def _print_choices(examples: Examples, likely: npt.NDArray[np.float64], chosen: npt.NDArray[np.int64]) -> None:
    """Print how many unsure mentions the rules and the weights assert right."""
    names = np.where(np.char.startswith(examples.of_set, REAL), REAL, examples.of_set)
    unsure, rows = likely < _least()[examples.group, examples.kind], []
    for name in dict.fromkeys(names.tolist()):
        own = examples.take(unsure & (names == name))
        by = (own.by_rule, chosen[unsure & (names == name)])
        rows.append((name, own.right.size, *(_share(each == own.asserted, own.right.size) for each in by)))
    console().print(table(("unsure", "mentions", "rules right", "weights right"), rows))


def write(examples: Examples, options: Options, file: Path) -> None:
    """Write the model of all that is learned from."""
    learned = examples.take(_is_learned_from(examples))
    weights = np.stack([learn(learned.take(learned.group == group), options) for group in range(len(GROUPS))])
    whole = np.clip(np.rint(weights * SCALE), -32768, 32767).astype(np.int16)
    likely = _least()
    least = np.rint(SCALE * np.log(likely / (1 - likely))).astype(np.int64)
    choice = learn_choice(learned, options)
    np.savez_compressed(file, weights=whole, least=least, choice=choice, slots=np.array(SLOTS))


def _sets(options: argparse.Namespace) -> Iterator[tuple[str, dict[str, str], dict[str, list[list[Mention]]]]]:
    """Yield name, texts and gold of each set; each annotator's gold of real notes."""
    for name in (*LEARNED_FROM, ONLY_SCORED[0]):
        yield name, _texts(GOLD / f"{name}.csv.gz"), _each(GOLD / f"{name}_gold.jsonl.gz")
    yield "phrases", *_phrases()
    for name in (PROBES, ONLY_SCORED[1]):
        yield from _probes(GOLD / f"{name}.tsv")
    for name, texts, gold in options.more:
        yield name, _texts(Path(texts)), _each(Path(gold))
    if options.clinic is not None:
        texts = {key: text for file in sorted(options.clinic.glob("*.csv")) for key, text in _clinic(file)}
        yield f"{REAL}, clinic", texts, _each(GOLD / "clinic_read.jsonl.gz")
    if options.real is not None:
        texts = _texts(options.real / "notes.jsonl.gz")
        yield REAL, texts, _each(GOLD / "real_first.jsonl.gz", GOLD / "real_second.jsonl.gz")
        yield f"{REAL}, later", texts, _each(GOLD / "real_later_first.jsonl.gz", GOLD / "real_later_second.jsonl.gz")
        yield f"{REAL}, judged", texts, _each(GOLD / "real_judged.jsonl.gz")
        yield f"{REAL}, kept", texts, _each(GOLD / "real_kept.jsonl.gz")
        yield f"{REAL}, scored", texts, _each(GOLD / "real_scored.jsonl.gz")
        yield f"{REAL}, read", texts, _each(GOLD / "real_read.jsonl.gz")
        yield f"{REAL}, last", texts, _each(GOLD / "real_last.jsonl.gz")
        yield f"{REAL}, given", texts, _each(options.real / "gold.jsonl")


def _each(*files: Path) -> dict[str, list[list[Mention]]]:
    by_file = [_gold(file) for file in files]
    return {note: [gold[note] for gold in by_file] for note in by_file[0]}


def main() -> None:
    """Learn, measure, and write the model where asked to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learn_certainty", description=__doc__.split("\n")[0])
    parser.add_argument("workspace", type=Path)
    parser.add_argument("--real", type=Path, help="folder of notes.jsonl.gz and gold.jsonl")
    parser.add_argument("--clinic", type=Path, help="folder of the files of ACI-Bench (challenge_data)")
    parser.add_argument("--more", nargs=3, action="append", default=[], metavar=("NAME", "NOTES", "GOLD"))
    parser.add_argument("--write", action="store_true", help="write the model of all to ehr/data")
    parser.add_argument("--quick", action="store_true", help="do not measure")
    chosen = parser.parse_args()
    with connect(chosen.workspace / "warehouse.duckdb", read_only=True) as connection:
        reader = TextReader.open(connection, NoteSettings(certainty="rules"))
    examples = Examples.together([part for one in _sets(chosen) for part in examples_of(reader, *one)])
    if not chosen.quick:
        likely = left_out(examples, Options())
        _print_table(examples, likely)
        _print_choices(examples, likely, choose(examples, Options()))
    if chosen.write:
        write(examples, Options(), MODEL)
    with connect(chosen.workspace / "warehouse.duckdb", read_only=True) as connection:
        _print_probes(TextReader.open(connection))


if __name__ == "__main__":
    main()
