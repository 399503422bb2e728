"""The names that mentions are found by: the release's own names of wanted types and the project's own terms."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import cast

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ehr.abbreviations import CUI, TERM_COLUMNS, Sense, Term, long_forms_of, read_terms
from ehr.characters import IntArray
from ehr.context_rules import load_rules
from ehr.matching import CASE_ANY, CASE_CAPITAL, CASE_UPPER, Trie, build_trie, mapped
from ehr.misspellings import SHORTEST
from ehr.spans import KINDS, Kind
from ground import ROOT
from ground.storage.files import atomic_directory
from ground.storage.own_rules import NO_RULES, OwnRules
from ground.storage.tables import read_table
from ground.storage.warehouse import run_sql

__all__ = ["ENGLISH_WORDS", "KINDS", "LEXICON_FILES", "Lexicon", "build_lexicon", "fact_tables"]

_DATA = ROOT / "ehr" / "data"
ENGLISH_WORDS = _DATA / "english_words.tsv"
_ARRAYS = ("kind", "ordinary", "term", "cui_begin", "cuis", "words")
_TRUSTED_LENGTH = 5
_LONGEST_WORD = 30
_BATCH = 100_000
"""Names that are split into tokens at a time."""
_CASES = {"any": CASE_ANY, "capital": CASE_CAPITAL, "upper": CASE_UPPER}
LEXICON_FILES = (
    "semantic_types",
    "name_stops",
    "english_words",
    "ordinary_limits",
    "name_variants",
    "abbreviations",
    "clinical_synonyms",
    "common_terms",
    "drug_terms",
    "ambiguous_words",
)


@dataclass(frozen=True)
class Lexicon:
    """A trie of names and what each of its entries means.

    ``kind`` is an index into ``KINDS``, or -1 where the entry is not a mention as it stands; ``ordinary`` tells that
    the name is an ordinary English word, which hardly means its concept; ``term`` is the number of the project's own
    term that decides by context (-1: none). The concepts of entry ``e``, best first, are
    ``cuis[cui_begin[e]:cui_begin[e + 1]]``; those of sense ``s`` of a term are ``sense_cuis[term][s]``. ``words`` are
    the long names of one word, which misspellings are compared with.
    """

    trie: Trie
    kind: npt.NDArray[np.int8]
    ordinary: npt.NDArray[np.bool_]
    term: IntArray
    cui_begin: npt.NDArray[np.int64]
    cuis: npt.NDArray[np.str_]
    terms: tuple[Term, ...]
    sense_cuis: tuple[tuple[tuple[str, ...], ...], ...]
    words: npt.NDArray[np.str_]

    def candidates(self, entries: IntArray) -> list[tuple[str, ...]]:
        """Return the candidate CUIs of each entry, best first."""
        begin = self.cui_begin[entries]
        count = self.cui_begin[entries + 1] - begin
        ends = np.cumsum(count)
        where = np.arange(ends[-1] if ends.size else 0) + np.repeat(begin - ends + count, count)
        cuis = self.cuis[where].tolist()
        return [tuple(cuis[end - n : end]) for n, end in zip(count.tolist(), ends.tolist(), strict=True)]

    def save(self, folder: Path) -> None:
        """Write the lexicon, so that other processes can map it."""
        with atomic_directory(folder) as temporary:
            self.trie.save(temporary)
            for name in _ARRAYS:
                np.save(temporary / f"lexicon_{name}.npy", getattr(self, name))
            (temporary / "senses.json").write_text(json.dumps(self.sense_cuis), encoding="utf-8")
            (temporary / "terms.pickle").write_bytes(pickle.dumps(self.terms))

    @classmethod
    def load(cls, folder: Path) -> Lexicon:
        """Map a saved lexicon."""
        arrays = {name: mapped(folder / f"lexicon_{name}.npy") for name in _ARRAYS}
        senses = json.loads((folder / "senses.json").read_text(encoding="utf-8"))
        sense_cuis = tuple(tuple(tuple(sense) for sense in term_senses) for term_senses in senses)
        terms = pickle.loads((folder / "terms.pickle").read_bytes())
        return cls(trie=Trie.load(folder), terms=terms, sense_cuis=sense_cuis, **arrays)


def build_lexicon(connection: duckdb.DuckDBPyConnection, own: OwnRules = NO_RULES) -> Lexicon:
    """Build the lexicon from ``kg.name``, ``kg.concept``, ``kg.edge``, the data tables of this package and own rules.

    Raises:
        InputError: a line of a table cannot be read, or the release has nothing that an own synonym means.
    """
    terms = read_terms(own)
    run_sql(connection, "ehr/concept_degree")
    names = _release_names(connection, own)
    targets = _targets(connection, terms)
    _require_targets(own, targets)
    connection.execute("drop table concept_degree")
    spelled = names.num_rows
    written = pa.chunked_array([*names.column("name").chunks, pa.array([term.text for term in terms], pa.string())])
    case = np.append(_release_cases(names.column("name")), np.array([_CASES[one.case] for one in terms], np.uint8))
    brand = np.append(names.column("is_brand").to_numpy(zero_copy_only=False), np.zeros(len(terms), dtype=np.bool_))
    trie, entry = build_trie(_in_batches(written), case)
    n_entries = int(entry.max()) + 1 if entry.size else 0
    kind, ordinary, cui_begin, cuis = _concepts(names, entry[:spelled], n_entries)
    # What a term of our own means is decided there.
    ordinary[entry[spelled:]] = False
    merged = _merge(terms, entry[spelled:])
    senses = {
        place: tuple(_sense_cuis(term, sense, targets, _slice(cuis, cui_begin, place)) for sense in term.senses)
        for place, term in merged.items()
    }
    plain = {place: found[0] for place, found in senses.items() if _is_plain(merged[place])}
    kind, cui_begin, cuis = _with_plain(kind, cui_begin, cuis, plain, merged)
    term_of = np.full(n_entries, -1, dtype=np.int32)
    contextual = [place for place in merged if place not in plain]
    term_of[contextual] = np.arange(len(contextual), dtype=np.int32)
    # Own terms decide the letters that they match.
    trie.case[np.isin(trie.entry, entry[spelled:])] = CASE_UPPER
    np.minimum.at(trie.case, _nodes(trie, entry[spelled:]), case[spelled:])
    return Lexicon(
        trie,
        kind,
        ordinary,
        term_of,
        cui_begin,
        cuis,
        tuple(merged[place] for place in contextual),
        tuple(senses[place] for place in contextual),
        _single_words(written, kind[entry], brand),
    )


def _in_batches(names: pa.ChunkedArray) -> Iterator[list[str]]:
    for begin in range(0, len(names), _BATCH):
        yield names.slice(begin, _BATCH).to_pylist()


def _merge(terms: Sequence[Term], entry: IntArray) -> dict[int, Term]:
    """Join terms that differ in case or number only: senses in the order of the tables."""
    merged: dict[int, Term] = {}
    for term, place in zip(terms, entry.tolist(), strict=True):
        if place in merged:
            known = merged[place]
            merged[place] = Term(known.text, known.case, tuple(dict.fromkeys((*known.senses, *term.senses))))
        else:
            merged[place] = term
    return merged


def _slice(cuis: npt.NDArray[np.str_], cui_begin: npt.NDArray[np.int64], place: int) -> list[str]:
    return [str(cui) for cui in cuis[cui_begin[place] : cui_begin[place + 1]]]


def _is_plain(term: Term) -> bool:
    """Tell whether a term means the same wherever it stands, as a name of the release does."""
    sense = term.senses[0]
    return not sense.conditions and not sense.denied and sense.kind != "test"


def _with_plain(
    kind: npt.NDArray[np.int8],
    cui_begin: npt.NDArray[np.int64],
    cuis: npt.NDArray[np.str_],
    plain: dict[int, tuple[str, ...]],
    merged: dict[int, Term],
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int64], npt.NDArray[np.str_]]:
    """Put the concepts of terms that mean the same everywhere in the place of the release's own."""
    kind = kind.copy()
    for place in plain:
        meant = merged[place].senses[0].kind
        kind[place] = -1 if meant == "none" else KINDS.index(meant)
    owner = np.repeat(np.arange(kind.size), np.diff(cui_begin))
    kept = ~np.isin(owner, list(plain))
    owners = np.concatenate([owner[kept], np.array([p for p, found in plain.items() for _ in found], dtype=np.int64)])
    values = np.concatenate(
        [cuis[kept], np.array([cui for found in plain.values() for cui in found], dtype=cuis.dtype)]
    )
    order = np.argsort(owners, kind="stable")
    return kind, np.searchsorted(owners[order], np.arange(kind.size + 1)).astype(np.int64), values[order]


