"""Information extraction as pairs of claims: values are swapped between documents within a type (MedHal, section 3.3).

All values lie in a temporary database while partners are chosen, so memory does not grow with the source. An extracted
value is used only where its words stand in the document; a value is swapped in only where what tells it apart does not.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from builders.medhal.items import Claim, Extraction, Pair
from builders.medhal.rules.grounding import Note, note_of
from builders.medhal.rules.values import opposite_of, read_value
from builders.medhal.writers import ExtractionInWords, Writer
from builders.texts.origin import Origin, Refusal, Tally
from ground.settings import MedhalSettings, RunSettings
from ground.storage.sqlfiles import sql_text
from ground.storage.warehouse import database_config, open_database

__all__ = ["extraction_pairs"]

ROWS_AT_ONCE = 4_000
STEPS = 24
"""Values that an extraction tries, at most, before it is left without a partner."""

EXTRACTION = pa.schema(
    [
        *((name, pa.string()) for name in ("extraction_id", "source", "document", "split", "category", "concept")),
        *((name, pa.string()) for name in ("said", "reference", "words", "swap_group", "opposite")),
        ("marks", pa.list_(pa.uint32())),
        ("regions", pa.list_(pa.string())),
        ("size", pa.float64()),
        ("ratio", pa.float64()),
    ]
)
DOCUMENT = pa.schema([("document", pa.string()), ("text", pa.string()), ("features", pa.list_(pa.uint32()))])


def extraction_pairs(
    items: Iterable[Extraction], writer: Writer, settings: MedhalSettings, tally: Tally
) -> Iterator[Pair]:
    """Turn extracted values into a factual sentence and one with a value of another document.

    Both sentences are written from the same parts but the value. The explanation of the second is the first; guidance
    is the right value. Choices are stable hashes: they do not depend on the order of the items.

    Yields:
        Pairs in the order of their documents and of the values in them.
    """
    with tempfile.TemporaryDirectory(prefix="ontoground-") as folder, _scratch(Path(folder)) as scratch:
        _fill(scratch, items, tally)
        _choose(scratch, settings.seed)
        _count_partnerless(scratch, tally)
        # Texts are looked up batch by batch: in the sort, a text would be repeated for each of its values.
        rows = scratch.sql(
            "select extraction.*, coalesce(extraction.opposite, extraction_swap.wrong) as wrong from extraction "
            "left join extraction_swap on extraction.extraction_id = extraction_swap.extraction_id "
            "where coalesce(extraction.opposite, extraction_swap.wrong) is not null "
            "order by extraction.document, extraction.extraction_id, extraction.said, wrong"
        )
        with scratch.cursor() as texts:
            for batch in rows.to_arrow_reader(ROWS_AT_ONCE):
                yield from _written(_with_texts(batch.to_pylist(), texts), writer, tally)


def _with_texts(rows: list[dict[str, Any]], texts: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """Put its document's text into each row."""
    documents = sorted({row["document"] for row in rows})
    found = texts.execute(
        "select document, text from extraction_text where document in (select unnest($documents))",
        {"documents": documents},
    ).fetchall()
    text_of = dict(found)
    return [{**row, "text": text_of[row["document"]]} for row in rows]


