"""Concepts as people name them: a CUI or an exact name, and what the graph says about one or two of them in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import duckdb
import pyarrow as pa

from ground.errors import InputError, UsageError
from ground.storage.sqlfiles import quoted
from ground.storage.warehouse import arrow_of, table_exists
from kg.graph import ConceptGraph
from kg.predicates import Vocabulary, read_vocabulary
from ontoground.flow.session import records, rows_about

__all__ = [
    "Phrases",
    "card_of",
    "evidence_of",
    "names_like",
    "relations_between",
    "resolve",
    "semantic_types",
    "strong",
]


def resolve(connection: duckdb.DuckDBPyConnection, wanted: str) -> str:
    """Return the CUI of a concept given by its CUI or by an exact name (letter case and punctuation aside).

    Raises:
        InputError: the graph is not built, or no concept has this CUI or name.
        UsageError: several concepts have this name; the message lists them.
    """
    if not table_exists(connection, "kg.concept"):
        raise InputError("there is no graph yet", do="ontoground graph build")
    concept = connection.execute(f"select cui from kg.concept where cui = upper({quoted(wanted.strip())})").fetchone()
    if concept:
        return str(concept[0])
    named = rows_about(connection, "ontoground/concept_by_name", wanted).fetchall()
    if len(named) == 1:
        return str(named[0][0])
    if named:
        raise UsageError(
            f"several concepts are called {wanted}",
            found="; ".join(f"{cui} {name} ({groups})" for cui, name, groups in named),
            do="give the CUI of the one that you mean",
        )
    near = names_like(connection, wanted)
    raise InputError(
        f"there is no concept {wanted}",
        expected="; ".join(f"{cui} {name}" for cui, name in near) or "a CUI or an exact name of the loaded release",
    )


def names_like(connection: duckdb.DuckDBPyConnection, wanted: str) -> list[tuple[str, str]]:
    """Return CUI and name of concepts whose name begins so, or else is spelt nearly so; at most five."""
    files = ("concept_like_name", "concept_spelt_nearly") if wanted.strip() else ()
    return next(filter(None, (rows_about(connection, f"ontoground/{file}", wanted).fetchall() for file in files)), [])


@dataclass(frozen=True)
class Phrases:
    """Edges and relations in words."""

    graph: ConceptGraph
    vocabulary: Vocabulary = field(default_factory=read_vocabulary)
    names: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_row(cls, graph: ConceptGraph, row: Mapping[str, Any]) -> Phrases:
        """Return phrases that call the ends of a statement as the statement does."""
        return cls(graph, names={row[f"{end}_cui"]: row[f"{end}_name"] for end in ("head", "tail")})

    def name(self, cui: str) -> str:
        """Return what a concept is called."""
        return self.names.get(cui) or self.graph.name(cui)

    def sentence(self, head: str, predicate: str, tail: str) -> str:
        """Return ``lisinopril treats hypertension`` for two names and a predicate or inverse name."""
        line, backwards = self.vocabulary.line_of(predicate)
        return (line.inverse_sentence if backwards else line.sentence).format(head=head, tail=tail)

    def edge(self, edge: Mapping[str, Any]) -> str:
        """Return the sentence of an edge between two CUIs."""
        head, tail = (self.name(edge[end]) for end in ("head_cui", "tail_cui"))
        return self.sentence(head, edge["predicate"], tail)


def evidence_of(edge: Mapping[str, Any]) -> str:
    """Return where a release states an edge: vocabulary, relation and its identifier."""
    return " ".join(part for part in (edge["sab"], edge["rela"], edge["rui"]) if part)


def card_of(connection: duckdb.DuckDBPyConnection, graph: ConceptGraph, cui: str, limit: int) -> dict[str, Any]:
    """Return what is known of a concept: names, types, and neighbours by predicate (``limit`` of each; 0: all)."""
    types = connection.execute("select distinct sty from release.mrsty where cui = ? order by sty", [cui]).fetchall()
    by_predicate: dict[str, dict[str, None]] = {}
    for edge in graph.neighbours(cui):
        by_predicate.setdefault(edge["predicate"], {})[edge["tail_cui"]] = None
    phrases = Phrases(graph)
    return {
        "cui": cui,
        "name": graph.name(cui),
        "types": [row[0] for row in types],
        "groups": list(graph.groups(cui)),
        "names": records(rows_about(connection, "ontoground/concept_names", cui)),
        "neighbours": [
            {
                "predicate": predicate,
                "words": phrases.sentence(graph.name(cui), predicate, "").strip(),
                "n": len(tails),
                "concepts": [{"cui": tail, "name": graph.name(tail)} for tail in list(tails)[: limit or None]],
            }
            for predicate, tails in sorted(by_predicate.items())
        ],
    }


def relations_between(graph: ConceptGraph, head: str, tail: str, max_hops: int, paths: int) -> list[dict[str, Any]]:
    """Return each relation from head to tail: its sentence, tier, and path with words and evidence.

    Args:
        graph: the concept graph.
        head: a CUI.
        tail: a CUI.
        max_hops: longest path, 1 to 3.
        paths: paths of each pattern that are kept; 0 keeps all.
    """
    phrases = Phrases(graph)
    return [
        {
            "sentence": phrases.edge({"head_cui": head, "predicate": relation.predicate, "tail_cui": tail}),
            "predicate": relation.predicate,
            "tier": relation.tier,
            "hops": relation.hops,
            "pattern": relation.pattern,
            "path": [{**edge, "words": phrases.edge(edge)} for edge in relation.path],
        }
        for relation in graph.relations(head, tail, max_hops, paths_per_pattern=paths or None)
    ]


def strong(relations: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the relations that can make a statement true, or all where none can: the others would hide them."""
    return [relation for relation in relations if relation["tier"] != "plausible"] or list(relations)


def semantic_types(connection: duckdb.DuckDBPyConnection) -> pa.Array:
    """Return the semantic types (TUIs) of every concept, in the order of CUIs, as the graph has its concepts."""
    return arrow_of(connection, "select types from kg.concept order by cui")["types"].combine_chunks()
