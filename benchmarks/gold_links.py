"""Precision of supported treatment statements against the links between drug and problem that readers marked.

A row of Q1 is *linked* when the gold of its admission has a link whose drug and disorder are the row's. Names of the
gold become concepts through ``kg.name``; a name that the release lacks goes by the words in which the gold's mentions
write that concept. Drugs agree across brands, salts and products (``drug_form_of`` both ways), disorders within one
``is_a`` step. A row is *not decidable* when its admission has no gold, or when a link that could be it has an end
without a concept.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

import duckdb
import pyarrow.dataset as ds

from benchmarks.command import parser, run
from ground.errors import InputError
from ground.storage.workspace import Workspace
from kg.graph import ConceptGraph
from ontoground.cli.render import Cell, console, table
from ontoground.flow.session import reading

__all__ = ["Concepts", "Gold", "Judged", "judged", "main", "read_gold"]

Verdict = Literal["linked", "not linked", "not decidable"]

# The end of each predicate that is the treatment.
DRUG_END = {"treats": "head", "may_be_treated_by": "tail", "prevents": "head"}
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
LEVELS = ("stated", "co_mentioned")
# Semantic groups that the two ends of a link may have; a name that is also something else is not that here.
GROUPS = {"drug": {"CHEM", "PROC", "DEVI"}, "disorder": {"DISO", "PHYS", "PHEN"}}
# Shorter words of a note are abbreviations of several things.
LEAST_WORD = 4

Link = tuple[frozenset[str], frozenset[str]]


@dataclass(frozen=True)
class Gold:
    """What readers marked: links (drug, disorder) of each admission by name, and the words used for each name."""

    links: dict[int, list[tuple[str, str]]] = field(default_factory=dict)
    words: dict[str, set[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Judged:
    """A row of Q1 with its verdict."""

    id: str
    statement: str
    predicate: str
    support_level: str
    verdict: Verdict


def normalized(name: str) -> str:
    """Return a name as ``kg.name.normalized`` has it: lower case, single spaces for all but letters and digits."""
    return re.sub(r"[\W_]+", " ", name.lower()).strip()


def read_gold(path: Path) -> Gold:
    """Read a gold file, one JSON object for each note: hadm_id, treats (drug, disorder), mentions (text, concept).

    Raises:
        InputError: it is not there, or a line has another shape; the message names the line.
    """
    links: dict[int, list[tuple[str, str]]] = {}
    words: dict[str, set[str]] = defaultdict(set)
    for number, line in enumerate(_lines(path), 1):
        try:
            one = json.loads(line)
            found = [(str(link["drug"]), str(link["disorder"])) for link in one["treats"]]
            links.setdefault(int(one["hadm_id"]), []).extend(found)
            for mention in one["mentions"]:
                words[mention["concept"]].add(mention["text"])
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                "a line of the gold has another shape",
                file=path,
                line=number,
                found=type(error).__name__,
                expected="JSON with hadm_id, treats [{drug, disorder}], mentions [{text, concept}]",
            ) from error
    return Gold(links, dict(words))


def _lines(path: Path) -> Iterator[str]:
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            yield from file
    except OSError as error:
        raise InputError("the gold cannot be read", file=path, found=error.strerror or str(error)) from error


class Concepts:
    """Names of the gold as concepts, widened to all that would count as the same in a row."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, graph: ConceptGraph, gold: Gold) -> None:
        self._graph = graph
        self._gold = gold
        self._named = self._look_up(connection)
        self._known: dict[tuple[str, str], frozenset[str]] = {}

    def _look_up(self, connection: duckdb.DuckDBPyConnection) -> dict[str, list[str]]:
        names = {name for links in self._gold.links.values() for link in links for name in link}
        words = {word for name in names for word in self._gold.words.get(name, ())}
        rows = connection.execute(
            "select normalized, list(distinct cui order by cui) from kg.name "
            "where normalized in (select unnest($wanted)) group by normalized",
            {"wanted": sorted({normalized(name) for name in names | words})},
        ).fetchall()
        return dict(rows)

    def of(self, kind: Literal["drug", "disorder"], name: str) -> frozenset[str]:
        """Return the concepts that agree with a name of the gold; none where the release does not know it."""
        key = (kind, name)
        if key not in self._known:
            cuis = self._fitting(kind, [name]) or self._fitting(kind, self._longer_words(name))
            self._known[key] = frozenset(other for cui in cuis for other in (cui, *self._same(kind, cui)))
        return self._known[key]

    def _longer_words(self, name: str) -> list[str]:
        return [word for word in sorted(self._gold.words.get(name, ())) if len(word) >= LEAST_WORD]

    def _fitting(self, kind: str, names: Iterable[str]) -> set[str]:
        cuis = {cui for name in names for cui in self._named.get(normalized(name), ())}
        return {cui for cui in cuis if cui in self._graph and GROUPS[kind] & set(self._graph.groups(cui))}

    def _same(self, kind: str, cui: str) -> list[str]:
        if kind == "drug":
            return self._graph.equivalents(cui)
        return [*self._graph.ancestors(cui, max_depth=1), *self._graph.descendants(cui, max_depth=1)]


