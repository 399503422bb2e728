"""Looks for names in the whole text of notes, without the mentions: what is named there is not called unattested.

The dictionary of mentions leaves names out (ordinary words, short ones, dose forms), and of names that overlap it takes
one. Here every name counts, wherever it begins, in one pass over the text. Only tokens are those of the mentions
(``ehr/matching.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from builders.medieval.coding import begins, runs
from builders.medieval.facts import closure_of, cuis, run_steps
from builders.medieval.kernels import Meant
from ehr.characters import ByteArray, CodeArray, IntArray, codes_of
from ehr.matching import CASE_ANY, CASE_UPPER, Tokens, Trie, build_trie, tokenise
from ground.flow.executor import Executor, nothing
from ground.storage.sqlfiles import sql_text
from ground.storage.warehouse import add_rows, arrow_of, set_table, set_variables
from kg.graph import ConceptGraph

__all__ = ["find_names"]

PART_SIZE = 4_000
"""Patients whose notes are read at once: the warehouse unpacks 2,048 texts for one."""

TEXTS_AT_ONCE = 500
"""Texts that a worker looks through at once."""

BATCH_NAMES = 100_000

LONGEST_NAME = 40
"""Tokens of the longest name that is looked for: no name of a statement has more."""

HYPHENS = np.array([0x2D, 0x2010, 0x2011], np.uint32)

FOUND = pa.schema([("number", pa.int32()), ("name", pa.int32())])


def _trie(connection: duckdb.DuckDBPyConnection) -> tuple[Trie, npt.NDArray[np.int32]]:
    """Return the names that are looked for, and the entry of each of their spellings. Shape: (spellings,)"""
    names = arrow_of(connection, "select name, in_capitals from sought_name order by name_no")
    case = np.where(names["in_capitals"].to_numpy(), CASE_UPPER, CASE_ANY).astype(np.uint8)
    batches = (batch["name"].to_pylist() for batch in names.to_batches(BATCH_NAMES))
    return build_trie(batches, case, LONGEST_NAME)


def _meant(connection: duckdb.DuckDBPyConnection, entry: npt.NDArray[np.int32], entries: int) -> Meant:
    """Return what names leave unclear: something wider than they say only where few notes have the name."""
    common = arrow_of(connection, "select name from common_name")["name"].to_numpy()
    pairs = arrow_of(connection, "select * from sought")
    name, code = entry[pairs["name_no"].to_numpy()], pairs["code"].to_numpy()
    used = (name >= 0) & ~(pairs["wider"].to_numpy() & np.isin(name, common))
    # Spellings that the scan takes for one are one name.
    meant = np.unique(name[used].astype(np.int64) << 32 | code[used])
    return Meant(begins(meant >> 32, entries), (meant & 0xFFFFFFFF).astype(np.int32))


class _Words(NamedTuple):
    """Tokens of texts as the trie looks at them: number, shape of the letters, text. Shapes: (tokens,)"""

    number: IntArray
    shape: ByteArray
    owner: IntArray


def _joined_words(trie: Trie, codes: CodeArray, tokens: Tokens, words: _Words) -> _Words:
    """Return words as they are without the hyphens between letters, so that "anti-coagulant" is one word.

    Only stretches between blanks that have such a hyphen are read again. Of all words those are returned that can stand
    in one name with a word of these: between them the trie knows every word.

    Args:
        trie: of the names.
        codes: texts; the last character is a blank.
        tokens: of the texts as they are.
        words: the same as the trie looks at them.
    """
    hyphen = tokens.begin[tokens.begin > 1] - 1
    hyphen = hyphen[np.isin(codes[hyphen], HYPHENS)]
    beside = codes[hyphen + np.array([[-1], [1]])] | 0x20
    hyphen = hyphen[((beside >= ord("a")) & (beside <= ord("z"))).all(axis=0)]
    blank = np.concatenate([[-1], np.flatnonzero(codes <= ord(" "))])
    before = np.unique(np.searchsorted(blank, hyphen)) - 1
    first, end = blank[before] + 1, blank[before + 1]
    read = runs(first, end + 1 - first)
    read = np.delete(read, np.searchsorted(read, hyphen))
    joined = tokenise(codes[read])
    begin, low = read[joined.begin], np.searchsorted(tokens.begin, first)
    replaced = runs(low, np.searchsorted(tokens.begin, end) - low)
    at = np.searchsorted(np.delete(tokens.begin, replaced), begin)
    known = trie.token_numbers(joined.hash)
    its = words.owner[np.searchsorted(tokens.begin, begin, side="right") - 1]
    whole: list[npt.NDArray[Any]] = [
        np.insert(np.delete(old, replaced), at, new)
        for old, new in ((words.number, known), (words.shape, joined.shape), (words.owner, its))
    ]
    # An unknown word begins a run.
    run = np.cumsum(whole[0] < 0)
    held = np.zeros(int(run.max(initial=0)) + 1, np.bool_)
    held[run[(at + np.arange(at.size))[known >= 0]]] = True
    return _Words(*(column[held[run]] for column in whole))


def _names_in(trie: Trie, entries: int, notes: pa.Table) -> pa.Table:
    """Return (number, name) of some notes."""
    texts = notes["text"].to_pylist()
    codes = codes_of("".join(f"{text}\n" for text in texts))
    end = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)) + 1)
    tokens = tokenise(codes)
    # No name goes from one note into the next, though both are of one admission.
    owner = np.searchsorted(end, tokens.begin, side="right").astype(np.int32)
    words = _Words(trie.token_numbers(tokens.hash), tokens.shape, owner)
    seen = np.full(entries, -1, np.int32)
    names = [trie.find_every(*some, seen) for some in (words, _joined_words(trie, codes, tokens, words))]
    note, name = np.concatenate(names, axis=1)
    return pa.table([notes["number"].to_numpy()[note], name], schema=FOUND)


def _parts(connection: duckdb.DuckDBPyConnection, kinds: Sequence[str]) -> Iterator[pa.Table]:
    """Yield the texts (number, text) of the admissions, some at a time, of each kind."""
    set_variables(connection, {"part_size": PART_SIZE})
    run_steps(connection, "groups", ["bare_admission"])
    query = "select part, min(subject_id), max(subject_id) from bare_admission group by part order by part"
    for bounds in connection.execute(query).fetchall():
        set_variables(connection, dict(zip(("part", "first_patient", "last_patient"), bounds, strict=True)))
        for kind in kinds:
            set_variables(connection, {"kind": kind})
            notes = arrow_of(connection, sql_text("builders/medieval/groups/bare_text"))
            yield from (notes.slice(begin, TEXTS_AT_ONCE) for begin in range(0, notes.num_rows, TEXTS_AT_ONCE))


def find_names(
    connection: duckdb.DuckDBPyConnection, graph: ConceptGraph, executor: Executor, *, radiology: bool
) -> Meant:
    """Make ``named``: names in the notes of each admission that leave something unclear that statements can name.

    Args:
        connection: with ``nameable``, the concepts that statements can name.
        graph: the concept graph.
        executor: of workers that share this process's memory: one trie is enough.
        radiology: also look in radiology reports.

    Returns:
        What each of the names leaves unclear.
    """
    more = cuis(connection, "select cui from nameable where cui not in (select closure.cui from closure)")
    set_table(connection, "sought_closure", closure_of(graph, more))
    run_steps(connection, "groups", ["sought_concept", "sought"])
    trie, entry = _trie(connection)
    connection.execute("create or replace temp table found_name (number integer, name integer)")
    entries = int(entry.max(initial=-1)) + 1
    parts = _parts(connection, ("discharge", "radiology") if radiology else ("discharge",))
    for names in executor.in_order(nothing, lambda _, notes: _names_in(trie, entries, notes), parts):
        add_rows(connection, "found_name", names)
    run_steps(connection, "groups", ["named"])
    return _meant(connection, entry, entries)
