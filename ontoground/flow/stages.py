"""The stages of the flow in order: what each needs, what it makes, and from what its fingerprint is taken.

A stage is stale when its fingerprint changed: other files were loaded, a setting or own rule that it reads changed, an
earlier stage is stale, or its own code and data files are not the ones that made it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import duckdb

from ehr.sources.contract import loaded_source
from ground.flow.fingerprints import code_digest, fingerprint, has_mark, load_fingerprint, stage_fingerprint
from ground.storage.own_rules import OwnRules
from ground.storage.warehouse import has_rows, table_exists
from ground.storage.workspace import Workspace
from kg.ontology.joining import RELEASE_SOURCES

__all__ = [
    "STAGES",
    "Stage",
    "StageState",
    "check_rules",
    "expected_fingerprint",
    "loads_of",
    "stage",
    "state_of",
    "upstream",
]

# The stages' own rows in ground.stage may be finer (shards); these rows belong to the flow.
PREFIX = "flow."

RECORDS = "records"
NOTES = ("ehr.discharge_note",)
READER = ("ehr", "sql/ehr")
ONTOLOGIES = "ontologies"
"""A source that stands for any load of which the release is made."""
WORDS = {
    ONTOLOGIES: "an ontology (UMLS, RxNorm or files)",
    "ehr.discharge_note": "discharge summaries (note/discharge)",
}

State = Literal["no input", "not built", "stale", "current"]


@dataclass(frozen=True)
class Stage:
    """One stage.

    Attributes:
        name: as users see it.
        title: what it does, in words.
        sources: loads that must be there; ``records`` is whichever source of them the workspace holds.
        inputs: tables that must be there.
        settings: the section of the settings that it reads.
        code: folders and files of code, SQL and data whose change makes it stale (`code_digest`).
        run: does it.
        after: stages whose results it reads.
        optional: loads that it reads where they are there.
        tables: tables that it leaves.
        folder: below the workspace, what it leaves on disk.
    """

    name: str
    title: str
    sources: tuple[str, ...]
    inputs: tuple[str, ...]
    settings: str
    code: tuple[str, ...]
    run: Callable[[Workspace, duckdb.DuckDBPyConnection], object]
    after: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    folder: str | None = None


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
        sources=(ONTOLOGIES,),
        inputs=("release.mrconso", "release.mrsty"),
        settings="load",
        code=("kg", "sql/kg"),
        run=_graph,
        tables=("kg.name", "kg.concept", "kg.edge", "kg.uncovered"),
        folder="graph",
    ),
    Stage(
        name="concepts",
        title="codes to concepts",
        sources=(RECORDS, ONTOLOGIES),
        inputs=("release.mrconso", "ehr.admission"),
        settings="load",
        code=(
            "builders/concepts.py",
            "builders/data/concept_types.tsv",
            "builders/data/drug_aliases.tsv",
            "builders/data/drug_words.tsv",
            "sql/builders/concepts",
            "ehr/sources",
            "sql/ehr/sources",
        ),
        run=_concepts,
        tables=(
            "ground.code_map",
            "ground.code_use",
            "ground.event",
            "ground.unmapped_code",
            "ground.admission_concept",
        ),
    ),
    Stage(
        name="sections",
        title="sections of the notes",
        sources=(RECORDS,),
        inputs=NOTES,
        settings="notes",
        code=READER,
        run=_sections,
        tables=("ground.section",),
    ),
    Stage(
        name="mentions",
        title="mentions in the notes",
        sources=(RECORDS, ONTOLOGIES),
        inputs=NOTES,
        settings="notes",
        code=READER,
        run=_mentions,
        after=("graph", "concepts", "sections"),
        tables=("ground.mention",),
    ),
    Stage(
        name="medieval",
        title="quadrant statements",
        sources=(RECORDS, ONTOLOGIES),
        inputs=NOTES,
        settings="build",
        code=(
            "builders/medieval",
            "builders/cards.py",
            "builders/data/disputed_facts.tsv",
            "builders/data/known_use_groups.tsv",
            "builders/data/known_uses.tsv",
            "sql/builders/medieval",
        ),
        run=_medieval,
        after=("concepts", "mentions"),
        tables=("ground.medieval",),
        folder="datasets/medieval",
    ),
)


def stage(name: str) -> Stage:
    """Return the stage of that name."""
    return next(stage for stage in STAGES if stage.name == name)


def upstream(names: tuple[str, ...]) -> list[Stage]:
    """Return these stages and all that they need, in the order of the flow."""
    wanted = set(names)
    for stage in reversed(STAGES):
        if stage.name in wanted:
            wanted |= set(stage.after)
    return [stage for stage in STAGES if stage.name in wanted]


def check_rules(own: OwnRules) -> None:
    """Read all own rules as the stages do, so that a bad line is found before anything runs.

    Raises:
        InputError: a line cannot be read.
    """
    if own.texts:
        from ehr.abbreviations import read_terms
        from ehr.lexicon import fact_tables
        from ehr.sections import header_rules
        from ehr.sources.meds import code_patterns
        from ehr.sources.omop import own_tables
        from kg.predicates import read_vocabulary

        for read in (header_rules, read_terms, fact_tables, code_patterns, own_tables):
            read(own)
        read_vocabulary(own=own)


def expected_fingerprint(connection: duckdb.DuckDBPyConnection, workspace: Workspace, wanted: Stage) -> str:
    """Return the fingerprint that a stage would leave if it ran now: JSON, a digest for each thing that it rests on."""
    settings = workspace.settings.model_dump(mode="json")
    loads = (*loads_of(connection, wanted), *wanted.optional)
    parts = {f"load of {source}": _loaded(connection, source) for source in loads}
    parts |= {f"stage {name}": expected_fingerprint(connection, workspace, stage(name)) for name in wanted.after}
    parts |= {f"settings [{wanted.settings}]": fingerprint(settings[wanted.settings])}
    rules = fingerprint(workspace.rules.digests(wanted.name))
    parts |= {"version of ontoground": code_digest(wanted.code), "own rules": rules}
    return json.dumps({name: fingerprint({name: part}) for name, part in parts.items()}, sort_keys=True)


def _changed(left: str, expected: str) -> str:
    """Say what is not as it was when a stage left its fingerprint."""
    try:
        before = dict(json.loads(left))
    except (ValueError, TypeError):
        # Of a version whose fingerprints were whole.
        return "changed: version of ontoground"
    now = json.loads(expected)
    return f"changed: {', '.join(name for name in (now | before) if now.get(name) != before.get(name))}"


def _loaded(connection: duckdb.DuckDBPyConnection, source: str) -> str:
    """Return the fingerprint of what was loaded from a source; empty where nothing was."""
    if source != ONTOLOGIES:
        return load_fingerprint(connection, source)
    parts = {source: load_fingerprint(connection, source) for source in RELEASE_SOURCES}
    return fingerprint(parts) if any(parts.values()) else ""


def state_of(connection: duckdb.DuckDBPyConnection, workspace: Workspace, wanted: Stage) -> StageState:
    """Tell whether a stage has its input, was built, and is still what it would be if built now."""
    missing = [source for source in loads_of(connection, wanted) if not _loaded(connection, source)]
    missing = missing or [table for table in wanted.inputs if not has_rows(connection, table)]
    if missing:
        return StageState(wanted.name, "no input", f"needs {' and '.join(WORDS.get(name, name) for name in missing)}")
    left = stage_fingerprint(connection, PREFIX + wanted.name)
    if not _outputs_exist(connection, workspace, wanted):
        return StageState(wanted.name, "not built", "")
    if not left:
        if not has_mark(connection, PREFIX + wanted.name):
            return StageState(wanted.name, "not built", "a first build that was not finished")
        return StageState(wanted.name, "stale", "a rebuild that was not finished; what was built before is there")
    if left != (expected := expected_fingerprint(connection, workspace, wanted)):
        stale = [name for name in wanted.after if state_of(connection, workspace, stage(name)).state != "current"]
        return StageState(wanted.name, "stale", f"after {', '.join(stale)}" if stale else _changed(left, expected))
    return StageState(wanted.name, "current", "")


def loads_of(connection: duckdb.DuckDBPyConnection, wanted: Stage) -> list[str]:
    """Return the loads that a stage needs by their names; without records, those of MIMIC-IV."""
    records = loaded_source(connection) or "mimic"
    return [records if source == RECORDS else source for source in wanted.sources]


def _outputs_exist(connection: duckdb.DuckDBPyConnection, workspace: Workspace, wanted: Stage) -> bool:
    tables = all(table_exists(connection, table) for table in wanted.tables)
    return tables and (wanted.folder is None or (workspace.root / wanted.folder).is_dir())