def _single_words(
    written: pa.ChunkedArray, kind: npt.NDArray[np.int8], brand: npt.NDArray[np.bool_]
) -> npt.NDArray[np.str_]:
    """Return the names of one word that misspellings are compared with; brands are too often near to English words."""
    length = pc.utf8_length(written).to_numpy()
    letters = pc.and_(pc.utf8_is_alpha(written), pc.string_is_ascii(written)).to_numpy(zero_copy_only=False)
    wanted = (kind >= 0) & ~brand & letters & (length >= SHORTEST) & (length <= _LONGEST_WORD)
    words = {name.lower() for name in written.filter(pa.array(wanted)).to_pylist()}
    return np.array(sorted(words), dtype=np.str_) if words else np.zeros(0, dtype="U1")


def _nodes(trie: Trie, entries: IntArray) -> IntArray:
    ends = np.flatnonzero(trie.entry >= 0).astype(np.int32)
    return ends[entries]


def _require_targets(own: OwnRules, targets: dict[str, tuple[str, ...]]) -> None:
    """Refuse own synonyms of what the release does not have: they would mark words, and mean nothing."""
    for row in own.rows("clinical_synonyms", TERM_COLUMNS):
        names = long_forms_of(row)
        unknown = [name for name in names if name not in targets]
        if any(map(CUI.fullmatch, unknown)) or (row["kind"] != "none" and "=" not in names and unknown == [*names]):
            expected = "CUIs or names of concepts that the loaded release has"
            raise row.refused("the release does not have what a synonym means", ", ".join(unknown), expected)


