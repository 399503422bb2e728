"""What a reviewer's sheet shows of a row of ours: the context with the mentions marked, and the evidence in words.

The blind form marks what anybody finds who looks for the words of the statement: the same for every label. The other
form marks what the label rests on, and says the path or the edits; it is for the spot check.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ground.contracts.rows import WHY_FALSE
from ground.storage.tables import read_table
from stewardship.datasets.rows import evidence_of, features_of
from stewardship.second_road.readings import DATA

__all__ = ["sheet_context"]

RECORD = re.compile(r"this patient's record documents both (?P<both>.+)\.$", re.DOTALL)
Mark = tuple[int, int, str]


def sheet_context(row: Mapping[str, Any], *, blind: bool = False) -> str:
    """Return a row's context for a sheet, with a legend in front.

    Args:
        row: of the benchmark's items, with the columns context, features and derivation.
        blind: mark the names of the statement only, and say nothing of the evidence.
    """
    context = row.get("context") or ""
    features = features_of(row)
    named = _named(features)
    evidence = {} if blind else evidence_of(row)
    marks = [mark for sign, names in named.items() for name in names for mark in _places(context, name, sign)]
    marks += [mark for sign, words in _quoted(evidence) for mark in _places(context, words, sign)]
    legend = [f"⟦{sign}: ⟧ {', '.join(names if blind else names[:1])}" for sign, names in named.items()]
    if any(sign == "!" for _, _, sign in marks):
        legend.append("⟦!: ⟧ words that an error quotes")
    lines = list(_evidence(features, evidence))
    # So that nobody takes what is not marked for what is not there.
    rest = " No other words are: look for brands, short forms and kinds of them yourself." if blind else ""
    head = [f"Marked: {'; '.join(legend)}.{rest}" if legend else "", *lines]
    return "\n".join([*(line for line in head if line), *([""] if any(head) else []), _marked(context, marks)])


def _named(features: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return what is marked and by which sign: the two ends of the statement, with words that stand for them."""
    if "head_name" in features:
        ends = [features["head_name"], features["tail_name"]]
    elif (match := RECORD.search(features.get("statement") or "")) and match["both"].count(" and ") == 1:
        ends = match["both"].split(" and ")
    else:
        return {}
    return {sign: [name, *_other_words().get(name.casefold(), ())] for sign, name in zip("12", ends, strict=True)}


@functools.cache
def _other_words() -> dict[str, tuple[str, ...]]:
    others: dict[str, tuple[str, ...]] = {}
    for row in read_table(DATA / "reader_words.tsv", ("written", "means", "source")):
        if row["means"]:
            others[row["means"].casefold()] = (*others.get(row["means"].casefold(), ()), row["written"])
    return others


def _quoted(evidence: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for span in evidence.get("support_spans") or ():
        yield "1" if span["role"] == "head" else "2", span["text"]
    for error in evidence.get("errors") or ():
        if error["quote"] and error["quoted_from"] == "input":
            yield "!", error["quote"]


def _places(context: str, words: str, sign: str) -> Iterator[Mark]:
    """Yield where words stand in the context, at word boundaries; capitals of abbreviations count."""
    spaced = r"\s+".join(map(re.escape, words.split()))
    flags = re.NOFLAG if re.fullmatch(r"[A-Z0-9]{2,5}", words) else re.IGNORECASE
    for match in re.finditer(rf"(?<!\w){spaced}(?!\w)", context, flags) if spaced else ():
        yield match.start(), match.end(), sign


def _marked(context: str, marks: Iterable[Mark]) -> str:
    """Set marks; of two that overlap the earlier and longer one stays."""
    pieces, at = [], 0
    for start, end, sign in sorted(set(marks), key=lambda mark: (mark[0], -mark[1], mark[2])):
        if start >= at:
            pieces += [context[at:start], f"⟦{sign}: {context[start:end]}⟧"]
            at = end
    return "".join([*pieces, context[at:]])


def _evidence(features: Mapping[str, Any], evidence: Mapping[str, Any]) -> Iterator[str]:
    """Say in words what a label rests on."""
    if evidence.get("path"):
        yield f"Path ({evidence['tier']}): {_path(features, evidence['path'])}"
    if evidence.get("why_false"):
        yield f"Called false: {WHY_FALSE.get(evidence['why_false'], evidence['why_false'])}"
    if evidence.get("replaced_end") in ("head", "tail"):
        far = f", {evidence['distance']} is_a steps away" if evidence.get("distance") is not None else ""
        yield f"Replaced: the {evidence['replaced_end']}, in place of {evidence['replaced_cui']}{far}"
    if evidence.get("explanation"):
        yield f"Explanation: {evidence['explanation']}"
    for edit in evidence.get("edits") or ():
        yield f"Edit ({edit['rule']}): {edit['before'] or 'nothing'} -> {edit['after'] or 'nothing'}"
    for error in evidence.get("errors") or ():
        yield f"Error ({error['category']}): {error['text']}"


def _path(features: Mapping[str, Any], path: Iterable[Mapping[str, Any]]) -> str:
    names = {features["head_cui"]: features["head_name"], features["tail_cui"]: features["tail_name"]}

    def named(cui: str) -> str:
        return f"{names[cui]} ({cui})" if cui in names else cui

    return "; ".join(
        f"{named(edge['head_cui'])} {edge['predicate'].replace('_', ' ')} {named(edge['tail_cui'])}"
        f" [{', '.join(filter(None, (edge['rela'], edge['sab'], edge['rui'])))}]"
        for edge in path
    )
