"""Opens MedVAL's rules engine on a workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from builders.medval.items import Generator, Peers, Validator
from builders.medval.judge import knowledge as judging
from builders.medval.judge.plain import PlainWords
from builders.medval.judge.validator import RulesValidator
from builders.medval.reading import Kept
from builders.medval.rules.generator import RULES_TASKS, RulesGenerator
from builders.medval.rules.knowledge import Knowledge
from ehr.reading import TextReader
from ground.settings import MedvalSettings
from ground.storage.warehouse import run_sql
from ground.storage.workspace import Workspace
from kg.graph import ConceptGraph

if TYPE_CHECKING:
    import duckdb

__all__ = ["RULES_TASKS", "open_rules"]


def open_rules(
    workspace: Workspace, connection: duckdb.DuckDBPyConnection, settings: MedvalSettings, peers: Peers
) -> tuple[Generator, Validator]:
    """Return generator and validator over the graph and the names of a workspace.

    They share graph and reading; neither reads the other's tables or code.
    The generator asks the validator whether a reference is without error.

    Raises:
        InputError: the workspace has no graph, or its warehouse no names.
    """
    reader = TextReader.open(connection, workspace.settings.notes, workspace.rules)
    kept = Kept(ConceptGraph.open(workspace.graph), reader)
    with connection.cursor() as cursor:
        in_names = dict(run_sql(cursor, "builders/medval/name_word").fetchall())
        of_names = frozenset(word for (word,) in run_sql(cursor, "builders/medval/known_word").fetchall())
    validator = RulesValidator(judging.Knowledge(kept, PlainWords(in_names)))
    return RulesGenerator(Knowledge(kept, of_names), settings.seed, validator, peers), validator
