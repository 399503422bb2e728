"""Opens MedVAL's rules engine on a workspace."""

from __future__ import annotations

import gc

from builders.medval.items import Generator, Peers, Validator
from builders.medval.judge.validator import RulesValidator
from builders.medval.reading import Concepts
from builders.medval.rules.generator import RulesGenerator
from builders.medval.word_frequencies import WordFrequencies
from ehr.reading import TextReader
from ground.storage.warehouse import connect, run_sql
from ground.storage.workspace import Workspace
from kg.graph import ConceptGraph

__all__ = ["open_rules"]

# New objects until Python looks for circles among them: with its own 700 that took a tenth of the time.
_NEW_OBJECTS = 20_000


def open_rules(workspace: Workspace, peers: Peers) -> tuple[Generator, Validator]:
    """Return generator and validator over the graph and the names of a workspace that nobody is writing to.

    They share graph and reading; neither reads the other's tables or code.
    The generator asks the validator whether a reference is without error.

    Raises:
        InputError: the workspace has no warehouse, no graph or no names.
    """
    with connect(workspace.warehouse, workspace.settings.run, read_only=True) as connection:
        reader = TextReader.open(connection, workspace.settings.notes, workspace.rules, of_notes=False)
        in_names = dict(run_sql(connection, "builders/medval/name_word").fetchall())
        of_names = frozenset(word for (word,) in run_sql(connection, "builders/medval/known_word").fetchall())
        concepts = Concepts(ConceptGraph.open(workspace.graph), reader, WordFrequencies(in_names))
        validator = RulesValidator(concepts)
        generator = RulesGenerator(concepts, workspace.settings.medval.seed, validator, peers, of_names)
    # What was opened stays, and hardly anything that is made later is a circle: the collector need not look often.
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS)
    return generator, validator
