"""Opens MedVAL's rules engine on a workspace."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
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
        self._readings: dict[tuple[bool, str], TextReading] = {}

    def read_all(self, texts: Sequence[str], *, headers: bool = True) -> list[TextReading]:
        """Return the readings of texts as `TextReader.read_all` does."""
        new = [text for text in dict.fromkeys(texts) if (headers, text) not in self._readings]
        for text, reading in zip(new, super().read_all(new, headers=headers), strict=True):
            self._readings[headers, text] = reading
        found = [self._readings[headers, text] for text in texts]
        for oldest in list(islice(self._readings, max(0, len(self._readings) - READINGS))):
            del self._readings[oldest]
        return found


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
        of_names = frozenset(word for (word,) in run_sql(cursor, "builders/medval/known_word").fetchall())
    validator = RulesValidator(judging.Knowledge(graph, reader, PlainWords(in_names)))
    return RulesGenerator(Knowledge(graph, reader, of_names), settings.seed, validator, peers), validator