def judged(rows: list[dict[str, Any]], gold: Gold, concepts: Concepts) -> list[Judged]:
    """Return each row with its verdict, in the order given.

    Args:
        rows: id, hadm_id, statement, predicate, support_level, head_cui, tail_cui of rows of Q1.
        gold: the links by admission.
        concepts: names of the gold as concepts.
    """
    links: dict[int, list[Link]] = {
        admission: [(concepts.of("drug", drug), concepts.of("disorder", disorder)) for drug, disorder in found]
        for admission, found in gold.links.items()
    }
    return [_judge(row, links.get(row["hadm_id"])) for row in rows]


def _judge(row: dict[str, Any], links: list[Link] | None) -> Judged:
    verdict = _verdict(row, links)
    return Judged(row["id"], row["statement"], row["predicate"], row["support_level"], verdict)


def _verdict(row: dict[str, Any], links: list[Link] | None) -> Verdict:
    if links is None:
        return "not decidable"
    end = DRUG_END[row["predicate"]]
    drug, disorder = row[f"{end}_cui"], row["tail_cui" if end == "head" else "head_cui"]
    if any(drug in drugs and disorder in disorders for drugs, disorders in links):
        return "linked"
    # An end without a concept may be anything, so the link may be this row where its other end does not speak against.
    may_be = ((not drugs or drug in drugs) and (not disorders or disorder in disorders) for drugs, disorders in links)
    return "not decidable" if any(may_be) else "not linked"


def _rows(dataset: Path) -> list[dict[str, Any]]:
    files = sorted((dataset / "data").glob("*.parquet"))
    if not files:
        raise InputError("there is no dataset here", file=dataset, expected="data/*.parquet")
    columns = ["id", "hadm_id", "statement", "predicate", "support_level", "head_cui", "tail_cui"]
    wanted = (ds.field("quadrant") == "Q1") & ds.field("predicate").isin(list(DRUG_END))
    rows = ds.dataset([str(file) for file in files]).to_table(columns=columns, filter=wanted).to_pylist()
    return sorted(rows, key=lambda row: str(row["id"]))


def _paint(found: list[Judged]) -> None:
    counts: Counter[tuple[str, str, str]] = Counter()
    counts.update((one.support_level, one.predicate, one.verdict) for one in found)
    counts.update(("both", "all", one.verdict) for one in found)
    counts.update((one.support_level, "all", one.verdict) for one in found)
    keys = [(level, predicate) for level in LEVELS for predicate in (*DRUG_END, "all")]
    lines: list[tuple[Cell, ...]] = []
    for level, predicate in [*keys, ("both", "all")]:
        by_verdict = [counts[level, predicate, verdict] for verdict in VERDICTS]
        decided = by_verdict[0] + by_verdict[1]
        precision = f"{by_verdict[0] / decided:.3f}" if decided else ""
        lines.append((level, predicate, *by_verdict, precision))
    title = "Q1 rows against the links of the gold; precision = linked / (linked + not linked)"
    console().print(table(("support", "predicate", *VERDICTS, "precision"), lines, title=title))


def _arguments(values: list[str]) -> argparse.Namespace:
    options = parser("gold_links", __doc__ or "", "python -m benchmarks.gold_links work note_gold.jsonl.gz --list")
    options.add_argument("workspace", type=Path, help="workspace with warehouse, graph and dataset; only read")
    options.add_argument("gold", type=Path, help="JSON lines, gzip or plain: the gold of the notes")
    options.add_argument("--dataset", type=Path, help="dataset folder (default: datasets/medieval of the workspace)")
    options.add_argument("--list", action="store_true", help="also print the rows that are not linked")
    return options.parse_args(values)


def main(values: list[str]) -> int:
    """Judge the rows and print how many are linked, by support level and predicate."""
    arguments = _arguments(values)
    workspace = Workspace.existing(arguments.workspace)
    gold = read_gold(arguments.gold)
    rows = _rows(arguments.dataset or workspace.dataset("medieval"))
    with reading(workspace) as connection:
        concepts = Concepts(connection, ConceptGraph.open(workspace.graph), gold)
    found = judged(rows, gold, concepts)
    _paint(found)
    links = [link for one in gold.links.values() for link in one]
    unknown = sum(not concepts.of("drug", drug) or not concepts.of("disorder", disorder) for drug, disorder in links)
    console().print(f"links of the gold: {len(links)}; with an end that the release does not know: {unknown}")
    if arguments.list:
        for one in found:
            if one.verdict == "not linked":
                console().print(f"{one.id}\t{one.support_level}\t{one.statement}", soft_wrap=True)
    return 0


if __name__ == "__main__":
    run(main)
