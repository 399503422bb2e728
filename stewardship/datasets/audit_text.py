"""The evidence of MedHal and MedVAL rows held against the row: explanations, partners, errors, edits, consistency."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import duckdb
import polars as pl

from ground.contracts.rows_text import MEDVAL_DELTAS
from stewardship.datasets.recompute import judged, read_back
from stewardship.datasets.rows import evidence_of, features_of

__all__ = ["AGGREGATION", "EXTRACTION", "NOT_ANSWERABLE", "Fault", "medhal_faults", "medval_faults"]

EXTRACTION = "feature_extraction"
"""A mention or an edit is not what the evidence says."""
AGGREGATION = "aggregation_logic"
"""The evidence stands, but the label does not follow from it."""
NOT_ANSWERABLE = "not_answerable"
"""The evidence that the label needs is not there."""

SPACE = re.compile(r"\s+")
WORD = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+")
SOURCE_SAYS = "According to the source document, "
SILENT = re.compile(r"record does not mention (?P<name>.+?)(?:, and |\. |\.$)")
QUOTED = re.compile(r'\("(?P<words>[^"]+)"\)')
CLOSE = 1e-6
OMISSIONS = ("missing_claim", "missing_comparison", "missing_context")


class Fault(NamedTuple):
    """One fault of one row, in words that hold no text of a note."""

    uid: str
    mode: str
    words: str


def medhal_faults(
    connection: duckdb.DuckDBPyConnection, items: Sequence[Mapping[str, Any]], labels: Mapping[str, str | None]
) -> Iterator[Fault]:
    """Hold MedHal rows against their explanation and their partner; our own facts against the graph as well.

    Args:
        connection: of `stewardship.second_road.graph.opened`.
        items: rows of the benchmark.
        labels: by uid.
    """
    for item in items:
        label = labels.get(item["uid"])
        yield from _partners(item, label)
        if features_of(item)["task"] == "record_facts":
            yield from _explained_fact(item, label)
        else:
            yield from _explained_text(item, label)
    yield from _relations(connection, items, labels)


def _partners(item: Mapping[str, Any], label: str | None) -> Iterator[Fault]:
    evidence, features = evidence_of(item), features_of(item)
    if evidence["partner"] is not None and _folded(evidence["partner"]) == _folded(features["statement"]):
        yield Fault(item["uid"], AGGREGATION, "both statements of the pair say the same")
    if label == "factual" and evidence["explanation"] is not None:
        yield Fault(item["uid"], AGGREGATION, "called factual, and the row explains what is wrong with it")
    # A source of entailments gives no explanation.
    if label == "non-factual" and not evidence["explanation"] and features["task"] != "nli":
        yield Fault(item["uid"], NOT_ANSWERABLE, "called non-factual, and nothing says why")


def _explained_text(item: Mapping[str, Any], label: str | None) -> Iterator[Fault]:
    """Check that what the explanation states as right stands in the factual statement, and not in the other one."""
    evidence, features = evidence_of(item), features_of(item)
    factual = features["statement"] if label == "factual" else evidence["partner"]
    wrong = evidence["partner"] if label == "factual" else features["statement"]
    explanation = evidence["partner_explanation"] if label == "factual" else evidence["explanation"]
    if not factual or not wrong or not explanation:
        return
    right = _folded(explanation.removeprefix(SOURCE_SAYS))
    if explanation.startswith(SOURCE_SAYS):
        if not _named(right, _folded(factual)):
            yield Fault(
                item["uid"], AGGREGATION, "the source's sentence is not in the statement that is called factual"
            )
        if _named(right, _folded(wrong)):
            yield Fault(
                item["uid"], AGGREGATION, "the source's sentence is in the statement that is called non-factual"
            )
    elif right.startswith(_folded(wrong)):
        yield Fault(item["uid"], AGGREGATION, "the explanation states what is called non-factual")
    elif features_of(item)["task"] == "question_answering" and not right.startswith(_folded(factual)):
        yield Fault(item["uid"], AGGREGATION, "the explanation states something else than what is called factual")


def _explained_fact(item: Mapping[str, Any], label: str | None) -> Iterator[Fault]:
    """Check that the record is silent about what the explanation says it does not mention, and holds what is quoted."""
    explanation, context = evidence_of(item)["explanation"], _folded(item["context"] or "")
    if label != "non-factual" or not explanation:
        return
    if (silent := SILENT.search(explanation)) and _named(silent["name"], context):
        yield Fault(item["uid"], EXTRACTION, f"the record names {silent['name']}")
    for quoted in QUOTED.finditer(explanation):
        if _folded(quoted["words"]) not in context:
            yield Fault(item["uid"], EXTRACTION, "the record does not hold the words that are quoted from it")


def _relations(
    connection: duckdb.DuckDBPyConnection, items: Sequence[Mapping[str, Any]], labels: Mapping[str, str | None]
) -> Iterator[Fault]:
    """Check what is said of the relation: that it holds, or that it does not."""
    own = [{**features_of(item), "uid": item["uid"]} for item in items if features_of(item)["task"] == "record_facts"]
    read = read_back(connection, own) if own else pl.DataFrame()
    if read.is_empty():
        return
    contexts = pl.DataFrame([{"uid": item["uid"], "context": item["context"] or ""} for item in items])
    verdicts = judged(connection, read.join(contexts, on="uid"))
    explained = {item["uid"]: evidence_of(item)["explanation"] or "" for item in items}
    for uid, truths, why in verdicts.group_by("uid", maintain_order=True).agg("is_true", "why_true").iter_rows():
        claimed = labels.get(uid) == "factual" or "The relation is medically true" in explained[uid]
        if claimed and True not in truths:
            yield Fault(uid, AGGREGATION, f"called true: {why[0]}")
        if not claimed and False not in truths:
            yield Fault(uid, AGGREGATION, f"called false: {why[0]}")


def medval_faults(items: Sequence[Mapping[str, Any]], labels: Mapping[str, str | None]) -> Iterator[Fault]:
    """Hold MedVAL rows against their errors, their edits and the consistency of their triple.

    Args:
        items: rows of the benchmark.
        labels: by uid.
    """
    for item in items:
        label, evidence = labels.get(item["uid"]), evidence_of(item)
        yield from _errors(item, label, evidence)
        yield from _edited(item, evidence)
        yield from _consistency(item["uid"], label, evidence)


def _errors(item: Mapping[str, Any], label: str | None, evidence: Mapping[str, Any]) -> Iterator[Fault]:
    uid, errors = item["uid"], evidence["errors"]
    if (label == "1") != (not errors):
        yield Fault(uid, AGGREGATION, f"level {label} with {len(errors)} errors")
    texts = {"input": _folded(item["context"] or ""), "output": _folded(features_of(item)["output"])}
    for error in errors:
        if not error["quote"] or not error["quoted_from"]:
            continue
        quote, category = _folded(error["quote"]), error["category"]
        if quote not in texts[error["quoted_from"]]:
            yield Fault(uid, EXTRACTION, f"{category}: the {error['quoted_from']} does not hold what is quoted from it")
        elif category == "fabricated_claim" and error["quoted_from"] == "output" and _named(quote, texts["input"]):
            yield Fault(uid, EXTRACTION, f"{category}: the input holds it as well")
        elif category in OMISSIONS and error["quoted_from"] == "input" and quote in texts["output"]:
            yield Fault(uid, EXTRACTION, f"{category}: the output holds it as well")


def _edited(item: Mapping[str, Any], evidence: Mapping[str, Any]) -> Iterator[Fault]:
    """Check that the output differs from the unedited one where edits say so, and only then."""
    if evidence.get("clean_output") is None or evidence["variant"] == "observed":
        return
    output, edits = features_of(item)["output"], evidence["edits"] or []
    differs = WORD.findall(evidence["clean_output"].casefold()) != WORD.findall(output.casefold())
    if differs and not edits:
        yield Fault(item["uid"], EXTRACTION, "the output is not the unedited one, and no edit says why")
    for edit in edits:
        # An edit of the unedited output itself is already in it.
        if edit["after"] and _folded(edit["after"]) not in _folded(output):
            yield Fault(item["uid"], EXTRACTION, f"{edit['rule']}: the output does not hold what was put in")


def _consistency(uid: str, label: str | None, evidence: Mapping[str, Any]) -> Iterator[Fault]:
    """Check M = 1 - (v(clean)^2 + (v(pert) - delta)^2 + (v(pert) - v(clean) - delta)^2) / 6 (MedVAL, Algorithm S1)."""
    levels = evidence.get("clean_level"), evidence.get("perturbed_level")
    own = levels[0] if evidence["variant"] == "clean" else levels[1]
    if own is not None and evidence["variant"] != "observed" and str(own) != label:
        yield Fault(uid, AGGREGATION, f"level {label}; the judgement of the triple is {own}")
    if (
        None in levels
        or evidence["consistency"] is None
        or evidence["delta"] is None
        or evidence["variant"] != "perturbed"
    ):
        return
    clean, edited = (MEDVAL_DELTAS[level] for level in levels if level is not None)
    delta = evidence["delta"]
    expected = 1 - (clean**2 + (edited - delta) ** 2 + (edited - clean - delta) ** 2) / 6
    if not math.isclose(expected, evidence["consistency"], abs_tol=CLOSE):
        yield Fault(uid, AGGREGATION, f"consistency {evidence['consistency']:.4f}, by its levels {expected:.4f}")


def _folded(text: str) -> str:
    return SPACE.sub(" ", text).strip().casefold()


def _named(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(_folded(name))}(?!\w)", text) is not None
