"""The two stages that read notes: sections (``ground.section``, ``ground.segment``) and mentions (``ground.mention``).

Notes are read in shards of some ``run.shard_notes`` by the executor of the settings; neither changes what is written.
"""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ehr.note_shards import NoteTables, ReadShard, fill
from ehr.sections import UNKNOWN
from ehr.sources.contract import loaded_source, make_views
from ehr.spans import REASONS, SEGMENT_KINDS
from ground.errors import InputError
from ground.flow.executor import SharedFolder
from ground.flow.executors import open_executor
from ground.flow.fingerprints import code_digest, fingerprint, is_current, load_fingerprint, stage_fingerprint
from ground.flow.manifest import licence_tier
from ground.json_record import JsonRecord
from ground.settings import NoteSettings, Settings
from ground.storage.own_rules import NO_RULES, OwnRules
from ground.storage.sqlfiles import sql_text
from ground.storage.warehouse import arrow_of, has_rows, number_of, set_table, set_variables, table_exists

if TYPE_CHECKING:
    from ehr.characters import IntArray
    from ehr.mentions import Mentions, Texts
    from ehr.reading import TextReader

__all__ = ["MENTION", "MentionReport", "SectionReport", "find_mentions", "note_tables", "split_notes"]

_SECTION_CODE = (
    *(f"ehr/{name}.py" for name in ("sections", "segments", "characters")),
    *(f"ehr/data/{name}.tsv" for name in ("sections", "header_words", "section_heads", "sentence_abbreviations")),
)
_TEXT = pa.string()
_OF_NOTE = (("note_id", _TEXT), ("hadm_id", pa.int64()))
_OFFSETS = (("begin_offset", pa.int32()), ("end_offset", pa.int32()))
_SECTION = pa.schema([*_OF_NOTE, ("section", _TEXT), ("header", _TEXT), *_OFFSETS])
_SEGMENT = pa.schema([("note_id", _TEXT), ("kind", _TEXT), *_OFFSETS, ("block", pa.int32())])
_NAMED = (*_OF_NOTE, *_OFFSETS, ("text", _TEXT), ("cuis", pa.list_(_TEXT)))
_JUDGED = (("assertion", _TEXT), ("section", _TEXT), ("certainty", _TEXT), ("reasons", pa.list_(_TEXT)))
MENTION = pa.schema([*_NAMED, *_JUDGED])
_UNCLEAR = pa.schema([*_NAMED, ("reason", _TEXT), ("section", _TEXT)])
"""What is read but not asserted: signs of the examination, titles of studies, terms that their context does not decide.

It can rule out "not attested", never support a fact (docs/definitions.md#mention).
"""


# It is read before workers start, so that functions are compiled once and not in every worker.
_FIRST = "Chief Complaint:\nNo fever.\n"
# Notes in which mentions are looked for at a time: what is done once costs little for each, and memory is bounded.
# Up to 8,000 characters a note, their arrays are below 32 MiB, which the C library keeps for the next ones; to ask the
# system each time is slow.
_READ_TOGETHER = 64


@dataclass(frozen=True)
class SectionReport(JsonRecord):
    """The result of the section stage. ``without_sections`` notes are one section ``unknown``; empty ones have none."""

    notes: int
    sections: int
    segments: int
    empty_notes: int
    without_sections: int
    skipped: bool = False


@dataclass(frozen=True)
class MentionReport(JsonRecord):
    """The result of the mention stage; ``unclear`` counts what was left out of ``ground.mention``, by reason."""

    notes: int
    mentions: int
    without_concept: int
    by_assertion: dict[str, int]
    unclear: dict[str, int]
    skipped: bool = False


def _need_notes(connection: duckdb.DuckDBPyConnection) -> None:
    make_views(connection)
    if not has_rows(connection, "ehr.discharge_note"):
        raise InputError(
            "there are no notes in the warehouse",
            expected="ehr.discharge_note",
            do="MIMIC-IV-Note is a separate download; load both: `ontoground load mimic DIR NOTE_DIR`",
        )


def _tier(connection: duckdb.DuckDBPyConnection) -> str:
    # A cursor of its own: no result is left open on the connection that shards are read from.
    with connection.cursor() as cursor:
        return licence_tier(cursor)