@cache
def fact_tables(own: OwnRules = NO_RULES) -> dict[str, pa.Table]:
    """Return the tables that choose among names, as text; ``trigger_phrase`` are the words of the assertion rules.

    Raises:
        InputError: a line of a table cannot be read.
    """
    tables = {"trigger_phrase": pa.table({"phrase": pa.array(load_rules(own).phrases(), pa.string())})}
    for table, columns in (
        ("semantic_type", ("tui", "type", "kind", "priority", "condition", "source")),
        ("name_stop", ("name", "reason", "source")),
        ("english_word", ("word", "use", "zipf", "source")),
        ("ordinary_limit", ("kind", "noun", "other", "source")),
        ("name_variant", ("phrase", "variant", "source")),
        ("lasting_name", ("name", "lasts", "source")),
    ):
        rows = [*own.rows(f"{table}s", columns), *read_table(_DATA / f"{table}s.tsv", columns)]
        tables[table] = pa.table({column: pa.array([row[column] for row in rows], pa.string()) for column in columns})
    return tables


def _set_table(connection: duckdb.DuckDBPyConnection, name: str, lines: pa.Table) -> None:
    connection.register("lexicon_lines", lines)
    connection.execute(f"create or replace temp table {name} as select * from lexicon_lines")
    connection.unregister("lexicon_lines")


def _release_names(connection: duckdb.DuckDBPyConnection, own: OwnRules = NO_RULES) -> pa.Table:
    for name, lines in fact_tables(own).items():
        _set_table(connection, name, lines)
    run_sql(connection, "ehr/mention_name")
    table = connection.sql("select * from mention_name order by cui, name").to_arrow_table()
    connection.execute("drop table mention_name")
    return table


def _normalized(name: str) -> str:
    return " ".join("".join(letter if letter.isalnum() else " " for letter in name.lower()).split())


