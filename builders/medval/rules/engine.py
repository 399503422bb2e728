"""Opens MedVAL's rules engine on a workspace."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from builders.medval.items import Generator, Peers, Validator
from builders.medval.judge import knowledge as judging
from builders.medval.judge.plain import PlainWords
from builders.medval.judge.validator import RulesValidator
from builders.medval.rules.generator import RULES_TASKS, RulesGenerator
from builders.medval.rules.knowledge import Knowledge
from ehr.reading import TextReader, TextReading
from ground.settings import MedvalSettings
from ground.storage.warehouse import run_sql
from ground.storage.workspace import Workspace
from kg.graph import ConceptGraph

if TYPE_CHECKING:
    import duckdb

__all__ = ["RULES_TASKS", "open_rules"]

READINGS = 4096
"""Readings that are kept: generator and validator ask for the same texts, within some batches and for pools."""


class _ReadsOnce(TextReader):
    """Reads a text once for all who ask for it soon."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self._reading = lru_cache(maxsize=READINGS)(super().read)

    def read(self, text: str, *, headers: bool = True) -> TextReading:
        """Return the reading of a text as `TextReader.read` does."""
        return self._reading(text, headers=headers)


def open_rules(
    workspace: Workspace, connection: duckdb.DuckDBPyConnection, settings: MedvalSettings, peers: Peers
) -> tuple[Generator, Validator]:
    """Return generator and validator over the graph and the names of a workspace.

    They share graph and reading; neither reads the other's tables or code.
    The generator asks the validator whether a reference is without error.

    Raises:
        InputError: the workspace has no graph, or its warehouse no names.
    """
    reader = _ReadsOnce.open(connection, workspace.settings.notes, workspace.rules)
    graph = ConceptGraph.open(workspace.graph)
    with connection.cursor() as cursor:
        in_names = dict(run_sql(cursor, "builders/medval/name_word").fetchall())
    validator = RulesValidator(judging.Knowledge(graph, reader, PlainWords(in_names)))
    return RulesGenerator(Knowledge(graph, reader), settings.seed, validator, peers), validator