def _texts(notes: pa.Table) -> list[str]:
    texts: list[str] = notes.column("text").to_pylist()
    return texts


def _table(notes: pa.Table, owner: IntArray, columns: Sequence[pa.Array], schema: pa.Schema) -> pa.Table:
    """Return rows of notes as a table.

    Args:
        notes: note_id and hadm_id.
        owner: the number of the note of each row.
        columns: the other columns of the schema.
        schema: of the table; what it has of the notes comes first.
    """
    of_notes = [notes.column(name).combine_chunks() for name in ("note_id", "hadm_id") if name in schema.names]
    rows = pa.array(owner)
    repeated = [pa.DictionaryArray.from_arrays(rows, of_notes[0]), *(column.take(rows) for column in of_notes[1:])]
    return pa.Table.from_arrays([*repeated, *columns], names=schema.names)


def _section_shard(own: OwnRules, notes: pa.Table) -> ReadShard:
    from ehr.reading import cut, in_arrays

    sections, segments, owner = in_arrays(*cut(_texts(notes), own))
    names = pa.array(sections.names, pa.string()).take(pa.array(sections.name))
    cells = [names, pa.array(sections.header, pa.string()), pa.array(sections.begin), pa.array(sections.end)]
    pieces = [_named(segments.kind, SEGMENT_KINDS), *map(pa.array, segments[1:])]
    tables = _table(notes, sections.owner, cells, _SECTION), _table(notes, owner, pieces, _SEGMENT)
    return ReadShard(notes.num_rows, tables)


def _section_fingerprint(connection: duckdb.DuckDBPyConnection, own: OwnRules) -> str:
    return fingerprint(
        {
            "notes": load_fingerprint(connection, loaded_source(connection) or "mimic"),
            "code": code_digest(_SECTION_CODE),
            "rules": own.digests("sections"),
        }
    )


def _itself(own: OwnRules) -> OwnRules:
    return own


def split_notes(connection: duckdb.DuckDBPyConnection, settings: Settings, own: OwnRules = NO_RULES) -> SectionReport:
    """Write ``ground.section`` and ``ground.segment``; a stage that is current is left as it is.

    Raises:
        InputError: no notes are loaded, or an own rule cannot be read.
    """
    from ehr.reading import cut

    _need_notes(connection)
    expected = _section_fingerprint(connection, own)
    if is_current(connection, "sections", expected) and table_exists(connection, "ground.segment"):
        return _section_report(connection, skipped=True)
    tables = NoteTables("sections", expected, {"section": _SECTION, "segment": _SEGMENT})

    def read(shards: Iterator[pa.Table]) -> Generator[ReadShard]:
        cut([_FIRST], own)
        with open_executor(settings.run, _tier(connection)) as executor:
            yield from executor.in_order(partial(_itself, own), _section_shard, shards)

    fill(connection, tables, read, settings.run.shard_notes)
    return _section_report(connection, skipped=False)


def _count(connection: duckdb.DuckDBPyConnection, table: str, where: str = "true") -> int:
    return number_of(connection, f"select count(*) from {table} where {where}")


def _section_report(connection: duckdb.DuckDBPyConnection, *, skipped: bool) -> SectionReport:
    return SectionReport(
        notes=_count(connection, "ehr.discharge_note"),
        sections=_count(connection, "ground.section"),
        segments=_count(connection, "ground.segment"),
        # All other notes have a section; looking at all texts would take as long as everything else here.
        empty_notes=_count(connection, "ehr.discharge_note anti join ground.section using (note_id)"),
        without_sections=_count(
            connection,
            "(select note_id from ground.section group by note_id having max(section) = 'unknown' and count(*) = 1)",
        ),
        skipped=skipped,
    )


def _open_reader(lexicon: SharedFolder, options: NoteSettings, own: OwnRules) -> TextReader:
    from ehr.lexicon import Lexicon
    from ehr.reading import TextReader

    return TextReader.of(Lexicon.load(lexicon.path()), options, own)


_MentionShard = tuple[pa.Table, ...]
"""The notes of a shard, their sections and their segments."""


