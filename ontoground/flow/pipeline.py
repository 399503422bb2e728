"""Run loads and stages in order, each only where it is not current, and say what each did and how long it took."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from ehr.sources.meds import load_meds, release_of_meds
from ehr.sources.mimic import find_mimic, load_mimic
from ehr.sources.omop import load_omop
from ehr.sources.plain import load_table
from ehr.sources.plain import release_of as release_of_table
from ehr.sources.tables import SOURCES
from ground.errors import InputError
from ground.flow.fingerprints import mark_done, stage_fingerprint
from ground.flow.manifest import is_open_release, replacing, state_licence
from ground.settings import RemoteSettings
from ground.storage.loading import LoadReport
from ground.storage.remote import Places, RemotePath, require_allowed, several
from ground.storage.warehouse import has_rows
from ground.storage.workspace import Workspace
from kg.load import load_rxnorm, load_umls
from kg.ontology.loading import check_files, load_ontology
from kg.release import find_release
from ontoground.flow.compiling import compile_beside
from ontoground.flow.session import writing
from ontoground.flow.stages import (
    ONTOLOGIES,
    PREFIX,
    STAGES,
    Stage,
    check_rules,
    expected_fingerprint,
    loads_of,
    state_of,
    upstream,
)
from ontoground.flow.status import lacking_codes, summary_of

__all__ = ["LOADERS", "Outcome", "check_folder", "load_source", "run_all", "run_stages"]

WITHOUT_NOTES = ("graph", "concepts")
SAY_NOTHING: Callable[[str], None] = lambda _message: None  # noqa: E731


@dataclass(frozen=True)
class Outcome:
    """What one load or stage did.

    Attributes:
        stage: its name, such as ``load umls`` or ``mentions``.
        state: ``done``, or ``current`` where there was nothing to do.
        seconds: wall time.
        report: the stage's own report; empty where there was nothing to do.
    """

    stage: str
    state: str
    seconds: float
    report: dict[str, Any]

    def in_words(self, title: str) -> str:
        """Return one line that says how it ended."""
        return f"{title}: " + ("up to date" if self.state == "current" else f"done in {self.seconds:.1f} s")

    def as_dict(self) -> dict[str, Any]:
        """Return the outcome for ``--json`` output."""
        return {"stage": self.stage, "state": self.state, "seconds": round(self.seconds, 2), "report": self.report}


LOADERS: dict[str, Callable[..., LoadReport]] = {
    "mimic": load_mimic,
    "omop": load_omop,
    "meds": load_meds,
    "table": load_table,
    "umls": load_umls,
    "rxnorm": load_rxnorm,
    "ontology": load_ontology,
}
RELEASES: dict[str, Callable[..., Iterable[str | None]]] = {
    "mimic": lambda *folders: find_mimic(*folders).releases.values(),
    "omop": lambda *_folders: [None],
    "meds": lambda *folders: map(release_of_meds, folders),
    "table": lambda *folders: map(release_of_table, folders),
    "umls": lambda *folders: [find_release("umls", folder).name for folder in folders],
    "rxnorm": lambda *folders: [find_release("rxnorm", folder).name for folder in folders],
}
"""Names of the releases in some folders, by which those that are open are known."""


def load_source(
    workspace: Workspace,
    connection: duckdb.DuckDBPyConnection,
    source: str,
    folder: Places,
    say: Callable[[str], None] = SAY_NOTHING,
) -> Outcome:
    """Load one source; files that were loaded before and have not changed are skipped by the loader.

    MIMIC-IV may lie in several folders; ontologies are files.

    Raises:
        InputError: the folder is not there, or the loader refuses what it holds.
    """
    settings = workspace.settings
    check_folder(source, folder, settings.remote)
    begin = time.perf_counter()
    own = {"own": workspace.rules} if source in ("meds", "omop") else {}
    report = LOADERS[source](connection, folder, settings.load, settings.remote, **own).as_dict()
    if source in SOURCES:
        report["warnings"] = (*report["warnings"], *lacking_codes(connection))
    licences = [licence for name, licence in settings.load.open_sources.items() if name == source]
    state_licence(connection, source, licences[0] if licences else None)
    unchanged = all(table["skipped_because_done"] for table in report["tables"])
    outcome = Outcome(f"load {source}", "current" if unchanged else "done", time.perf_counter() - begin, report)
    say(outcome.in_words(outcome.stage))
    for warning in report.get("warnings", ()):
        say(f"note: {warning}")
    return outcome


def run_stages(
    workspace: Workspace,
    connection: duckdb.DuckDBPyConnection,
    names: Sequence[str],
    *,
    force: bool = False,
    say: Callable[[str], None] = SAY_NOTHING,
) -> list[Outcome]:
    """Run stages and all that they need, in order; what is current is left as it is.

    Args:
        workspace: where they work.
        connection: the warehouse, open for writing.
        names: the stages that are wanted.
        force: run the wanted ones (not those before them) although they are current.
        say: is told one line for each stage.

    Raises:
        InputError: a source that a stage needs was not loaded, or a stage refuses its input.
    """
    outcomes = []
    for stage in upstream(tuple(names)):
        outcome = _run(workspace, connection, stage, force=force and stage.name in names)
        say(outcome.in_words(f"{stage.name} ({stage.title})"))
        outcomes.append(outcome)
    return outcomes


def run_all(
    workspace: Workspace, folders: Mapping[str, Places], say: Callable[[str], None] = SAY_NOTHING
) -> tuple[list[Outcome], dict[str, Any]]:
    """Load the folders (of records, ``umls``, ``rxnorm``, ``ontology``), run every stage, and return the figures.

    Without notes the stages that read them are left out.

    Raises:
        InputError: a folder is missing or an own rule wrong (found before anything is loaded), or a stage refuses its
            input; what was finished before stays.
        RefusedError: as `check_folder`, before anything is loaded.
    """
    for source, folder in folders.items():
        check_folder(source, folder, workspace.settings.remote)
    check_rules(workspace.rules)
    with writing(workspace) as connection:
        if any(state_of(connection, workspace, stage).state != "current" for stage in STAGES):
            compile_beside()
        outcomes = [load_source(workspace, connection, source, folder, say) for source, folder in folders.items()]
        names = [stage.name for stage in STAGES]
        if not has_rows(connection, "ehr.discharge_note"):
            say("note: there are no notes to read, so that only the graph and the coverage of codes are made")
            names = [name for name in names if name in WITHOUT_NOTES]
        outcomes += run_stages(workspace, connection, names, say=say)
        return outcomes, summary_of(connection)


def check_folder(source: str, folders: Places, remote: RemoteSettings = RemoteSettings()) -> None:  # noqa: B008
    """Make sure that a source can be loaded from a folder, or from several.

    Raises:
        InputError: it is not there, or its store cannot be read.
        RefusedError: it holds credentialed data in a store that the settings do not name.
    """
    if source == "ontology":
        check_files(several(folders))
        return
    for folder in several(folders):
        if not (folder.is_dir() or (source == "omop" and folder.is_file())):
            raise InputError("there is no such folder", file=folder, expected=f"the folder that holds {source}")
    for folder in several(folders):
        if isinstance(folder, RemotePath):
            is_open = all(map(is_open_release, RELEASES[source](*several(folders))))
            require_allowed(folder, credentialed=not is_open, settings=remote)


def _run(workspace: Workspace, connection: duckdb.DuckDBPyConnection, stage: Stage, *, force: bool) -> Outcome:
    now = state_of(connection, workspace, stage)
    if now.state == "no input":
        raise InputError(
            f"the stage {stage.name} has no input",
            found=now.reason,
            expected=", ".join(stage.inputs),
            do="; ".join(
                f"ontoground load {'umls' if source == ONTOLOGIES else source} DIR"
                for source in loads_of(connection, stage)
            ),
        )
    if now.state == "current" and not force:
        return Outcome(stage.name, "current", 0.0, {})
    _forget(connection, stage, again=force or now.state == "stale")
    compile_beside()
    begin = time.perf_counter()
    with replacing(workspace.root / (stage.folder or "")):
        report: Any = stage.run(workspace, connection)
    _remember(workspace, connection, stage)
    return Outcome(stage.name, "done", time.perf_counter() - begin, report.as_dict())


def _forget(connection: duckdb.DuckDBPyConnection, stage: Stage, *, again: bool) -> None:
    """Make a stage look unfinished while it runs, so that one stopped in the middle does not pass for done.

    A stage keeps a mark of its own, with which it resumes or skips itself; it is taken away where the stage is to run
    from its beginning: its input, settings or code changed, or the user asked for it.
    """
    # An empty mark tells a rebuild from a first build.
    connection.execute("update ground.stage set fingerprint = '' where stage = ?", [PREFIX + stage.name])
    if again:
        connection.execute("delete from ground.stage where stage = ?", [stage.name])


def _remember(workspace: Workspace, connection: duckdb.DuckDBPyConnection, stage: Stage) -> None:
    value = expected_fingerprint(connection, workspace, stage)
    mark_done(connection, PREFIX + stage.name, value)
    if not stage_fingerprint(connection, stage.name):
        mark_done(connection, stage.name, value)
