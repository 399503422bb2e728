"""The stages of the flow in order: what each needs, what it makes, and from what its fingerprint is taken.

A stage is stale when its fingerprint changed: other files were loaded, a setting or own rule that it reads changed, an
earlier stage is stale, or its own code and data files are not the ones that made it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import duckdb

from ground.flow.fingerprints import code_digest, fingerprint, load_fingerprint, stage_fingerprint
from ground.storage.own_rules import OwnRules
from ground.storage.warehouse import table_exists
from ground.storage.workspace import Workspace

__all__ = ["STAGES", "Stage", "StageState", "check_rules", "expected_fingerprint", "stage", "state_of", "upstream"]

# The stages' own rows in ground.stage may be finer (shards); these rows belong to the flow.
PREFIX = "flow."

WORDS = {"mimiciv_note.discharge": "discharge summaries (note/discharge)"}

State = Literal["no input", "not built", "stale", "current"]


@dataclass(frozen=True)
class Stage:
    """One stage.

    Attributes:
        name: as users see it.
        title: what it does, in words.
        after: stages whose results it reads.
        sources: loads that must be there.
        inputs: tables that must be there.
        optional: loads that it reads where they are there.
        settings: sections of the settings that it reads.
        code: folders and files of code, SQL and data whose change makes it stale (`code_digest`).
        tables: tables that it leaves.
        folder: below the workspace, what it leaves on disk.
        run: does it.
    """

    name: str
    title: str
    after: tuple[str, ...]
    sources: tuple[str, ...]
    inputs: tuple[str, ...]
    optional: tuple[str, ...]
    settings: tuple[str, ...]
    code: tuple[str, ...]
    tables: tuple[str, ...]
    folder: str | None
    run: Callable[[Workspace, duckdb.DuckDBPyConnection], object]


@dataclass(frozen=True)
class StageState:
    """Where a stage stands in a workspace, and why."""

    name: str
    state: State
    reason: str


def _graph(workspace: Workspace, connection: duckdb.DuckDBPyConnection) -> object:
    from kg.build import build_graph

    return build_graph(connection, workspace.graph, workspace.settings.load, workspace.rules)


def _concepts(_workspace: Workspace, connection: duckdb.DuckDBPyConnection) -> object:
    from builders.concepts import map_codes

    return map_codes(connection)


def _sections(workspace: Workspace, connection: duckdb.DuckDBPyConnection) -> object:
    from ehr.notes import split_notes

    return split_notes(connection, workspace.settings, workspace.rules)


def _mentions(workspace: Workspace, connection: duckdb.DuckDBPyConnection) -> object:
    from ehr.notes import find_mentions

    return find_mentions(connection, workspace.settings, workspace.rules)


def _medieval(workspace: Workspace, connection: duckdb.DuckDBPyConnection) -> object:
    from builders.medieval.build import build_medieval

    return build_medieval(workspace, connection)


STAGES = (
    Stage(
        name="graph",
        title="concept graph",
        after=(),
        sources=("umls",),
        inputs=("umls.mrconso", "umls.mrsty"),
        optional=(),
        settings=("load",),
        code=("kg", "sql/kg"),
        tables=("kg.name", "kg.concept", "kg.edge"),
        folder="graph",
        run=_graph,
    ),
    Stage(
        name="concepts",
        title="codes to concepts",
        after=(),
        sources=("mimic", "umls"),
        inputs=("umls.mrconso", "mimiciv_hosp.admissions"),
        optional=("rxnorm",),
        settings=("load",),
        code=(
            "builders/concepts.py",
            "builders/data/concept_types.tsv",
            "builders/data/drug_aliases.tsv",
            "builders/data/drug_words.tsv",
            "sql/builders/concepts",
        ),
        tables=("ground.code_map", "ground.admission_concept"),
        folder=None,
        run=_concepts,
    ),
    Stage(
        name="sections",
        title="sections of the notes",
        after=(),
        sources=("mimic",),
        inputs=("mimiciv_note.discharge",),
        optional=(),
        settings=("notes",),
        code=("ehr", "sql/ehr"),
        tables=("ground.section",),
        folder=None,
        run=_sections,
    ),
    Stage(
        name="mentions",
        title="mentions in the notes",
        after=("graph", "concepts", "sections"),
        sources=("mimic", "umls"),
        inputs=("mimiciv_note.discharge",),
        optional=(),
        settings=("notes",),
        code=("ehr", "sql/ehr"),
        tables=("ground.mention",),
        folder=None,
        run=_mentions,
    ),
    Stage(
        name="medieval",
        title="quadrant statements",
        after=("concepts", "mentions"),
        sources=("mimic", "umls"),
        inputs=("mimiciv_note.discharge",),
        optional=(),
        settings=("build",),
        code=(
            "builders/medieval",
            "builders/cards.py",
            "builders/data/disputed_facts.tsv",
            "builders/data/known_use_groups.tsv",
            "builders/data/known_uses.tsv",
            "sql/builders/medieval",
        ),
        tables=(),
        folder="datasets/medieval",
        run=_medieval,
    ),
)


def stage(name: str) -> Stage:
    """Return the stage of that name."""
    return next(one for one in STAGES if one.name == name)


def upstream(names: tuple[str, ...]) -> list[Stage]:
    """Return these stages and all that they need, in the order of the flow."""
    wanted = set(names)
    for one in reversed(STAGES):
        if one.name in wanted:
            wanted |= set(one.after)
    return [one for one in STAGES if one.name in wanted]


def check_rules(own: OwnRules) -> None:
    """Read all own rules as the stages do, so that a bad line is found before anything runs.

    Raises:
        InputError: a line cannot be read.
    """
    if own.texts:
        from ehr.abbreviations import read_terms
        from ehr.lexicon import fact_tables
        from ehr.sections import header_rules
        from kg.predicates import read_vocabulary

        for read in (header_rules, read_terms, fact_tables):
            read(own)
        read_vocabulary(own=own)


def expected_fingerprint(connection: duckdb.DuckDBPyConnection, workspace: Workspace, one: Stage) -> str:
    """Return the fingerprint that a stage would leave if it ran now."""
    settings = workspace.settings.model_dump(mode="json")
    parts = {f"load {source}": load_fingerprint(connection, source) for source in (*one.sources, *one.optional)}
    parts |= {f"stage {name}": expected_fingerprint(connection, workspace, stage(name)) for name in one.after}
    parts |= {f"settings {name}": fingerprint(settings[name]) for name in one.settings}
    return fingerprint(parts | {"code": code_digest(one.code), "rules": workspace.rules.digests(one.name)})


def state_of(connection: duckdb.DuckDBPyConnection, workspace: Workspace, one: Stage) -> StageState:
    """Tell whether a stage has its input, was built, and is still what it would be if built now."""
    missing = [source for source in one.sources if not load_fingerprint(connection, source)]
    missing = missing or [table for table in one.inputs if not _has_rows(connection, table)]
    if missing:
        return StageState(one.name, "no input", f"needs {' and '.join(WORDS.get(one, one) for one in missing)}")
    left = stage_fingerprint(connection, PREFIX + one.name)
    if not left or not _outputs_exist(connection, workspace, one):
        return StageState(one.name, "not built", "")
    if left != expected_fingerprint(connection, workspace, one):
        stale = [name for name in one.after if state_of(connection, workspace, stage(name)).state != "current"]
        return StageState(
            one.name, "stale", f"after {', '.join(stale)}" if stale else "input, settings, rules or version"
        )
    return StageState(one.name, "current", "")


def _has_rows(connection: duckdb.DuckDBPyConnection, table: str) -> bool:
    if not table_exists(connection, table):
        return False
    return connection.execute(f"select 1 from {table} limit 1").fetchone() is not None


def _outputs_exist(connection: duckdb.DuckDBPyConnection, workspace: Workspace, one: Stage) -> bool:
    tables = all(table_exists(connection, table) for table in one.tables)
    return tables and (one.folder is None or (workspace.root / one.folder).is_dir())
