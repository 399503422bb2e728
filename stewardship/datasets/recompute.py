"""Phase 2 of our own datasets: labels made anew on another road, without sight of the label or of its evidence.

MediEval: truth and support by `stewardship.second_road`, support from the bare text. MedHal's own facts: the statement
is read back into a relation by the graph's sentences and names, and judged in the same way; its other sources rest on
answer keys and documents that the row does not hold, so they abstain. So do MedVAL's rows: how much an error weighs is
a judgement (levels derived from edits by rules disagreed with 144 of 340 rows), for a language model or an expert.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from ground.contracts.labels import ABSTENTION
from stewardship.benchmark.folder import Benchmark
from stewardship.datasets.adopt import dataset_of
from stewardship.datasets.rows import features_of
from stewardship.second_road.bare_text import supports
from stewardship.second_road.graph import RELATION, claim_facts, find_paths, known_names, opened, truths

__all__ = ["judged", "recomputed"]

JUDGEMENT = "a risk level is a judgement: ask a model or an expert"
RECORD = re.compile(r"(?P<fact>.+), and this patient's record documents both (?P<both>.+)\.", re.DOTALL)
DESCRIBED = re.compile(r", which is a type of [^,]+(?:,|$)")


def recomputed(workspace: Path, benchmark: Benchmark, *, uids: Collection[str] | None = None) -> pl.DataFrame:
    """Make the labels of a benchmark of ours anew.

    Args:
        workspace: with the warehouse that the dataset was built from.
        benchmark: taken up by `stewardship.datasets.adopt.adopt_dataset`.
        uids: rows; all where left out.

    Returns:
        *columns*: uid, label (``N/A`` where this road cannot say), why (in words; no text of a note but names).

    Raises:
        InputError: the workspace has no warehouse, or the benchmark is none of our datasets.
    """
    kind = dataset_of(benchmark)
    wanted = benchmark.items if uids is None else benchmark.items.filter(pl.col("uid").is_in(list(uids)))
    items = wanted.to_dicts()
    with opened(workspace) as connection:
        if kind == "medieval":
            labels = _medieval(connection, items)
        elif kind == "medhal":
            labels = _medhal(connection, items)
        else:
            labels = [(item["uid"], ABSTENTION, JUDGEMENT) for item in items]
    schema = dict.fromkeys(("uid", "label", "why"), pl.String)
    return pl.DataFrame(labels, schema=schema, orient="row").sort("uid")


def judged(connection: duckdb.DuckDBPyConnection, facts: pl.DataFrame) -> pl.DataFrame:
    """Say of each fact of an admission whether it is true and supported.

    Args:
        connection: of `stewardship.second_road.graph.opened`.
        facts: *columns* uid, hadm_id, context, predicate, head_cui, head_name, tail_cui, tail_name.

    Returns:
        ``facts`` without the context, with is_true, why_true, is_supported and why_supported; null where it cannot be
        said.
    """
    claim_facts(connection, facts)
    find_paths(connection)
    relations = truths(connection).rename({"why": "why_true"})
    ends = pl.concat([facts.select("hadm_id", cui=f"{end}_cui") for end in ("head", "tail")])
    readings = supports(connection, ends, facts.select("hadm_id", "context").unique("hadm_id"))
    joined = facts.drop("context").join(relations, on=RELATION, how="left")
    for end in ("head", "tail"):
        renamed = readings.rename({name: f"{end}_{name}" for name in readings.columns if name != "hadm_id"})
        joined = joined.join(renamed, on=["hadm_id", f"{end}_cui"], how="left")
    silent = [~(pl.col(f"{end}_named") | pl.col(f"{end}_coded")) for end in ("head", "tail")]
    return joined.with_columns(
        is_supported=pl.when(pl.col("head_attested") & pl.col("tail_attested"))
        .then(statement=True)
        .when(pl.any_horizontal(silent))
        .then(statement=False),
        why_supported=pl.concat_str(
            [pl.concat_str([f"{end}_name", pl.lit(": "), _words(end)]) for end in ("head", "tail")], separator="; "
        ),
    ).sort("uid")


def _words(end: str) -> pl.Expr:
    readings = pl.col(f"{end}_readings").fill_null("")
    return (
        pl.when(pl.col(f"{end}_attested"))
        .then(pl.lit("named as present"))
        .when(pl.col(f"{end}_named"))
        .then(pl.concat_str([pl.lit("named, not as present ("), readings, pl.lit(")")]))
        .when(pl.col(f"{end}_coded"))
        .then(pl.lit("coded only"))
        .otherwise(pl.lit("neither named nor coded"))
    )


def _medieval(connection: duckdb.DuckDBPyConnection, items: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    rows = [{**features_of(item), "uid": item["uid"], "context": item["context"]} for item in items]
    facts = judged(connection, pl.DataFrame(rows))
    return [(row["uid"], _quadrant(row), _why(row)) for row in facts.to_dicts()]


def _quadrant(row: Mapping[str, Any]) -> str:
    if row["is_true"] is None or row["is_supported"] is None:
        return ABSTENTION
    return {(True, True): "Q1", (True, False): "Q2", (False, True): "Q3", (False, False): "Q4"}[
        row["is_true"], row["is_supported"]
    ]


def _why(row: Mapping[str, Any]) -> str:
    return f"{row['why_true']}; {row['why_supported']}"


def _medhal(connection: duckdb.DuckDBPyConnection, items: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    labels = {
        item["uid"]: (ABSTENTION, f"{item['category']}: the row does not hold what its label rests on")
        for item in items
    }
    own = [{**features_of(item), "uid": item["uid"], "context": item["context"]} for item in items]
    facts = [row for row in own if row["task"] == "record_facts"]
    for row in facts:
        labels[row["uid"]] = (ABSTENTION, "the statement cannot be read back into a relation of named concepts")
    if facts and not (read := read_back(connection, facts)).is_empty():
        contexts = pl.DataFrame([{"uid": row["uid"], "context": row["context"]} for row in own])
        for row in _best(judged(connection, read.join(contexts, on="uid"))):
            labels[row["uid"]] = (_factual(row), _why(row))
    return [(uid, *label) for uid, label in labels.items()]


def read_back(connection: duckdb.DuckDBPyConnection, rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Read MedHal's record facts back into relations, by the sentences of ``kg.predicate`` and ``kg.name``.

    A name of several concepts gives one line for each; a statement that is no such sentence gives none.

    Returns:
        *columns*: uid, hadm_id, predicate, head_cui, head_name, tail_cui, tail_name.
    """
    forms = connection.execute(
        "select predicate, sentence from kg.predicate where statement in ('yes', 'both') "
        "union select inverse, inverse_sentence from kg.predicate where statement = 'both' order by all"
    ).fetchall()
    split = [
        {"uid": row["uid"], "hadm_id": row["hadm_id"], "predicate": predicate, "head_name": head, "tail_name": tail}
        for row in rows
        for predicate, head, tail in _relations(row["statement"], forms)
    ]
    names = dict.fromkeys(("uid", "predicate", "head_name", "tail_name"), pl.String)
    frame = pl.DataFrame(split, schema={**names, "hadm_id": pl.Int64})
    known = known_names(connection, [*frame["head_name"], *frame["tail_name"]])
    # Of several concepts of one name those whose own name it is, where there are such.
    known = known.filter(pl.col("preferred") | ~pl.col("preferred").any().over("name"))
    for end in ("head", "tail"):
        frame = frame.join(
            known.select(pl.col("name").alias(f"{end}_name"), pl.col("cui").alias(f"{end}_cui")), on=f"{end}_name"
        )
    return frame


