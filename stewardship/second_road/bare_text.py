"""Support by the second reader: what the bare texts of an admission say of a concept, stored mentions unread.

Names of the concept, of what is below it and of what it may be part of are looked for in the context, in the notes and
in what codes and orders are called; the words around say whether a name is there as present.
"""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import polars as pl

from ground.storage.sqlfiles import sql_text
from ground.storage.tables import read_table
from ground.storage.warehouse import run_sql, set_table
from stewardship.second_road.readings import DATA, reading_of
from stewardship.second_road.words import find_names, sentences, spellings, words

__all__ = ["supports"]

SQL = "stewardship/second_road/bare_text"
ADMISSIONS_AT_ONCE = 400
LONGEST = 6
"""Words of a longer name that may hold a name."""
AROUND = 120
"""Letters around a name that are read."""
ABBREVIATION = "^[A-Z0-9]{1,5}$"
"""A name that is found in this case only; other names have three letters or more."""


def supports(connection: duckdb.DuckDBPyConnection, asked: pl.DataFrame, contexts: pl.DataFrame) -> pl.DataFrame:
    """Say for each admission and concept whether the texts attest it.

    Attested: a name in the context that reads as present, means nothing else and is no part of a longer name; a name
    of several concepts attests the one whose own name it is.

    Args:
        connection: of `stewardship.second_road.graph.opened`, with ``claim_end``: the concepts and what statements
            call them.
        asked: *columns* hadm_id, cui.
        contexts: *columns* hadm_id, context: one row an admission.

    Returns:
        *columns*: hadm_id, cui, attested, named (the context or the note may mean it), coded (codes or orders may),
        readings (how its names read, in words).
    """
    run_sql(connection, "stewardship/second_road/graph/cover")
    names = _names(connection)
    parts = []
    for part in contexts.sort("hadm_id").iter_slices(ADMISSIONS_AT_ONCE):
        wanted = asked.join(part, on="hadm_id", how="semi").unique()
        set_table(connection, "asked_context", part.select("hadm_id", "context").to_arrow())
        hits = _hits(connection, wanted, names)
        coded = connection.execute(sql_text(f"{SQL}/code")).pl().with_columns(by_code=True)
        parts.append(_summed(wanted, hits).join(coded, on=["hadm_id", "cui"], how="left"))
    return pl.concat(parts).select(
        "hadm_id",
        "cui",
        pl.col("attested", "named").fill_null(value=False),
        coded=pl.col("coded").fill_null(value=False) | pl.col("by_code").fill_null(value=False),
        readings="readings",
    )


def _names(connection: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """Return the names of the ends: *columns* cui, name (in words), shape (of an abbreviation), attests, preferred."""
    lines = pl.DataFrame(read_table(DATA / "reader_words.tsv", ("written", "means", "source")))
    set_table(connection, "reader_word", lines.to_arrow())
    run_sql(connection, f"{SQL}/end_word")
    written = connection.sql("from end_word").pl()
    written = written.with_columns(shape=pl.when(pl.col("name").str.contains(ABBREVIATION)).then("name"))
    named = written.with_columns(pl.col("name").str.to_lowercase()).with_columns(words("name"))
    long = named.filter(pl.col("shape").is_null(), pl.col("name").str.len_chars() >= 3)
    short = named.filter(pl.col("shape").is_not_null())
    empty = spellings(lines.filter(pl.col("means") == "").select(name="written"))
    spelled = pl.concat([spellings(long), short]).join(empty, on="name", how="anti")
    return spelled.group_by("cui", "name", "shape").agg(pl.col("attests", "preferred").any())


def _hits(connection: duckdb.DuckDBPyConnection, wanted: pl.DataFrame, names: pl.DataFrame) -> pl.DataFrame:
    """Return where texts name a concept that is asked for: *columns* hadm_id, cui, kind, name, attests, how."""
    texts = connection.execute(sql_text(f"{SQL}/text")).pl().with_columns(cased=sentences("text"))
    texts = texts.with_columns(text=pl.col("cased").str.to_lowercase())
    of_part = names.join(wanted, on="cui", how="semi")
    place, length = pl.col("place").cast(pl.Int64), pl.col("name").str.len_chars().cast(pl.Int64)
    first = pl.max_horizontal(place - AROUND, 0)
    places = find_names(texts, of_part["name"], places=True).with_columns(
        before=pl.col("text").str.slice(first, place - first),
        after=pl.col("text").str.slice(place + length + 1, AROUND),
        written=pl.col("cased").str.slice(place + 1, length),
    )
    hits = places.drop("text", "cased", "place").join(of_part, on="name")
    hits = hits.filter(pl.col("shape").is_null() | (pl.col("shape") == pl.col("written")))
    hits = hits.join(wanted, on=["hadm_id", "cui"], how="semi")
    set_table(connection, "word_of", hits.select("cui", "name").unique().to_arrow())
    other = connection.execute(sql_text(f"{SQL}/other_sense")).pl().with_columns(other=True)
    known = _known_around(connection, hits)
    hits = hits.join(other, on=["cui", "name"], how="left").join(known, on=["before", "name", "after"], how="left")
    return hits.with_columns(
        how=pl.when(~pl.col("attests"))
        .then(pl.lit("more general or a combination"))
        .when(pl.col("other").fill_null(value=False) & ~pl.col("preferred"))
        .then(pl.lit("several meanings"))
        .when(pl.col("covered"))
        .then(pl.lit("part of a longer name"))
        .otherwise("reading")
    )


def _known_around(connection: duckdb.DuckDBPyConnection, hits: pl.DataFrame) -> pl.DataFrame:
    """Return how names read between what stands around them: *columns* before, name, after, reading, covered."""
    distinct = hits.select("before", "name", "after").unique()
    longer = [list(_longer(*row)) for row in distinct.iter_rows()]
    names = pl.DataFrame({"name": sorted({name for row in longer for name in row})}, schema={"name": pl.String})
    set_table(connection, "longer_name", names.to_arrow())
    known = connection.sql("from longer_name semi join kg.name as known on longer_name.name = known.normalized").pl()
    released = set(known["name"])
    return distinct.with_columns(
        reading=pl.Series([reading_of(before, after) for before, _, after in distinct.iter_rows()], dtype=pl.String),
        covered=pl.Series([not released.isdisjoint(names) for names in longer], dtype=pl.Boolean),
    )


def _longer(before: str, name: str, after: str) -> Iterator[str]:
    """Yield the runs of up to six words of a sentence that a name is part of."""
    left = before.rpartition("|")[2].replace(",", " ").split()
    right = after.partition("|")[0].replace(",", " ").split()
    rest = LONGEST - len(name.split())
    for ahead in range(min(rest, len(left)) + 1):
        for behind in range(min(rest - ahead, len(right)) + 1):
            if ahead or behind:
                yield " ".join((*left[len(left) - ahead :], name, *right[:behind]))


def _summed(wanted: pl.DataFrame, hits: pl.DataFrame) -> pl.DataFrame:
    """Return what the names of each concept come to in each admission."""
    of_code = pl.col("kind") == "code"
    summed = hits.group_by("hadm_id", "cui").agg(
        attested=((pl.col("kind") == "context") & (pl.col("how") == "present")).any(),
        named=(~of_code).any(),
        coded=(of_code & pl.col("attests")).any(),
        readings=pl.format("{}: {}", "name", "how").unique().sort().str.join("; "),
    )
    return wanted.join(summed, on=["hadm_id", "cui"], how="left")
