"""Edges of MRREL: read by joins, what they say together of drugs and classes taken in, sorted into ``kg.edge_code``."""

from __future__ import annotations

import duckdb
import numpy as np
import pyarrow as pa

from ground.storage.sqlfiles import sql_text
from ground.storage.warehouse import arrow_of, number_of, run_sql, set_table
from kg.composition import ROUTES, resolve_drugs

__all__ = ["make_edges"]


def make_edges(connection: duckdb.DuckDBPyConnection) -> None:
    """Make ``kg.edge_refused`` and ``kg.edge_code``; see their SQL."""
    run_sql(connection, "kg/edge_row")
    run_sql(connection, "kg/product_route")
    _resolve_drugs(connection)
    run_sql(connection, "kg/edge_refused")
    run_sql(connection, "kg/edge_code")


def _resolve_drugs(connection: duckdb.DuckDBPyConnection) -> None:
    """Make ``drug_link`` and ``drug``: which drugs are the same, what holds others, and where each acts."""
    link = arrow_of(connection, sql_text("kg/drug_link"))
    product = arrow_of(connection, "select node, route from product_route order by node")
    n_nodes = number_of(connection, "select count(*) from kg.node")
    head, tail = (link[name].to_numpy() for name in ("head", "tail"))
    route = np.array([ROUTES[name] for name in product["route"].to_pylist()], np.uint8)
    drugs = resolve_drugs(head, tail, product["node"].to_numpy(), route, n_nodes)
    is_part, is_whole = np.zeros(n_nodes, bool), np.zeros(n_nodes, bool)
    is_part[tail] = is_whole[head] = True
    node = np.flatnonzero(is_part | is_whole | drugs.systemic | drugs.local)
    flags = {"is_part": is_part, "is_whole": is_whole, "systemic": drugs.systemic, "local": drugs.local}
    set_table(connection, "drug_link", link.append_column("same", pa.array(drugs.same)))
    set_table(connection, "drug", pa.table({"node": node, **{name: flag[node] for name, flag in flags.items()}}))