def _offsets(rows: pa.Table) -> tuple[IntArray, IntArray]:
    return rows.column("begin_offset").to_numpy(), rows.column("end_offset").to_numpy()


def _places(column: pa.ChunkedArray, values: pa.Array) -> IntArray:
    """Return the place of each value of a column among others."""
    places: IntArray = pc.index_in(column, value_set=values).to_numpy()
    return places


def _named(places: npt.NDArray[Any], names: Sequence[str]) -> pa.Array:
    """Return the names that stand at some places."""
    return pa.DictionaryArray.from_arrays(pa.array(places), pa.array(names, pa.string()))


def _joined_notes(shard: _MentionShard) -> Iterator[tuple[pa.Table, Texts]]:
    """Yield some notes at a time, as rows and as texts."""
    from ehr.mentions import SectionArrays, join_texts
    from ehr.segments import SegmentArrays

    ids = shard[0].column("note_id").combine_chunks()
    tables = [(rows, _places(rows.column("note_id"), ids)) for rows in shard[1:]]
    for begin in range(0, len(ids), _READ_TOGETHER):
        notes, parts = shard[0].slice(begin, _READ_TOGETHER), []
        for rows, owner in tables:
            low, high = np.searchsorted(owner, (begin, begin + _READ_TOGETHER)).tolist()
            parts.append((rows.slice(low, high - low), owner[low:high] - begin))
        (sections, of_sections), (segments, of_segments) = parts
        names, headers = sections.column("section").unique(), sections.column("header").to_pylist()
        placed = _places(sections.column("section"), names)
        kinds = _places(segments.column("kind"), pa.array(SEGMENT_KINDS))
        cut = SectionArrays(of_sections, placed, *_offsets(sections), headers, names.to_pylist())
        pieces = SegmentArrays(kinds, *_offsets(segments), segments.column("block").to_numpy())
        yield notes, join_texts(_texts(notes), cut, pieces, of_segments)


def _mention_rows(reader: TextReader, notes: pa.Table, texts: Texts) -> tuple[pa.Table, pa.Table]:
    """Return the rows of ``ground.mention`` and ``ground.unclear_mention`` for some notes."""
    from ehr.certainty import ASSERTIONS, in_words
    from ehr.characters import cut_out
    from ehr.mentions import as_written

    def table(mentions: Mentions, judged: pa.Array, further: Sequence[pa.Array], schema: pa.Schema) -> pa.Table:
        moved = texts.begin[mentions.owner]
        columns = [
            pa.array(mentions.begin - moved),
            pa.array(mentions.end - moved),
            cut_out(written, mentions.begin[:, np.newaxis], mentions.end[:, np.newaxis]),
            reader.lexicon.concepts.take(pa.array(mentions.entry)),
            judged,
            _named(texts.sections.name[mentions.section], texts.sections.names),
            *further,
        ]
        return _table(notes, mentions.owner, columns, schema)

    read, written = reader.judge(texts), as_written(_texts(notes))
    is_unsure = (read.unsure > 0).astype(np.int8)
    sureness = [_named(is_unsure, ("certain", "unsure")), in_words(read.unsure, read.against)]
    return (
        table(read.clear, _named(read.assertion, ASSERTIONS), sureness, MENTION),
        table(read.unclear, _named(read.unclear.reason, REASONS), (), _UNCLEAR),
    )


def note_tables(reader: TextReader, notes: pa.Table, own: OwnRules, sections: Sequence[str]) -> dict[str, pa.Table]:
    """Return the tables that stand below ``ground`` of a few notes that no warehouse holds.

    Args:
        reader: with the names of a release.
        notes: note_id, hadm_id and text.
        own: rules of the user.
        sections: of the context; what has no known header counts as the first one, and so does all of a note without
            any of them.
    """
    parts = zip(_section_shard(own, notes).rows, (_SECTION, _SEGMENT), strict=True)
    section, segments = (rows.cast(schema) for rows, schema in parts)
    mention, unclear = _mention_shard(reader, (notes, section, segments)).rows
    rows = section.to_pylist()
    headed = {row["note_id"] for row in rows if row["section"] in sections}
    named = [row["section"] if row["note_id"] in headed and row["section"] != UNKNOWN else sections[0] for row in rows]
    section = section.set_column(section.schema.get_field_index("section"), "section", pa.array(named, pa.string()))
    return {"section": section, "segment": segments, "mention": mention, "unclear_mention": unclear}


