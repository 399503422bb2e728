"""The names that mentions are found by: the release's own names of wanted types and the project's own terms.

They are built once for a release and own rules, kept in the workspace, and mapped by all that read.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, cast

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import TypeAdapter

from ehr.abbreviations import CUI, TERM_COLUMNS, Sense, Term, long_forms_of, read_terms
from ehr.characters import IntArray
from ehr.context_rules import ContextArrays, Rules, Vocabulary, context_arrays, load_rules
from ehr.context_rules import Trie as ContextTrie
from ehr.matching import CASE_ANY, CASE_CAPITAL, CASE_UPPER, Trie, build_trie, mapped, save_arrays
from ehr.misspellings import SHORTEST, Speller
from ehr.spans import KINDS, REASONS, Kind, Reason
from ground import ROOT
from ground.errors import InputError
from ground.flow.fingerprints import code_digest, fingerprint, stage_fingerprint
from ground.storage.files import atomic_directory, sweep_below
from ground.storage.own_rules import NO_RULES, OwnRules
from ground.storage.sqlfiles import sql_text
from ground.storage.tables import read_table
from ground.storage.warehouse import run_sql, set_table, table_exists

__all__ = ["FOLDER", "KINDS", "Lexicon", "build_lexicon", "fact_tables", "open_lexicon"]

FOLDER = Path("cache", "lexicon")
"""Beside the warehouse: a folder for what it was built from; others are removed when one is written."""
_RULES = ("clinical_synonyms", "context_rules", "name_stops", "sections")
_DATA = ROOT / "ehr" / "data"
_ARRAYS = ("kind", "reason", "denied", "best", "candidates", "term")
_TERMS = TypeAdapter(tuple[tuple[Term, ...], tuple[tuple[int, ...], ...], dict[str, int], dict[str, int]])
_NO_LETTERS = re.compile(r"[\W_]+")
_NONE = -1
_CUIS = 10_000_000
"""Numbers that CUIs may have."""
_TRUSTED_LENGTH = 5
_LONGEST_WORD = 30
_BATCH = 100_000
"""Names that are split into tokens at a time."""
_CASES = {"any": CASE_ANY, "capital": CASE_CAPITAL, "upper": CASE_UPPER}


@dataclass(frozen=True)
class Lexicon:
    """A trie of names and what each of its entries means.

    ``kind`` is an index into ``KINDS``, or -1 where the entry is not a mention as it stands; ``reason`` (an index into
    ``REASONS``) says why it is unclear wherever it stands, ``denied`` that the name itself says that there is none of
    it (afebrile); ``concepts`` are its candidate CUIs, best first, ``best`` numbers the first one (-1: none) and
    ``candidates`` counts them.
    ``term`` is the number of the project's own term that decides by context (-1: none); what it means in each of its
    senses, and last where none holds, are the entries ``senses[term]``, which no name ends at. ``speller`` knows the
    long names of one word. ``rules`` of assertion are the user's own and the package's, ``package`` those alone.
    ``lasting`` (cui, lasts) are the illnesses that last or end by name.
    ``folder`` is where the lexicon is mapped from.
    """

    trie: Trie
    kind: npt.NDArray[np.int8]
    reason: npt.NDArray[np.int8]
    denied: npt.NDArray[np.bool_]
    best: IntArray
    candidates: IntArray
    term: IntArray
    concepts: pa.ListArray
    terms: tuple[Term, ...]
    senses: tuple[tuple[int, ...], ...]
    speller: Speller
    rules: ContextArrays
    package: ContextArrays
    lasting: pa.Table
    folder: Path | None = None

    def save(self, folder: Path) -> None:
        """Write the lexicon, so that other processes can map it."""
        with atomic_directory(folder) as temporary:
            save_arrays(temporary, "trie", self.trie._asdict())
            save_arrays(temporary, "speller", self.speller.arrays)
            for of, rules in (("rules", self.rules), ("package", self.package)):
                for part in (rules.vocabulary, rules.trie, rules.rules):
                    save_arrays(temporary, of, part._asdict())
            save_arrays(temporary, "lexicon", {name: getattr(self, name) for name in _ARRAYS})
            _write_arrow(temporary / "concepts.arrow", pa.table({"concepts": self.concepts}))
            _write_arrow(temporary / "lasting.arrow", self.lasting)
            (temporary / "terms.json").write_bytes(
                _TERMS.dump_json((self.terms, self.senses, self.rules.sections, self.package.sections))
            )

    @classmethod
    def load(cls, folder: Path) -> Lexicon:
        """Map a saved lexicon."""
        concepts = _mapped_arrow(folder / "concepts.arrow").column(0)
        terms, senses, sections, of_package = _TERMS.validate_json((folder / "terms.json").read_bytes())
        arrays = dict(zip(_ARRAYS, mapped(folder, "lexicon", _ARRAYS), strict=True))
        return cls(
            trie=Trie(*mapped(folder, "trie", Trie._fields)),
            concepts=concepts.chunk(0) if concepts.num_chunks else pa.array([], concepts.type),
            terms=terms,
            senses=senses,
            speller=Speller(*mapped(folder, "speller", ("words", "hashes", "owners"))),
            rules=_mapped_rules(folder, "rules", sections),
            package=_mapped_rules(folder, "package", of_package),
            lasting=_mapped_arrow(folder / "lasting.arrow"),
            folder=folder,
            **arrays,
        )


def _mapped_rules(folder: Path, of: str, sections: dict[str, int]) -> ContextArrays:
    parts: list[Any] = [kind(*mapped(folder, of, kind._fields)) for kind in (Vocabulary, ContextTrie, Rules)]
    return ContextArrays(parts[0], parts[1], parts[2], sections)


def _write_arrow(file: Path, table: pa.Table) -> None:
    with pa.ipc.new_file(str(file), table.schema) as written:
        written.write_table(table)


def _mapped_arrow(file: Path) -> pa.Table:
    return pa.ipc.open_file(pa.memory_map(str(file))).read_all()


def open_lexicon(connection: duckdb.DuckDBPyConnection, own: OwnRules = NO_RULES) -> Lexicon:
    """Map the lexicon that is kept beside the warehouse, or build it and keep it where that can be written.

    Args:
        connection: the warehouse, which may be opened read-only.
        own: the user's own rules.

    Raises:
        InputError: the concept graph with its names is not built, or an own rule or a table cannot be read.
    """
    if not table_exists(connection, "kg.name"):
        raise InputError(
            "the release's names are not in the warehouse", expected="kg.name", do="run `ontoground graph build`"
        )
    folder = _folder(connection, own)
    if folder is not None:
        # It is not there, another process is removing it, or it was damaged from outside.
        with suppress(OSError, ValueError, KeyError, EOFError):
            return Lexicon.load(folder)
    lexicon = build_lexicon(connection, own)
    if folder is not None:
        # A workspace that cannot be written to, or a full disk: the next process builds it again.
        with suppress(OSError):
            lexicon.save(folder)
            sweep_below(folder.parent)
            for other in folder.parent.glob("[!.]*"):
                if other != folder:
                    shutil.rmtree(other, ignore_errors=True)
            return Lexicon.load(folder)
    return lexicon


def _folder(connection: duckdb.DuckDBPyConnection, own: OwnRules) -> Path | None:
    """Return where the lexicon of this release is kept; None: of a warehouse in memory, or one that has no graph."""
    query = "select path from duckdb_databases() where database_name = current_database()"
    (place,) = connection.execute(query).fetchone() or (None,)
    graph = stage_fingerprint(connection, "graph") if place else ""
    if not graph:
        return None
    rules = {file["file"]: file["sha256"] for file in own.only(*_RULES).inputs()}
    code = code_digest(("ehr", "sql/ehr"))
    return Path(place).parent / FOLDER / fingerprint({"graph": graph, "code": code, "rules": rules})


def build_lexicon(connection: duckdb.DuckDBPyConnection, own: OwnRules = NO_RULES) -> Lexicon:
    """Build the lexicon from ``kg.name``, ``kg.concept``, ``kg.edge``, the data tables of this package and own rules.

    Raises:
        InputError: a line of a table cannot be read, or the release has nothing that an own synonym means.
    """
    terms = read_terms(own)
    run_sql(connection, "ehr/concept_degree")
    names = _release_names(connection, own)
    targets = _targets(connection, terms)
    lasting = connection.sql(sql_text("ehr/lasting_target")).to_arrow_table()
    _require_targets(own, targets)
    connection.execute("drop table concept_degree")
    spelled = names.num_rows
    further = [*(term.text for term in terms), *(stops := _own_stops(own))]
    written = pa.chunked_array([*names.column("name").chunks, pa.array(further, pa.string())])
    own_case = [*(_CASES[term.case] for term in terms), *(CASE_UPPER for _ in stops)]
    case = np.append(_release_cases(names.column("name")), np.array(own_case, np.uint8))
    brand = np.append(names.column("is_brand").to_numpy(zero_copy_only=False), np.zeros(len(further), dtype=np.bool_))
    trie, entry = build_trie(_in_batches(written), case)
    stopped, of_terms = entry[spelled + len(terms) :], entry[spelled : spelled + len(terms)]
    n_entries = int(entry.max()) + 1 if entry.size else 0
    concepts = _concepts(names, entry[:spelled], n_entries)
    merged = _merge(terms, of_terms)
    of_release = concepts.lists().take(pa.array(list(merged), pa.int64())).to_pylist()
    meanings = {
        place: _meanings(merged[place], targets, tuple(cuis)) for place, cuis in zip(merged, of_release, strict=True)
    }
    contextual = [place for place in merged if not _is_unconditional(merged[place])]
    # Own terms decide their meaning; one that does not depend on the context replaces that of the release.
    concepts.reason[of_terms] = 0
    unconditional = {place: meanings[place][0] for place in merged.keys() - contextual}
    senses = [meaning for place in contextual for meaning in meanings[place]]
    counts = [len(meanings[place]) for place in contextual]
    ends = (n_entries + np.cumsum(counts)).tolist()
    concepts = concepts.with_meanings(unconditional | dict(enumerate(senses, n_entries)))
    term_of = np.full(n_entries, -1, dtype=np.int32)
    term_of[contextual] = np.arange(len(contextual), dtype=np.int32)
    concepts.kind[stopped] = term_of[stopped] = _NONE
    # Own terms decide in which case they match.
    trie.case[np.isin(trie.entry, of_terms)] = CASE_UPPER
    np.minimum.at(trie.case, np.flatnonzero(trie.entry >= 0)[of_terms], case[spelled : spelled + len(terms)])
    return Lexicon(
        trie=trie,
        kind=concepts.kind,
        reason=concepts.reason,
        denied=concepts.denied,
        best=concepts.best(),
        candidates=np.diff(concepts.begin),
        term=term_of,
        concepts=concepts.lists(),
        terms=tuple(merged[place] for place in contextual),
        senses=tuple(tuple(range(end - n, end)) for n, end in zip(counts, ends, strict=True)),
        speller=Speller.of(_single_words(written, concepts.kind[entry], brand)),
        rules=context_arrays(own.only("context_rules", "sections")),
        package=context_arrays(),
        lasting=lasting,
    )


def _own_stops(own: OwnRules) -> list[str]:
    """Return the names that a user stops, in whatever form, unless an own synonym gives them a meaning."""
    meant = {
        spelling.lower() for row in own.rows("clinical_synonyms", TERM_COLUMNS) for spelling in row["term"].split("|")
    }
    names = [row["name"] for row in own.rows("name_stops", ("name", "reason", "source"))]
    return [name for name in names if name.lower() not in meant and any(map(str.isalnum, name))]


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


class _Meaning(NamedTuple):
    """What a name means; ``kind`` -1: no mention."""

    kind: int
    cuis: tuple[str, ...]
    reason: Reason = ""
    denied: bool = False


@dataclass(frozen=True)
class _Entries:
    """What the entries of a trie mean; entry ``e`` has the concepts ``number[begin[e]:begin[e + 1]]`` of ``cuis``."""

    kind: npt.NDArray[np.int8]
    reason: npt.NDArray[np.int8]
    denied: npt.NDArray[np.bool_]
    begin: IntArray
    number: IntArray
    cuis: pa.StringArray

    def with_meanings(self, meanings: dict[int, _Meaning]) -> _Entries:
        """Return the entries with other meanings for some of them, and for new ones that follow them."""
        places = np.fromiter(meanings, dtype=np.int64)
        size = max(self.kind.size, int(places.max(initial=-1)) + 1)
        kind, reason, denied = (
            np.append(column, np.zeros(size - column.size, dtype=column.dtype))
            for column in (self.kind, self.reason, self.denied)
        )
        kind[places] = [meaning.kind for meaning in meanings.values()]
        reason[places] = [REASONS.index(meaning.reason) for meaning in meanings.values()]
        denied[places] = [meaning.denied for meaning in meanings.values()]
        owner = np.repeat(np.arange(self.kind.size), np.diff(self.begin))
        kept = ~np.isin(owner, places)
        given = pa.array([cui for meaning in meanings.values() for cui in meaning.cuis], pa.string())
        cuis = pa.concat_arrays([self.cuis, given.filter(pc.invert(pc.is_in(given, value_set=self.cuis))).unique()])
        owners = np.append(owner[kept], np.repeat(places, [len(meaning.cuis) for meaning in meanings.values()]))
        order = np.argsort(owners, kind="stable")
        number = np.append(self.number[kept], pc.index_in(given, value_set=cuis).to_numpy())[order]
        begin = np.searchsorted(owners[order], np.arange(size + 1)).astype(np.int32)
        return _Entries(kind, reason, denied, begin, number, cuis)

    def lists(self) -> pa.ListArray:
        """Return the concepts of each entry."""
        return pa.ListArray.from_arrays(pa.array(self.begin), self.cuis.take(pa.array(self.number)))

    def best(self) -> IntArray:
        """Return the number of the first concept of each entry, -1 where it has none.

        It is that of the CUI, which is the same in every release; other identifiers have numbers beyond.
        """
        is_cui = pc.match_substring_regex(self.cuis, f"^{CUI.pattern}$")
        numbers = np.arange(_CUIS, _CUIS + len(self.cuis), dtype=np.int32)
        digits = pc.utf8_slice_codeunits(self.cuis.filter(is_cui), 1)
        numbers[is_cui.to_numpy(zero_copy_only=False)] = digits.cast(pa.int32()).to_numpy()
        has_any = self.begin[1:] > self.begin[:-1]
        best = np.full(self.kind.size, -1, dtype=np.int32)
        best[has_any] = numbers[self.number[self.begin[:-1][has_any]]]
        return best


def _meanings(term: Term, targets: dict[str, tuple[str, ...]], own: tuple[str, ...]) -> list[_Meaning]:
    """Return what a term means in each of its senses, and where none holds.

    It is ambiguous if no sense holds, or if the release has names for other senses but not for the one that holds.
    """
    cuis = [_sense_cuis(term, sense, targets, own) for sense in term.senses]
    numbers = {"none": _NONE, "test": KINDS.index("procedure")}
    kinds = [numbers[each.kind] if each.kind in numbers else KINDS.index(cast(Kind, each.kind)) for each in term.senses]
    first = next((kind for kind in kinds if kind != _NONE), _NONE)
    unclear = _Meaning(first, tuple(dict.fromkeys(cui for of_sense in cuis for cui in of_sense)), "ambiguous")
    alternatives = [
        unclear
        if kind != _NONE and not meant and any(cuis) and not _is_unconditional(term)
        else _Meaning(
            kind, meant, "routine_test" if sense.kind == "test" else "", sense.denied and sense.kind != "test"
        )
        for kind, meant, sense in zip(kinds, cuis, term.senses, strict=True)
    ]
    return [*alternatives, unclear]


def _is_unconditional(term: Term) -> bool:
    """Tell whether a term means the same wherever it stands, as a name of the release does."""
    sense = term.senses[0]
    return not sense.conditions and not sense.denied and sense.kind != "test"


def _single_words(written: pa.ChunkedArray, kind: npt.NDArray[np.int8], brand: npt.NDArray[np.bool_]) -> set[str]:
    """Return the names of one word that misspellings are compared with; brands are too often near to English words."""
    length = pc.utf8_length(written).to_numpy()
    letters = pc.and_(pc.utf8_is_alpha(written), pc.string_is_ascii(written)).to_numpy(zero_copy_only=False)
    wanted = (kind >= 0) & ~brand & letters & (length >= SHORTEST) & (length <= _LONGEST_WORD)
    return {name.lower() for name in written.filter(pa.array(wanted)).to_pylist()}


def _require_targets(own: OwnRules, targets: dict[str, tuple[str, ...]]) -> None:
    """Refuse own synonyms of concepts that the release lacks: they would mark words without a meaning."""
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
    tables = {
        "trigger_phrase": pa.table(
            {"phrase": pa.array(map(" ".join, load_rules(own.only("context_rules", "sections"))), pa.string())}
        )
    }
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


def _release_names(connection: duckdb.DuckDBPyConnection, own: OwnRules = NO_RULES) -> pa.Table:
    for name, lines in fact_tables(own).items():
        set_table(connection, name, lines)
    run_sql(connection, "ehr/mention_name")
    table = connection.sql("select * from mention_name order by cui, name").to_arrow_table()
    connection.execute("drop table mention_name")
    return table


def _normalized(name: str) -> str:
    return _NO_LETTERS.sub(" ", name.lower()).strip()


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
    set_table(connection, "long_form", lines)
    run_sql(connection, "ehr/mention_target")
    targets: dict[str, list[str]] = {}
    for name, cui in connection.execute("select name, cui from mention_target order by name, position").fetchall():
        targets.setdefault(name, []).append(cui)
    return {name: tuple(cuis) for name, cuis in targets.items()}


def _sense_cuis(term: Term, sense: Sense, targets: dict[str, tuple[str, ...]], own: tuple[str, ...]) -> tuple[str, ...]:
    """Return the concepts of a sense: those of the word itself where it is a name of the release, else its long form.

    A short form or an acronym that happens to be a name of the release is not trusted: its long form comes first.
    """
    if sense.kind == "none":
        return ()
    if sense.long_form_first:
        return tuple(dict.fromkeys(cui for name in sense.names for cui in targets.get(name, ())))
    is_word = term.case == "any" and len(term.text) >= _TRUSTED_LENGTH and term.text.upper() != term.text
    if own and is_word:
        return own
    return next((targets[name] for name in sense.names if name in targets), own)


def _release_cases(names: pa.ChunkedArray) -> npt.NDArray[np.uint8]:
    """A name of one short word in capitals is an abbreviation: its letters must be capitals in a note as well."""
    case = np.full(len(names), CASE_ANY, dtype=np.uint8)
    short = np.flatnonzero(pc.utf8_length(names).to_numpy() <= 6)
    case[short] = [
        CASE_UPPER if len(name) <= 3 or (name.isupper() and name.isalpha()) else CASE_ANY
        for name in names.take(pa.array(short)).to_pylist()
    ]
    return case


def _concepts(names: pa.Table, entry: IntArray, n_entries: int) -> _Entries:
    """Return what the release says of each entry: its kind, whether it is an ordinary word, its concepts, best first.

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
    begin = np.searchsorted(ends, np.arange(n_entries + 1)).astype(np.int32)
    kinds = np.full(n_entries, _NONE, dtype=np.int8)
    has_any = begin[1:] > begin[:-1]
    best = order[begin[:-1][has_any]]
    kinds[has_any] = kind[best]
    reason = np.zeros(n_entries, dtype=np.int8)
    reason[has_any] = names.column("is_ordinary").to_numpy(zero_copy_only=False)[best] * REASONS.index("ordinary_word")
    number = cui[order].astype(np.int32)
    return _Entries(kinds, reason, np.zeros(n_entries, dtype=np.bool_), begin, number, pa.array(values, pa.string()))


def _numbered(column: pa.ChunkedArray) -> tuple[list[str], npt.NDArray[np.int64]]:
    """Return the distinct values in their order, and the place of each value among them."""
    encoded = column.combine_chunks().dictionary_encode()
    values: list[str] = encoded.dictionary.to_pylist()
    order = sorted(range(len(values)), key=values.__getitem__)
    place = np.empty(len(values), dtype=np.int64)
    place[order] = np.arange(len(values))
    return [values[index] for index in order], place[encoded.indices.to_numpy()]
