"""Opens MedVAL's rules engine on a workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from builders.medval.items import Generator, Peers, Validator
from builders.medval.rules.generator import RULES_TASKS, RulesGenerator
from builders.medval.rules.knowledge import Knowledge
from builders.medval.rules.validator import RulesValidator
from ehr.reading import TextReader
from ground.settings import MedvalSettings
from ground.storage.workspace import Workspace
from kg.graph import ConceptGraph

if TYPE_CHECKING:
    import duckdb

__all__ = ["RULES_TASKS", "open_rules"]


def open_rules(
    workspace: Workspace, connection: duckdb.DuckDBPyConnection, settings: MedvalSettings, peers: Peers
) -> tuple[Generator, Validator]:
    """Return generator and validator over the graph and the names of a workspace.

    They share what they know (graph, names, readings of texts), not what was edited. The generator asks the validator
    whether a reference is without error.

    Raises:
        InputError: the workspace has no graph, or its warehouse no names.
    """
    reader = TextReader.open(connection, workspace.settings.notes, workspace.rules)
    knowledge = Knowledge(ConceptGraph.open(workspace.graph), reader)
    validator = RulesValidator(knowledge)
    return RulesGenerator(knowledge, settings.seed, validator, peers), validator