def _mention_shard(reader: TextReader, shard: _MentionShard) -> ReadShard:
    rows = [_mention_rows(reader, notes, texts) for notes, texts in _joined_notes(shard)]
    clear, unclear = map(pa.concat_tables, zip(*rows, strict=True))
    return ReadShard(shard[0].num_rows, (clear, unclear))


def _mention_fingerprint(connection: duckdb.DuckDBPyConnection, settings: Settings, own: OwnRules) -> str:
    return fingerprint(
        {
            "sections": _section_fingerprint(connection, own),
            "graph": stage_fingerprint(connection, "graph"),
            "concepts": stage_fingerprint(connection, "flow.concepts"),
            "settings": settings.notes.model_dump_json(),
            "code": code_digest(("ehr",)),
            "rules": own.digests("mentions"),
        }
    )


def find_mentions(connection: duckdb.DuckDBPyConnection, settings: Settings, own: OwnRules = NO_RULES) -> MentionReport:
    """Write ``ground.mention`` and ``ground.unclear_mention``; a stage that is current is left as it is.

    Raises:
        InputError: no notes are loaded, the concept graph with its names is not built, or an own rule cannot be read.
    """
    from ehr.lexicon import open_lexicon

    _need_notes(connection)
    expected = _mention_fingerprint(connection, settings, own)
    if is_current(connection, "mentions", expected) and table_exists(connection, "ground.unclear_mention"):
        return _mention_report(connection, skipped=True)
    if not is_current(connection, "sections", _section_fingerprint(connection, own)):
        split_notes(connection, settings, own)
    lexicon = open_lexicon(connection, own)
    # Codes and orders corroborate mentions, or are missing where expected, once they are mapped to concepts.
    coded = table_exists(connection, "ground.admission_concept")
    closing = ("ehr/lasting", "ehr/recorded", "ehr/given") if coded else ()
    tables = NoteTables("mentions", expected, {"mention": MENTION, "unclear_mention": _UNCLEAR}, closing)

    def read(shards: Iterator[pa.Table]) -> Generator[ReadShard]:
        with (
            tempfile.TemporaryDirectory(prefix="ontoground-lexicon-") as scratch,
            open_executor(settings.run, _tier(connection)) as executor,
        ):
            set_table(connection, "lasting_target", lexicon.lasting)
            folder = lexicon.folder or Path(scratch) / "lexicon"
            if lexicon.folder is None:
                lexicon.save(folder)
            _open_reader(SharedFolder(folder), settings.notes, own).read(_FIRST)
            setup = partial(_open_reader, executor.share(folder), settings.notes, own)
            whole = ((notes, _part_of(connection, "section"), _part_of(connection, "segment")) for notes in shards)
            yield from executor.in_order(setup, _mention_shard, whole)

    fill(connection, tables, read, settings.run.shard_notes)
    return _mention_report(connection, skipped=False)


def _part_of(connection: duckdb.DuckDBPyConnection, name: str) -> pa.Table:
    set_variables(connection, {"shard_table": f"ground.{name}"})
    return arrow_of(connection, sql_text("ehr/shard_part"))


def _mention_report(connection: duckdb.DuckDBPyConnection, *, skipped: bool) -> MentionReport:
    def counts(table: str, column: str) -> dict[str, int]:
        rows = connection.execute(f"select {column}, count(*) from {table} group by 1 order by 1").fetchall()
        return {str(value): int(n) for value, n in rows}

    return MentionReport(
        notes=_count(connection, "ehr.discharge_note"),
        mentions=_count(connection, "ground.mention"),
        without_concept=_count(connection, "ground.mention", "len(cuis) = 0"),
        by_assertion=counts("ground.mention", "assertion"),
        unclear=counts("ground.unclear_mention", "reason"),
        skipped=skipped,
    )
