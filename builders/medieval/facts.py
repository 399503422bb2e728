"""What is attested, what is true: the cohort's mentions against the graph, as tables for the later steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from builders.medieval.admission_facts import find_admission_facts
from builders.medieval.coding import runs
from ground import ROOT
from ground.errors import UsageError
from ground.flow.executor import Executor
from ground.settings import BuildSettings
from ground.storage.sqlfiles import sql_text
from ground.storage.warehouse import set_table, set_variables
from kg.facts import FACT_SCHEMA
from kg.graph import ABOVE, BELOW, ConceptGraph

__all__ = [
    "TAXONOMIC",
    "closure_of",
    "cuis",
    "find_true",
    "find_true_facts",
    "read_knowledge",
    "read_support",
    "run_steps",
    "set_facts",
    "statement_predicates",
]

TAXONOMIC = ("classified_as", "has_pharmacologic_class")
"""Predicates whose tail is a class: an ancestor of what is mentioned may stand there."""

CLOSURE_SCHEMA = pa.schema(
    [("cui", pa.string()), ("other", pa.string()), ("relation", pa.string()), ("depth", pa.int32())]
)
DESCENDANT_STEPS = 2
FORMS = ("drug_form_of", "has_drug_form")
RELATIONS = ("ancestor", "composition", "descendant", "equivalent", "self")
KNOWN_CONCEPTS = (
    "select unnest(cuis) as cui from ground.mention semi join admission using (hadm_id) "
    "union select cui from ground.admission_concept "
    "union select unnest(cuis) from ground.unclear_mention"
)

Ints = npt.NDArray[np.int64]
KNOWLEDGE = ("disputed_fact", "known_use", "known_use_group")


def run_steps(connection: duckdb.DuckDBPyConnection, area: str, names: Iterable[str]) -> None:
    """Run SQL files of one folder of ``sql/builders/medieval``, in order."""
    for name in names:
        connection.execute(sql_text(f"builders/medieval/{area}/{name}"))


class _Ends:
    """The ends of facts that went by.

    Attributes:
        cui: concepts at either end, as the search numbers them.
        seen: which of them occurred. Shape: (concepts,)
    """

    def __init__(self) -> None:
        self.cui = {name: pa.array([], pa.string()) for name in ("head_cui", "tail_cui")}
        self.seen = {name: np.zeros(0, np.bool_) for name in self.cui}

    def passing(self, tables: Iterable[pa.Table]) -> Iterator[pa.RecordBatch]:
        """Yield the facts, and remember their ends."""
        for table in tables:
            for name in self.cui:
                column = table[name].chunk(0)
                if not self.seen[name].size:
                    # The dictionary is that of the whole search.
                    self.cui[name], self.seen[name] = column.dictionary, np.zeros(len(column.dictionary), np.bool_)
                self.seen[name][column.indices] = True
            yield from table.to_batches()

    def table(self) -> pa.Table:
        """Return each end, once or twice."""
        return pa.table({"cui": pa.chunked_array([self.cui[name].filter(self.seen[name]) for name in self.cui])})


def set_facts(connection: duckdb.DuckDBPyConnection, tables: Iterator[pa.Table], among: str = "") -> None:
    """Make ``found_fact`` of what a search finds, as it finds it, and ``found_end``, the ends of all of it.

    Args:
        connection: to the warehouse.
        tables: of schema ``kg.facts.FACT_SCHEMA``.
        among: a table of (predicate, head_cui, tail_cui): keep facts that it has, though the ends of all.
    """
    ends = _Ends()
    connection.register("arrow_input", pa.RecordBatchReader.from_batches(FACT_SCHEMA, ends.passing(tables)))
    kept = f"semi join {among} using (predicate, head_cui, tail_cui)" if among else ""
    connection.execute(f"create or replace temp table found_fact as select * from arrow_input {kept}")
    connection.unregister("arrow_input")
    set_table(connection, "found_end", ends.table())


def cuis(connection: duckdb.DuckDBPyConnection, query: str) -> list[str]:
    """Return the CUIs that a query selects, sorted."""
    return sorted(row[0] for row in connection.execute(query).fetchall())


class _Forms(NamedTuple):
    """Concepts with all their forms: brands, salts and products of one substance; most concepts have one.

    Attributes:
        own: which group each concept is of. Shape: (concepts,)
        begin: where the forms of a group begin. Shape: (groups + 1,)
        form: numbers of the forms, sorted in each group.
    """

    own: Ints
    begin: Ints
    form: npt.NDArray[np.int32]


def _forms(graph: ConceptGraph, concepts: npt.NDArray[np.int32]) -> _Forms:
    """Return some concepts in groups: all forms of a drug have the same ones, so that each is looked at once."""
    others = graph.reach(np.arange(concepts.size + 1), concepts, FORMS)
    of = np.concatenate([np.arange(concepts.size), others[:, 0]])
    form = np.concatenate([concepts, others[:, 1]])
    order = np.lexsort((form, of))
    of, form = of[order], form[order]
    # A group goes by its first form.
    firsts = form[np.searchsorted(of, np.arange(concepts.size))]
    _, first, own = np.unique(firsts, return_index=True, return_inverse=True)
    group_of = np.full(concepts.size, -1)
    group_of[first] = np.arange(first.size)
    group, form = group_of[of][group_of[of] >= 0], form[group_of[of] >= 0]
    order = np.lexsort((form, group))
    return _Forms(own, np.searchsorted(group[order], np.arange(first.size + 1)), form[order])


def _reached(graph: ConceptGraph, forms: _Forms) -> dict[str, npt.NDArray[np.int32]]:
    """Return relation -> (group, concept, depth) of what the groups reach. Shapes: (n, 3)"""
    held = [graph.reach(forms.begin, forms.form, (*FORMS, part)) for part in ("contains_drug", "contained_in_drug")]
    composition = np.unique(np.concatenate(held)[:, :2], axis=0)
    return {
        "equivalent": np.stack([np.repeat(np.arange(forms.begin.size - 1), np.diff(forms.begin)), forms.form], axis=1),
        "composition": composition,
        "ancestor": graph.reach(forms.begin, forms.form, ABOVE),
        "descendant": graph.reach(forms.begin, forms.form, BELOW, DESCENDANT_STEPS),
    }


def closure_of(graph: ConceptGraph, concepts: Sequence[str]) -> pa.Table:
    """Return (cui, other, relation, depth): itself, equivalents, their ancestors, near descendants, combinations.

    Args:
        graph: the concept graph.
        concepts: sorted; one that the graph does not have has itself only.
    """
    numbers = graph.numbers_of(concepts)
    known = np.flatnonzero(numbers >= 0)
    forms = _forms(graph, numbers[known].astype(np.int32))
    itself = np.arange(len(concepts))
    parts = [(itself, numbers, np.full(itself.size, RELATIONS.index("self")), np.zeros(itself.size, np.int32))]
    for relation, rows in _reached(graph, forms).items():
        begin = np.searchsorted(rows[:, 0], np.arange(forms.begin.size))
        # Each concept has the rows of its group.
        n = np.diff(begin)[forms.own]
        at = runs(begin[forms.own], n)
        concept, other = np.repeat(known, n), rows[at, 1]
        depth = rows[at, 2] if rows.shape[1] > 2 else np.zeros(at.size, np.int32)
        held = other != numbers[concept]
        parts.append((concept[held], other[held], np.full(int(held.sum()), RELATIONS.index(relation)), depth[held]))
    concept, other, kind, depth = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((kind, other, concept))
    concept, other, kind, depth = concept[order], other[order], kind[order], depth[order]
    cui = pa.array(concepts, pa.string()).take(pa.array(concept))
    others = pc.if_else(other < 0, cui, graph.cuis_of(np.maximum(other, 0)))
    return pa.table([cui, others, pa.array(RELATIONS).take(pa.array(kind)), depth], schema=CLOSURE_SCHEMA)


def read_support(
    connection: duckdb.DuckDBPyConnection, graph: ConceptGraph, settings: BuildSettings, further: Iterable[str] = ()
) -> None:
    """Make the tables of support: cohort, context, mentions with their concepts, what they may be an end of.

    ``further`` concepts are asked about, though no record may have them.
    """
    values: dict[str, object] = {
        "seed": settings.seed,
        "admissions": settings.admissions,
        "train_end": settings.split_ends[0],
        "validation_end": settings.split_ends[1],
        "folds": settings.folds,
        "patient_splits": settings.patient_splits,
        "ancestor_steps": settings.ancestor_steps,
        "taxonomic": list(TAXONOMIC),
        **settings.attesting(),
    }
    set_variables(connection, values)
    steps = ("macros", "cohort", "admission", "context", "mention_type", "mention_concept")
    run_steps(connection, "support", steps)
    concepts = sorted({*cuis(connection, KNOWN_CONCEPTS), *further})
    set_table(connection, "closure", closure_of(graph, concepts))
    run_steps(connection, "support", ["namesake"])
    alike = cuis(connection, f"select distinct other from namesake where cui in ({KNOWN_CONCEPTS})")
    set_table(connection, "namesake_closure", closure_of(graph, alike))
    ends = ("linked_base", "class_member", "stopped_home", "clear_mention", "present_mention", "fact_end")
    run_steps(connection, "support", ends)


def read_knowledge(connection: duckdb.DuckDBPyConnection) -> None:
    """Make ``disputed``, ``known_user`` and ``known_kin`` from the tables in ``builders/data``."""
    for name in KNOWLEDGE:
        lines = sql_text("builders/medieval/truth/knowledge_line")
        set_variables(connection, {"file": str(ROOT / "builders" / "data" / f"{name}s.tsv")})
        connection.execute(f"create or replace temp table {name}_name as {lines}")
    run_steps(connection, "truth", ["knowledge"])


def statement_predicates(connection: duckdb.DuckDBPyConnection, settings: BuildSettings) -> list[str]:
    """Return the predicates that statements use: all that the data file allows, or those of the settings.

    Raises:
        UsageError: the settings name a predicate that no statement can have.
    """
    allowed = [row[0] for row in connection.execute(sql_text("builders/medieval/truth/template")).fetchall()]
    unknown = sorted(set(settings.predicates).difference(allowed))
    if unknown:
        raise UsageError(
            "setting build.predicates names something that is not a predicate of statements",
            found=", ".join(unknown),
            expected=", ".join(sorted(allowed)),
        )
    return sorted(name for name in allowed if not settings.predicates or name in settings.predicates)


def find_true(
    connection: duckdb.DuckDBPyConnection,
    graph: ConceptGraph,
    settings: BuildSettings,
    heads: Sequence[str],
    tails: Sequence[str] | None = None,
    among: str = "",
) -> None:
    """Make ``true_fact``: what the graph says between some concepts, and nothing speaks against.

    Args:
        connection: with the tables of support, and ``near_fact``.
        graph: the concept graph.
        settings: of the build.
        heads: concepts where paths begin.
        tails: concepts where they end; the heads where left out.
        among: a table of (predicate, head_cui, tail_cui): facts that are asked for; all where left out.
    """
    facts = graph.fact_tables(
        heads,
        targets=tails,
        max_hops=settings.max_hops,
        tiers=settings.truth_tiers,
        predicates=statement_predicates(connection, settings),
        ordered=False,
    )
    set_facts(connection, facts, among)
    run_steps(connection, "truth", ["contraindicated", "area", "isolated", "kind_pair", "contested", "true_fact"])


def find_true_facts(
    connection: duckdb.DuckDBPyConnection, graph: ConceptGraph, settings: BuildSettings, executor: Executor
) -> None:
    """Make ``usable_fact`` and ``admission_fact``: what is true, and true between attested ends of an admission."""
    set_variables(
        connection,
        {"known_edges": settings.known_edges, "company": 3, "max_area_share": settings.max_area_share},
    )
    read_knowledge(connection)
    run_steps(connection, "truth", ["twin", "near_fact"])
    ends = cuis(connection, "select distinct cui from fact_end")
    find_true(connection, graph, settings, [cui for cui in ends if cui in graph])
    run_steps(connection, "support", ["statement_name"])
    run_steps(connection, "truth", ["usable_fact"])
    run_steps(connection, "support", ["attested"])
    find_admission_facts(connection, settings.seed, executor)