def _relations(statement: str, forms: list[tuple[str, str]]) -> list[tuple[str, str, str]]:
    record = RECORD.fullmatch(statement)
    if record is None:
        return []
    fact = DESCRIBED.sub("", record["fact"]).casefold()
    words = record["both"].split(" and ")
    relations: list[tuple[str, str, str]] = []
    for place in range(1, len(words)):
        head, tail = " and ".join(words[:place]), " and ".join(words[place:])
        relations += [
            (predicate, head, tail)
            for predicate, form in forms
            if form.replace("{head}", head).replace("{tail}", tail).casefold() == fact
        ]
    return relations


def _best(facts: pl.DataFrame) -> list[dict[str, Any]]:
    """Of several readings of a statement keep the one that says most for it: it is wrong only if all of them are."""
    ranked = facts.with_columns(
        says=pl.when(pl.col("is_true") & pl.col("is_supported")).then(0).when(_undecided()).then(1).otherwise(2)
    )
    return ranked.sort("uid", "says", *RELATION).unique("uid", keep="first", maintain_order=True).to_dicts()


def _undecided() -> pl.Expr:
    return pl.col("is_true").fill_null(value=True) & pl.col("is_supported").fill_null(value=True)


def _factual(row: Mapping[str, Any]) -> str:
    if row["is_true"] is False or row["is_supported"] is False:
        return "non-factual"
    return "factual" if row["is_true"] and row["is_supported"] else ABSTENTION