def _targets(connection: duckdb.DuckDBPyConnection, terms: Sequence[Term]) -> dict[str, tuple[str, ...]]:
    """Return the concepts of each long form that the terms name, best first; ``mention_target`` has the lasting too."""
    named = {name for term in terms for sense in term.senses for name in sense.names if name not in {"", "="}}
    lasting = connection.execute("select name from lasting_name").fetchall()
    wanted = sorted(named | {str(name) for (name,) in lasting})
    lines = pa.table(
        {
            "name": pa.array(wanted, pa.string()),
            "normalized": pa.array([_normalized(name) for name in wanted], pa.string()),
        }
    )
    _set_table(connection, "long_form", lines)
    run_sql(connection, "ehr/mention_target")
    found: dict[str, list[str]] = {}
    for name, cui in connection.execute("select name, cui from mention_target order by name, position").fetchall():
        found.setdefault(name, []).append(cui)
    return {name: tuple(cuis) for name, cuis in found.items()}


def _sense_cuis(term: Term, sense: Sense, targets: dict[str, tuple[str, ...]], own: Sequence[str]) -> tuple[str, ...]:
    """Return the concepts of a sense: those of the word itself where it is a name of the release, else its long form.

    A short form or an acronym that happens to be a name of the release is not trusted: its long form comes first.
    """
    if sense.kind == "none":
        return ()
    if sense.long_form_first:
        return tuple(dict.fromkeys(cui for name in sense.names for cui in targets.get(name, ())))
    is_word = term.case == "any" and len(term.text) >= _TRUSTED_LENGTH and term.text.upper() != term.text
    if own and is_word:
        return tuple(own)
    return next((targets[name] for name in sense.names if name in targets), tuple(own))


def _release_cases(names: pa.ChunkedArray) -> npt.NDArray[np.uint8]:
    """A name of one short word in capitals is an abbreviation: its letters must be capitals in a note as well."""
    case = np.full(len(names), CASE_ANY, dtype=np.uint8)
    short = np.flatnonzero(pc.utf8_length(names).to_numpy() <= 6)
    case[short] = [
        CASE_UPPER if len(name) <= 3 or (name.isupper() and name.isalpha()) else CASE_ANY
        for name in names.take(pa.array(short)).to_pylist()
    ]
    return case


def _concepts(
    names: pa.Table, entry: IntArray, n_entries: int
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.bool_], npt.NDArray[np.int64], npt.NDArray[np.str_]]:
    """Return the kind of each entry, whether it is an ordinary word, and its distinct concepts, best first.

    First comes the concept whose preferred name it is, then the one with more sources, rank, degree; it has the kind.
    """
    values, cui = _numbered(names.column("cui"))
    kind_names, of_kind = _numbered(names.column("kind"))
    kind = np.array([KINDS.index(cast(Kind, value)) for value in kind_names] or [0], dtype=np.int8)[of_kind]
    order = np.lexsort(
        (
            cui,
            -names.column("degree").to_numpy().astype(np.int64),
            -names.column("rank").to_numpy().astype(np.int64),
            -names.column("n_sources").to_numpy().astype(np.int64),
            ~names.column("is_preferred").to_numpy(zero_copy_only=False),
            entry,
        )
    )
    order = order[entry[order] >= 0]
    _, first = np.unique(entry[order].astype(np.int64) * len(values) + cui[order], return_index=True)
    order = order[np.sort(first)]
    ends = entry[order]
    begin = np.searchsorted(ends, np.arange(n_entries + 1)).astype(np.int64)
    kinds = np.full(n_entries, -1, dtype=np.int8)
    has_any = begin[1:] > begin[:-1]
    best = order[begin[:-1][has_any]]
    kinds[has_any] = kind[best]
    ordinary = np.zeros(n_entries, dtype=np.bool_)
    ordinary[has_any] = names.column("is_ordinary").to_numpy(zero_copy_only=False)[best]
    return (
        kinds,
        ordinary,
        begin,
        np.array(values, dtype=np.str_)[cui[order]] if order.size else np.zeros(0, dtype="U8"),
    )


def _numbered(column: pa.ChunkedArray) -> tuple[list[str], npt.NDArray[np.int64]]:
    """Return the distinct values in their order, and the place of each value among them."""
    encoded = column.combine_chunks().dictionary_encode()
    values: list[str] = encoded.dictionary.to_pylist()
    order = sorted(range(len(values)), key=values.__getitem__)
    place = np.empty(len(values), dtype=np.int64)
    place[order] = np.arange(len(values))
    return [values[index] for index in order], place[encoded.indices.to_numpy()]
