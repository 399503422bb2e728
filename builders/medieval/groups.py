"""Groups of four: candidates for Q2, Q3 and Q4 of each fact, checked, one of each drawn so that names tell nothing.

What is true or false of a pair does not depend on the admission, so it is asked once for all: a first pass over the
admissions marks the pairs that some group asks about, SQL and the graph judge them, and further passes read the
answers. Admissions are arrays throughout (builders/medieval/kernels.py), read a shard at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from builders.medieval import kernels
from builders.medieval.balance import draw_statements
from builders.medieval.bare_text import find_names
from builders.medieval.coding import SHARD_SIZE, read_shard, read_terms
from builders.medieval.digests import Texts, hashes_of, units_of
from builders.medieval.facts import cuis, run_steps, set_table, statement_predicates
from builders.medieval.hierarchy import Hierarchy
from builders.medieval.pool import Candidates, Pool
from builders.medieval.records import lifted_pairs, linked_pairs
from ground.settings import BuildSettings
from ground.storage.sqlfiles import sql_text
from ground.storage.warehouse import arrow_of
from kg.graph import ConceptGraph

__all__ = ["make_groups"]

BUCKET_SIZE = 256
"""Distractors that one group looks at, about."""

ALIKE = 4
"""How often the chance of a candidate is doubled for the same semantic types, and for a common broad area."""

REGIONS = 62
"""Broad areas of medicine that are looked at (sql/builders/medieval/groups/trait.sql)."""

BANDS = 3
"""Powers of two of admissions from which on two concepts are not as common as one another at all."""

WEIGHT_FLOOR = 0.02
"""Weight of a concept that no supported statement has, against 1 for one that a single fact has."""

TIERS = ("stated", "equivalent", "inherited", "plausible")

TYING = (
    "causes",
    "manifestation_of",
    "sign_or_symptom_of",
    "defining_characteristic_of",
    "associated_with",
    "co-occurs_with",
)
"""Predicates between a disorder and its causes, complications and symptoms."""

AT_ONCE = 1 << 24
"""Replacements that are looked through at once."""

Bytes = npt.NDArray[np.uint8]
Replacements = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]


@dataclass(frozen=True)
class _Traits:
    """What makes a replacement like what it replaces (docs/definitions.md#alike). Shapes: (concepts,)

    Attributes:
        kind: a number for the same semantic types.
        regions: broad areas, a bit each.
        band: power of two of the admissions that attest a concept.
        called: a number for the same name.
    """

    kind: npt.NDArray[np.int32]
    regions: npt.NDArray[np.int64]
    band: npt.NDArray[np.int8]
    called: npt.NDArray[np.int32]

    def wanted(self, terms: kernels.Terms) -> npt.NDArray[np.int64]:
        """Return the areas that a replacement in each frame may lie in without being false by its area alone.

        These are the areas of what facts of the place have beside an end of an area of the kept end.

        Shape: (frames,)
        """
        own, kept = self.regions[terms.original], self.regions[terms.kept]
        wanted = np.zeros(own.size, np.int64)
        for bit in range(REGIONS):
            beside = np.zeros(terms.taxonomic.size, np.int64)
            holds = (kept >> bit & 1) == 1
            np.bitwise_or.at(beside, terms.place[holds], own[holds])
            wanted[holds] |= beside[terms.place[holds]]
        return wanted

    def ease(
        self, original: npt.NDArray[np.int32], wanted: npt.NDArray[np.int64], code: npt.NDArray[np.int32]
    ) -> Bytes:
        """Return how often the chance of each candidate is doubled: a preference, so that no fact loses its last one.

        Args:
            original: what is replaced. Shape: (n,)
            wanted: the areas that go with the kept end, a bit each. Shape: (n,)
            code: the candidate. Shape: (n,)
        """
        ease: Bytes = ALIKE * (self.kind[original] == self.kind[code]).astype(np.uint8)
        ease += ALIKE * ((wanted & self.regions[code]) != 0).astype(np.uint8)
        ease += ((self.regions[original] & self.regions[code]) != 0).astype(np.uint8)
        apart = np.abs(self.band[original] - self.band[code])
        ease += np.maximum(0, BANDS - apart).astype(np.uint8)
        return ease


@dataclass
class _Groups:
    """What the passes over the admissions share.

    Attributes:
        terms: what holds of concepts and frames.
        cui: concepts by number. Shape: (concepts,)
        texts: the same, as bytes.
        used: bits of (place, kept end) and another end of facts in its place. Shape: (pairs, ends)
        relatives: bits of a frame and a relative of what it replaces. Shape: (frames' relatives,)
        shards: number of shards of admissions.
        folder: where the shards lie.
        without: facts that have no candidate for Q2, Q3 and Q4. Shape: (3,)
    """

    terms: kernels.Terms
    cui: pa.Array
    texts: Texts
    used: Bytes
    relatives: Bytes
    shards: int
    folder: Path
    without: npt.NDArray[np.int64]

    def shard(self, number: int) -> kernels.Shard:
        return read_shard(self.folder / f"{number}.npz")

    def not_done(self) -> Bytes:
        """Return that no frame has asked anything of a bucket yet. Shape: (frames, buckets of a place)"""
        buckets = int(np.diff(self.terms.first_bucket).max(initial=1))
        return np.zeros((self.terms.original.size, buckets), np.uint8)

    def ends(self) -> Replacements:
        """Return (pair, concept) numbers of the ends that are asked for in place of another one."""
        rows = max(1, AT_ONCE // max(1, self.used.shape[1]))
        found = [
            np.nonzero(self.used[begin : begin + rows] & kernels.ASKED) for begin in range(0, len(self.used), rows)
        ]
        pair = np.concatenate(
            [np.empty(0, np.int32), *((one + rows * i).astype(np.int32) for i, (one, _) in enumerate(found))]
        )
        return pair, np.concatenate([np.empty(0, np.int32), *(other.astype(np.int32) for _, other in found)])

    def close(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.int64]]:
        """Return where relatives are asked for, and the numbers of (pair, concept), as one, that they stand for."""
        terms = self.terms
        where = np.flatnonzero(self.relatives & kernels.ASKED)
        frame = np.searchsorted(terms.relative_begin, where, side="right") - 1
        code = terms.sibling[terms.sibling_begin[terms.original[frame]] + where - terms.relative_begin[frame]]
        return where, terms.pair[frame].astype(np.int64) * len(self.cui) + code


def _set_variables(connection: duckdb.DuckDBPyConnection, settings: BuildSettings) -> None:
    values = {
        "bucket_size": BUCKET_SIZE,
        "family_size": settings.family_size,
        "extended_share": settings.extended_share,
        "max_groups": settings.max_groups_per_admission,
    }
    for name, value in values.items():
        connection.execute(f"set variable {name} = {value}")
    connection.execute(f"set variable tying = {list(TYING)}")


def _ends_table(connection: duckdb.DuckDBPyConnection, name: str, asked: Replacements) -> None:
    """Make a table (pair, code, predicate, head_cui, tail_cui) of replacements."""
    pair, code = asked
    set_table(connection, "asked_code", pa.table({"pair": pair, "code": code}))
    connection.execute(f"create or replace temp table {name} as {sql_text('builders/medieval/groups/replacement')}")


def _relations(connection: duckdb.DuckDBPyConnection, graph: ConceptGraph) -> pa.Table:
    """Return (head, tail) of all paths of any tier between candidates or their twins, in both directions."""
    query = "select distinct twin.other from false_pair inner join twin on false_pair.{}_cui = twin.cui"
    heads, tails = (cuis(connection, query.format(end)) for end in ("head", "tail"))
    found = [
        graph.facts(heads, targets=tails, max_hops=3, tiers=TIERS),
        graph.facts(tails, targets=heads, max_hops=3, tiers=TIERS),
    ]
    columns = ["head_cui", "tail_cui"]
    both = pa.concat_tables([table.select(columns) for table in found])
    # CUIs are coded by a dictionary of each search; groups are of one.
    return both.unify_dictionaries().group_by(columns).aggregate([])


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


def _judge(
    connection: duckdb.DuckDBPyConnection, graph: ConceptGraph, groups: _Groups, settings: BuildSettings
) -> None:
    """Find what of the marked replacements is false, and what is true."""
    _ends_table(connection, "false_pair", groups.ends())
    set_table(connection, "lifted", lifted_pairs(connection, groups.cui, settings.max_lift))
    set_table(connection, "found_relation", _relations(connection, graph))
    run_steps(connection, "groups", ["related", "false_check"])
    found = arrow_of(
        connection,
        "select false_pair.pair, false_pair.code from false_pair inner join false_check using (predicate, head_cui, "
        "tail_cui) where false_check.reason is null",
    )
    groups.used[found["pair"].to_numpy(), found["code"].to_numpy()] |= kernels.FOUND
    where, close = groups.close()
    pair, code = np.divmod(np.unique(close), max(1, len(groups.cui)))
    _ends_table(connection, "relative", (pair.astype(np.int32), code.astype(np.int32)))
    set_table(connection, "found_fact", _relative_facts(connection, graph, settings))
    run_steps(connection, "truth", ["contraindicated", "area", "isolated", "kind_pair", "contested", "true_fact"])
    connection.execute("create or replace temp table relative_fact as select * from true_fact")
    found = arrow_of(
        connection,
        "select relative.pair, relative.code from relative inner join relative_fact using (predicate, head_cui, "
        "tail_cui)",
    )
    true = found["pair"].to_numpy().astype(np.int64) * len(groups.cui) + found["code"].to_numpy()
    groups.relatives[where[np.isin(close, true)]] |= kernels.FOUND


def _far(connection: duckdb.DuckDBPyConnection, groups: _Groups, least: int) -> Bytes:
    """Return which distractors are semantically distant, whatever form of a drug they are, and count the others.

    Shape: (ends, ends)
    """
    ends = groups.used.shape[1]
    asked, done = np.zeros((ends, ends), np.uint8), groups.not_done()
    for number in range(groups.shards):
        kernels.mark_asked(groups.terms, groups.shard(number), groups.used, asked, done)
    pairs = int(asked.sum())
    base = dict(connection.execute("select cui, base_cui from linked_base").fetchall())
    names = [base.get(name, name) for name in groups.cui.slice(0, ends).to_pylist()]
    distinct, places = np.unique(np.array(names, dtype=str), return_inverse=True)
    hierarchy = Hierarchy(connection)
    number_of = hierarchy.numbers(distinct.tolist())
    for start in np.unique(places[asked.any(axis=1)]):
        # A pair nearer than the limit is found within limit - 1 steps.
        near = hierarchy.distances(int(number_of[start]), number_of, least - 1) >= 0
        near[start] = True
        asked[np.ix_(places == start, near[places])] = 0
    connection.execute(f"set variable near_pairs = {pairs - int(asked.sum())}")
    return asked


def _count(connection: duckdb.DuckDBPyConnection, query: str) -> int:
    return int(connection.execute(query).fetchall()[0][0])


def _find_complete(connection: duckdb.DuckDBPyConnection, groups: _Groups, far: Bytes) -> None:
    """Make ``completed_group``: one group for each fact with a candidate for every quadrant."""
    connection.execute("create or replace temp table completed_group (number integer, frame integer, draw double)")
    for number in range(groups.shards):
        shard = groups.shard(number)
        counts = np.zeros((shard.frame.size, 3), np.int32)
        kernels.candidates_of(
            groups.terms, shard, groups.used, groups.relatives, far, np.zeros(shard.frame.size, np.uint8), counts
        )
        # The two places of a fact follow one another.
        groups.without += ((counts[0::2] == 0) & (counts[1::2] == 0)).sum(axis=0)
        complete = np.flatnonzero((counts > 0).all(axis=1))
        admission = np.repeat(np.arange(shard.group_begin.size - 1, dtype=np.int32), np.diff(shard.group_begin))
        table = pa.table({"number": admission[complete] + number * SHARD_SIZE, "frame": shard.frame[complete]})
        set_table(connection, "shard_completed", table)
        run_steps(connection, "groups", ["completed_group"])


def _limit(connection: duckdb.DuckDBPyConnection, settings: BuildSettings) -> None:
    """Apply the limits until they hold: fewer groups make the share of a pair or predicate larger."""
    connection.execute("create or replace temp table kept_group as select * from completed_group")
    before, groups = -1, _count(connection, "select count(*) from kept_group")
    predicates = _count(
        connection, "select count(distinct frame.predicate) from frame semi join kept_group using (frame)"
    )
    # Shares of one or two predicates cannot all be below the limit.
    share = max(settings.max_predicate_share, 1 / max(1, predicates))
    while groups != before:
        before = groups
        connection.execute(f"set variable max_pairs = {max(1, int(settings.max_pair_share * groups))}")
        connection.execute(f"set variable max_of_predicate = {max(1, int(share * groups))}")
        run_steps(connection, "groups", ["group_limit"])
        groups = _count(connection, "select count(*) from kept_group")
    run_steps(connection, "groups", ["fact_group"])


def _read_traits(connection: duckdb.DuckDBPyConnection) -> _Traits:
    run_steps(connection, "groups", ["trait"])
    table = arrow_of(connection, "select kind, regions, band, called from trait order by code")
    kind, regions, band, called = (table[name].to_numpy() for name in table.column_names)
    return _Traits(kind.astype(np.int32), regions, band.astype(np.int8), called.astype(np.int32))


def _list_candidates(
    connection: duckdb.DuckDBPyConnection,
    groups: _Groups,
    far: Bytes,
    traits: _Traits,
    wanted: npt.NDArray[np.int64],
    number: int,
) -> Candidates:
    """Return the candidates of the kept groups of one shard, with their draws."""
    shard = groups.shard(number)
    kept = arrow_of(
        connection,
        "select group_no, number, frame, turn from fact_group "
        f"where number between {number * SHARD_SIZE} and {(number + 1) * SHARD_SIZE - 1} order by group_no",
    )
    admission = np.repeat(np.arange(shard.group_begin.size - 1, dtype=np.int64), np.diff(shard.group_begin))
    frames = groups.terms.original.size
    held = kept["frame"].to_numpy().astype(np.int64)
    its = kept["number"].to_numpy().astype(np.int64) - number * SHARD_SIZE
    chosen = np.isin(admission * frames + shard.frame, its * frames + held)
    counts = np.zeros((shard.frame.size, 3), np.int32)
    code = kernels.candidates_of(
        groups.terms, shard, groups.used, groups.relatives, far, chosen.astype(np.uint8), counts
    )
    counts = counts[chosen].reshape(-1)
    begin = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    connection.execute(f"set variable shard = {number}")
    keys = arrow_of(connection, sql_text("builders/medieval/groups/candidate_key"))["key"]
    drawn = hashes_of(Texts.of(keys), begin, groups.texts, code)
    original, each = groups.terms.original[shard.frame[chosen]], np.diff(begin[::3])
    return Candidates(
        np.searchsorted(its, np.arange(shard.group_begin.size)),
        groups.terms.kept[shard.frame[chosen]],
        original,
        kept["turn"].to_numpy(),
        begin,
        code,
        traits.ease(np.repeat(original, each), np.repeat(wanted[shard.frame[chosen]], each), code),
        # Exponential draws; Arrow's logarithm is that of the C library, as DuckDB's.
        -pc.ln(pa.array(units_of(drawn))).to_numpy(),
    )


def make_groups(
    connection: duckdb.DuckDBPyConnection, graph: ConceptGraph, settings: BuildSettings, scratch: Path
) -> None:
    """Make ``fact_group``, ``choice``, ``relative_fact`` and ``extension``: complete groups and their statements.

    Args:
        connection: with what is true and what is attested.
        graph: the concept graph.
        settings: of the build.
        scratch: a folder for the shards while the groups are made.
    """
    _set_variables(connection, settings)
    run_steps(connection, "groups", ["frame", "coded", "cover", "heard", "near_end"])
    terms, cui = read_terms(connection)
    meant = find_names(connection, graph, radiology=settings.radiology)
    shards = _count(connection, "select coalesce(max(shard), -1) + 1 from admission")
    with TemporaryDirectory(dir=scratch) as folder:
        ends = _count(connection, "select count(*) from coded where is_end")
        used = np.zeros((int(terms.pair.max(initial=-1)) + 1, ends), np.uint8)
        relatives = np.zeros(int(terms.relative_begin[-1]), np.uint8)
        groups = _Groups(terms, cui, Texts.of(cui), used, relatives, shards, Path(folder), np.zeros(3, np.int64))
        co_stated, named = linked_pairs(connection, groups.folder, shards, cui, terms, meant)
        set_table(connection, "co_stated", co_stated)
        done = groups.not_done()
        for number in range(shards):
            kernels.mark_used(terms, groups.shard(number), used, relatives, done)
        _judge(connection, graph, groups, settings)
        far = _far(connection, groups, settings.min_distractor_distance)
        _find_complete(connection, groups, far)
        _limit(connection, settings)
        kept = _count(connection, "select count(*) from fact_group")
        traits = _read_traits(connection)
        wanted = traits.wanted(terms)
        pool = Pool(groups.folder, traits.called, WEIGHT_FLOOR, np.full((kept, 3), -1, np.int32))
        for number in range(shards):
            pool.add(_list_candidates(connection, groups, far, traits, wanted, number))
        draw_statements(connection, pool, settings)
    connection.execute(f"set variable named_only = {named}")
    connection.execute(f"set variable facts_without = {groups.without.tolist()}")
    run_steps(connection, "groups", ["extension_kind"])
    run_steps(connection, "truth", ["contested"])
    run_steps(connection, "groups", ["extension"])
