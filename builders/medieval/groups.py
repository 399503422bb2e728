"""Groups of four: candidates for Q2, Q3 and Q4 of each fact, checked, one of each drawn so that names tell nothing."""

from __future__ import annotations

from typing import cast

import duckdb
import pyarrow as pa

from builders.medieval.balance import draw_statements
from builders.medieval.facts import cuis, run_steps, set_table, statement_predicates
from kg.graph import ConceptGraph
from ontoground.settings import BuildSettings
from ontoground.sqlfiles import sql_text

__all__ = ["make_groups"]

BUCKET_SIZE = 256
"""Distractors that one group looks at, about."""

WEIGHT_FLOOR = 0.02
"""Weight of a concept that no supported statement has, against 1 for one that a single fact has."""

TIERS = ("stated", "equivalent", "inherited", "plausible")


def _set_variables(connection: duckdb.DuckDBPyConnection, settings: BuildSettings) -> None:
    values = {
        "bucket_size": BUCKET_SIZE,
        "weight_floor": WEIGHT_FLOOR,
        "family_size": settings.family_size,
        "max_lift": settings.max_lift,
        "extended_share": settings.extended_share,
        "max_groups": settings.max_groups_per_admission,
    }
    for name, value in values.items():
        connection.execute(f"set variable {name} = {value}")


def _relations(connection: duckdb.DuckDBPyConnection, graph: ConceptGraph) -> pa.Table:
    """Return (head, tail) of all paths of any tier between candidates or their twins, in both directions."""
    query = "select distinct twin.other from false_candidate inner join twin on false_candidate.{}_cui = twin.cui"
    heads, tails = (cuis(connection, query.format(end)) for end in ("head", "tail"))
    found = [
        graph.facts(heads, targets=tails, max_hops=3, tiers=TIERS),
        graph.facts(tails, targets=heads, max_hops=3, tiers=TIERS),
    ]
    columns = ["head_cui", "tail_cui"]
    return pa.concat_tables([table.select(columns) for table in found]).group_by(columns).aggregate([])


def _relative_facts(connection: duckdb.DuckDBPyConnection, graph: ConceptGraph, settings: BuildSettings) -> pa.Table:
    """Return the true facts between relatives and kept ends."""
    heads = cuis(connection, "select distinct head_cui from relative")
    tails = cuis(connection, "select distinct tail_cui from relative")
    return graph.facts(
        heads,
        targets=tails,
        max_hops=settings.max_hops,
        tiers=settings.truth_tiers,
        predicates=statement_predicates(connection, settings),
    )


def _far(connection: duckdb.DuckDBPyConnection, graph: ConceptGraph, least: int) -> pa.Table:
    """Return the pairs (original, candidate) of Q4 that are semantically distant, whatever form of a drug they are."""
    pairs = connection.execute(sql_text("builders/distractor")).fetchall()
    near: dict[tuple[str, str], bool] = {}
    for _, _, one, other in pairs:
        if (one, other) not in near:
            # A pair nearer than the limit is found within limit - 1 steps; None means farther.
            near[one, other] = one == other or graph.distance(one, other, least - 1) is not None
    far = [pair[:2] for pair in pairs if not near[pair[2], pair[3]]]
    schema = pa.schema([("original_cui", pa.string()), ("candidate_cui", pa.string())])
    return pa.table([[pair[0] for pair in far], [pair[1] for pair in far]], schema=schema)


def _count(connection: duckdb.DuckDBPyConnection, query: str) -> int:
    return cast("tuple[int]", connection.execute(query).fetchone())[0]


def _limit(connection: duckdb.DuckDBPyConnection, settings: BuildSettings) -> None:
    """Apply the limits until they hold: fewer groups make the share of a pair or predicate larger."""
    before, groups = -1, _count(connection, "select count(distinct fact_id) from first_group where completed")
    predicates = _count(connection, sql_text("builders/completed_predicate"))
    # Shares of one or two predicates cannot all be below the limit.
    share = max(settings.max_predicate_share, 1 / max(1, predicates))
    while groups != before:
        before = groups
        connection.execute(f"set variable max_pairs = {max(1, int(settings.max_pair_share * groups))}")
        connection.execute(f"set variable max_of_predicate = {max(1, int(share * groups))}")
        connection.execute(sql_text("builders/group_limit"))
        groups = _count(connection, "select count(*) from fact_group")


def make_groups(connection: duckdb.DuckDBPyConnection, graph: ConceptGraph, settings: BuildSettings) -> None:
    """Make ``fact_group``, ``candidate``, ``choice`` and ``extension``: complete groups and the statements of each."""
    _set_variables(connection, settings)
    run_steps(connection, ["fact_group", "false_candidate"])
    set_table(connection, "found_relation", _relations(connection, graph))
    run_steps(connection, ["related", "lifted", "why_not_false", "relative"])
    set_table(connection, "found_fact", _relative_facts(connection, graph, settings))
    run_steps(connection, ["contraindicated", "area", "isolated", "true_fact"])
    connection.execute("create or replace temp table relative_fact as select * from true_fact")
    set_table(connection, "far", _far(connection, graph, settings.min_distractor_distance))
    run_steps(connection, ["candidate", "first_group"])
    _limit(connection, settings)
    draw_statements(connection, settings)
    connection.execute(sql_text("builders/extension"))
