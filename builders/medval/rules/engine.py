"""Opens MedVAL's rules engine on a workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from builders.medval.items import Generator, Peers, Validator
from builders.medval.judge.validator import RulesValidator
from builders.medval.reading import Concepts
from builders.medval.rules.generator import RulesGenerator
from builders.medval.word_frequencies import WordFrequencies
from ehr.reading import TextReader
from ground.settings import MedvalSettings
from ground.storage.warehouse import run_sql
from ground.storage.workspace import Workspace
from kg.graph import ConceptGraph

if TYPE_CHECKING:
    import duckdb

__all__ = ["open_rules"]


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
    with connection.cursor() as cursor:
        in_names = dict(run_sql(cursor, "builders/medval/name_word").fetchall())
        of_names = frozenset(word for (word,) in run_sql(cursor, "builders/medval/known_word").fetchall())
    concepts = Concepts(ConceptGraph.open(workspace.graph), reader, WordFrequencies(in_names))
    validator = RulesValidator(concepts)
    return RulesGenerator(concepts, settings.seed, validator, peers, of_names), validator
