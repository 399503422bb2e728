"""Concepts as people name them: a CUI or an exact name, and what the graph says about one or two of them in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import duckdb

from ground.errors import InputError, UsageError
from ground.storage.warehouse import table_exists
from ontoground.flow.session import asked

if TYPE_CHECKING:
    from kg.graph import ConceptGraph, Relation
    from kg.predicates import Vocabulary

__all__ = ["Phrases", "card_of", "relations_between", "resolve"]


def resolve(connection: duckdb.DuckDBPyConnection, wanted: str) -> str:
    """Return the CUI of a concept given by its CUI or by an exact name (letter case and punctuation aside).

    Raises:
        InputError: the graph is not built, or no concept has this CUI or name.
        UsageError: several concepts have this name; the message lists them.
    """
    if not table_exists(connection, "kg.concept"):
        raise InputError("there is no graph yet", do="ontoground graph build")
    found = connection.execute("select cui from kg.concept where cui = upper(?)", [wanted.strip()]).fetchone()
    if found:
        return str(found[0])
    named = asked(connection, "ontoground/concept_by_name", wanted).fetchall()
    if len(named) == 1:
        return str(named[0][0])
    if named:
        raise UsageError(
            f"several concepts are called {wanted}",
            found="; ".join(f"{cui} {name} ({groups})" for cui, name, groups in named),
            do="give the CUI of the one that you mean",
        )
    similar = asked(connection, "ontoground/concept_like_name", wanted).fetchall() if wanted.strip() else []
    raise InputError(
        f"there is no concept {wanted}",
        expected="; ".join(f"{cui} {name}" for cui, name in similar) or "a CUI or an exact name of the loaded release",
    )


@dataclass(frozen=True)
class Phrases:
    """Edges and relations in words."""

    graph: ConceptGraph
    vocabulary: Vocabulary

    def sentence(self, head: str, predicate: str, tail: str) -> str:
        """Return ``lisinopril treats hypertension`` for two names and a predicate or inverse name."""
        line, backwards = self.vocabulary.line_of(predicate)
        return (line.inverse_sentence if backwards else line.sentence).format(head=head, tail=tail)

    def edge(self, head: str, predicate: str, tail: str) -> str:
        """Return the sentence of an edge between two CUIs."""
        return self.sentence(self.graph.name(head), predicate, self.graph.name(tail))


def card_of(connection: duckdb.DuckDBPyConnection, graph: ConceptGraph, cui: str, limit: int) -> dict[str, Any]:
    """Return what is known of a concept: names, types, and neighbours by predicate (``limit`` of each; 0: all)."""
    from kg.predicates import read_vocabulary

    phrases = Phrases(graph, read_vocabulary())
    types = connection.execute("select distinct sty from umls.mrsty where cui = ? order by sty", [cui]).fetchall()
    names = asked(connection, "ontoground/concept_names", cui).fetchall()
    by_predicate: dict[str, list[str]] = {}
    for edge in graph.neighbours(cui):
        by_predicate.setdefault(edge.predicate, []).append(edge.tail)
    return {
        "cui": cui,
        "name": graph.name(cui),
        "types": [row[0] for row in types],
        "groups": list(graph.groups(cui)),
        "names": [{"name": name, "vocabularies": vocabularies} for name, vocabularies in names],
        "neighbours": [
            {
                "predicate": predicate,
                "words": phrases.sentence(graph.name(cui), predicate, "").strip(),
                "n": len(tails),
                "concepts": [{"cui": tail, "name": graph.name(tail)} for tail in (tails[:limit] if limit else tails)],
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
    from kg.predicates import read_vocabulary

    phrases = Phrases(graph, read_vocabulary())
    found = graph.relations(head, tail, max_hops, paths_per_pattern=paths or None)
    return [_in_words(phrases, relation, head, tail) for relation in found]


def _in_words(phrases: Phrases, relation: Relation, head: str, tail: str) -> dict[str, Any]:
    return {
        "sentence": phrases.edge(head, relation.predicate, tail),
        "predicate": relation.predicate,
        "tier": relation.tier,
        "hops": relation.hops,
        "pattern": relation.pattern,
        "path": [
            {**edge, "words": phrases.edge(edge["head_cui"], edge["predicate"], edge["tail_cui"])}
            for edge in relation.path
        ],
    }