@contextmanager
def _scratch(folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a temporary database on disk; nobody else can read its folder."""
    config = database_config(RunSettings(memory_limit="1GB"), folder / "spill")
    connection = open_database(folder / "extractions.duckdb", config)
    try:
        yield connection
    finally:
        connection.close()


def _fill(scratch: duckdb.DuckDBPyConnection, items: Iterable[Extraction], tally: Tally) -> None:
    """Store the values that stand in their documents, and the documents."""
    for name, schema in (("extraction", EXTRACTION), ("extraction_text", DOCUMENT)):
        _insert(scratch, name, schema.empty_table(), create=True)
    stream = iter(items)
    known: set[str] = set()
    while batch := list(islice(stream, ROWS_AT_ONCE)):
        rows, documents = [], []
        for item in batch:
            document = f"{item.origin.source}/{item.origin.document}"
            note = note_of(item.document)
            if document not in known:
                known.add(document)
                documents.append({"document": document, "text": item.document, "features": note.features})
            row = _row(item, document, note)
            if isinstance(row, str):
                tally.drop(item.origin.source, row)
            else:
                rows.append(row)
        _insert(scratch, "extraction_text", pa.Table.from_pylist(documents, schema=DOCUMENT))
        _insert(scratch, "extraction", pa.Table.from_pylist(rows, schema=EXTRACTION))


def _insert(scratch: duckdb.DuckDBPyConnection, name: str, table: pa.Table, *, create: bool = False) -> None:
    scratch.register("arrow_input", table)
    verb = f"create table {name} as" if create else f"insert into {name}"
    scratch.execute(f"{verb} select * from arrow_input")
    scratch.unregister("arrow_input")


def _row(item: Extraction, document: str, note: Note) -> dict[str, Any] | str:
    """Return a value as it is stored, or why its document does not support it."""
    value = read_value(item.category, item.concept, item.value)
    reference = " ".join(item.reference.split()) if item.reference else None
    problem = note.doubt(value, reference)
    if problem is not None:
        return problem
    return {
        "extraction_id": f"{item.origin.source}/{item.origin.inner_id}",
        "source": item.origin.source,
        "document": document,
        "split": item.origin.split,
        "category": item.category,
        "concept": item.concept,
        "said": note.as_inside(value.said),
        "reference": note.as_inside(reference) if reference else None,
        "words": " ".join(value.words),
        "swap_group": "/".join((item.origin.source, item.value_type, value.shape, value.group)),
        "opposite": opposite_of(value),
        "marks": list(value.marks),
        "regions": list(value.regions),
        "size": value.size,
        "ratio": value.ratio,
    }


def _choose(scratch: duckdb.DuckDBPyConnection, seed: int) -> None:
    """Walk along the rings until every extraction has a partner, or has tried enough."""
    scratch.execute("set variable seed = $seed", {"seed": seed})
    scratch.execute(sql_text("builders/medhal/extraction_pool"))
    for step in range(STEPS):
        scratch.execute("set variable step = $step", {"step": step})
        scratch.execute(sql_text("builders/medhal/extraction_swap"))


def _count_partnerless(scratch: duckdb.DuckDBPyConnection, tally: Tally) -> None:
    rows = scratch.execute(
        "select source, count(*) from extraction where opposite is null and not exists "
        "(select 1 from extraction_swap where extraction_swap.extraction_id = extraction.extraction_id) group by source"
    ).fetchall()
    for source, n in rows:
        tally.drop(source, "no_partner", n)


def _written(rows: Sequence[dict[str, Any]], writer: Writer, tally: Tally) -> Iterator[Pair]:
    """Have both values said, and yield the pairs for which the writer said both."""

    def asked(row: dict[str, Any], value: str) -> ExtractionInWords:
        return ExtractionInWords(row["category"], row["concept"], row[value], row["reference"])

    written = writer.extractions([asked(row, value) for row in rows for value in ("said", "wrong")])
    for row, factual, wrong in zip(rows, written[::2], written[1::2], strict=True):
        if isinstance(factual, Refusal) or isinstance(wrong, Refusal):
            refusal = factual if isinstance(factual, Refusal) else wrong
            assert isinstance(refusal, Refusal)
            tally.drop(row["source"], refusal.reason)
        elif factual.text == wrong.text:
            tally.drop(row["source"], "same_statement")
        else:
            source = row["source"]
            origin = Origin(
                source=source,
                inner_id=row["extraction_id"].removeprefix(f"{source}/"),
                document=row["document"].removeprefix(f"{source}/"),
                split=row["split"],
            )
            yield Pair(
                origin=origin,
                context=row["text"],
                factual=Claim(factual.text, factual=True, explanation=None, synthetic=True, rule=factual.rule),
                wrong=Claim(
                    wrong.text,
                    factual=False,
                    explanation=factual.text,
                    synthetic=True,
                    rule=wrong.rule,
                    # A quantity, and what has an opposite, has one value; a further symptom is only not mentioned.
                    falsity="contradicted" if row["opposite"] or row["size"] is not None else "unsupported",
                ),
                guidance=row["said"],
            )
