"""The two engines of MedHal: who writes sentences, and who judges them, by task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from builders.medhal.judges import Judge, LmJudge, RulesJudge
from builders.medhal.lm_writer import LmWriter
from builders.medhal.rules.check_extraction import check_extraction
from builders.medhal.rules.check_question import check_question
from builders.medhal.rules.check_summary import check_summary
from builders.medhal.rules.writer import RulesWriter
from builders.medhal.writers import Writer
from ground.contracts.rows_text import MEDHAL_TASKS, MedhalTask
from ground.lm.client import LanguageModel

__all__ = ["Engine", "lm_engine", "rules_engine"]


@dataclass(frozen=True)
class Engine:
    """A writer, and a judge for each task that it can judge."""

    writer: Writer
    judges: Mapping[MedhalTask, Judge]


def rules_engine(seed: int) -> Engine:
    """Return the engine that needs no model. NLI has no judge: its labels are an expert's, and no rule reads them."""
    return Engine(
        RulesWriter(seed),
        {
            "question_answering": RulesJudge(check_question),
            "information_extraction": RulesJudge(check_extraction),
            "summarization": RulesJudge(check_summary),
        },
    )


def lm_engine(model: LanguageModel) -> Engine:
    """Return the engine that asks a language model, as writer and as judge of every task."""
    judge = LmJudge(model)
    return Engine(LmWriter(model), dict.fromkeys(MEDHAL_TASKS, judge))
