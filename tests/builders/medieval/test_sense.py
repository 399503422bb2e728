"""What makes a statement sensible: names, kinds that are contested, uses that are tied, replacements that are alike."""

from __future__ import annotations

import duckdb
import numpy as np
import pytest

from builders.medieval.groups import ALIKE, BANDS, _Traits
from builders.medieval.kernels import choose
from builders.medieval.pool import Candidates
from ground.compiled import read_only
from ground.storage.sqlfiles import sql_text

FAILURE, LUNG, RESPIRATORY = "C01", "C02", "C03"


@pytest.fixture
def connection() -> duckdb.DuckDBPyConnection:
    made = duckdb.connect()
    made.execute("create schema kg")
    made.execute("create schema ground")
    made.execute("set variable seed = 1")
    return made


def contested(connection: duckdb.DuckDBPyConnection, edges: list[tuple[str, str, str]]) -> set[tuple[str, str]]:
    connection.execute("create table kg.edge (head_cui varchar, predicate varchar, tail_cui varchar, sab varchar)")
    connection.executemany("insert into kg.edge values (?, 'is_a', ?, ?)", edges)
    connection.execute(f"create temp table kind_pair as select '{FAILURE}' as head_cui, '{LUNG}' as tail_cui")
    connection.execute(sql_text("builders/medieval/truth/contested"))
    return set(connection.execute("select * from contested").fetchall())


ALONE = [(FAILURE, LUNG, "DO"), (LUNG, RESPIRATORY, "DO")]
ELSEWHERE = [(FAILURE, RESPIRATORY, "SNOMEDCT_US"), (LUNG, RESPIRATORY, "SNOMEDCT_US")]


@pytest.mark.parametrize(
    ("edges", "is_contested"),
    [
        (ALONE, False),
        (ALONE + ELSEWHERE, True),
        ([*ALONE, *ELSEWHERE, (FAILURE, LUNG, "NCI")], False),
        ([*ALONE, (FAILURE, RESPIRATORY, "NCI")], False),
        ([*ALONE, *((head, tail, "CCS") for head, tail, _ in ELSEWHERE)], False),
    ],
    ids=["alone", "placed elsewhere", "two say so", "the other has one of them", "a classification"],
)
def test_a_kind_of_one_vocabulary_is_contested_by_another_that_knows_both(
    connection: duckdb.DuckDBPyConnection, edges: list[tuple[str, str, str]], is_contested: bool
) -> None:
    assert contested(connection, edges) == ({(FAILURE, LUNG)} if is_contested else set())


NAMED = [
    ("C01", "duodenal ulcer", "DO", "PT", True, 182),
    ("C01", "Stress Ulcer", "DO", "SY", False, 181),
    ("C02", "familial hyperlipidemia", "DO", "PT", True, 182),
    ("C02", "Hyperlipidemia", "REPODB", "PT", False, 138),
    ("C03", "Digestive System Disorders", "MSH", "MH", True, 190),
    ("C03", "digestive system disorder", "DO", "SY", False, 181),
    ("C04", "diabetes", "DO", "PT", True, 182),
    ("C05", "beta blocking agents", "USPMG", "HC", True, 151),
    ("C06", "eye disorder one", "DO", "PT", True, 182),
    ("C07", "eye disorder two", "DO", "PT", True, 182),
    ("C08", "eye disorder three", "DO", "PT", True, 182),
]


def test_a_concept_has_a_preferred_name_in_the_singular(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute(
        "create table kg.name as select *, lower(name) as normalized from (select unnest($rows) as r) "
        "cross join lateral (select r.cui, r.name, r.sab, r.tty, r.is_preferred, r.rank)",
        {"rows": [dict(zip(("cui", "name", "sab", "tty", "is_preferred", "rank"), row, strict=True)) for row in NAMED]},
    )
    connection.execute(
        "create table kg.concept as select cui, name, if(cui = 'C05', ['CHEM'], ['DISO']) as groups "
        "from kg.name where is_preferred"
    )
    connection.execute("create temp table admission as select 1 as number, 'n' as note_id")
    connection.execute(
        "create table ground.mention as select 'n' as note_id, * from (values "
        "('stress ulcer', ['C01']), ('hyperlipidemia', ['C02']), ('diabetes', ['C04'])) as said (text, cuis)"
    )
    connection.execute(sql_text("builders/medieval/support/macros"))
    connection.execute(sql_text("builders/medieval/support/statement_name"))
    found = {cui: (name, one) for cui, name, one in connection.execute("select * from statement_name").fetchall()}
    assert {cui: found[cui] for cui in ("C01", "C02", "C03", "C04", "C05")} == {
        "C01": ("duodenal ulcer", "duodenal ulcer"),
        "C02": ("hyperlipidemia", "hyperlipidemia"),
        "C03": ("digestive system disorder", "digestive system disorder"),
        "C04": ("diabetes", "diabetes"),
        "C05": ("beta blocking agents", "beta blocking agent"),
    }


def test_what_is_alike_is_drawn_more_often() -> None:
    traits = _Traits(
        kind=np.array([0, 0, 1, 0], np.int32),
        regions=np.array([1, 1, 2, 0], np.int64),
        band=np.array([3, 3, 0, 2], np.int8),
        name_no=np.arange(4, dtype=np.int32),
    )
    original, wanted = np.zeros(3, np.int32), np.full(3, 1, np.int64)
    preference = traits.preference(original, wanted, np.array([1, 2, 3], np.int32))
    assert preference.tolist() == [2 * ALIKE + 1 + BANDS, 0, ALIKE + BANDS - 1]


def test_no_name_is_said_twice_of_one_kept_end() -> None:
    """Concepts 1 and 2 have one name: of two groups that keep concept 0 one takes it, or none if a first one has it."""
    candidates = Candidates(
        group_begin=np.array([0, 2], np.int64),
        kept=np.zeros(2, np.int32),
        original=np.array([4, 4], np.int32),
        precedence=np.array([0.1, 0.2]),
        begin=np.array([0, 0, 1, 1, 1, 3, 3], np.int64),
        code=np.array([1, 2, 3], np.int32),
        preference=np.zeros(3, np.uint8),
        draw=np.array([1.0, 1.0, 2.0]),
    )
    name_no = np.array([0, 1, 1, 2, 3], np.int32)
    for original, chosen in (([4, 4], [1, 3]), ([2, 4], [-1, 3])):
        choice = np.full((2, 3), -1, np.int32)
        # Compiled once more for arrays that can be written.
        given = candidates._replace(original=np.array(original, np.int32))._asdict()
        choose(Candidates(*map(read_only, given.values())), np.ones(5), name_no, 1, choice)
        assert choice[:, 1].tolist() == chosen
