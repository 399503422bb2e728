"""The two engines of MedHal behind one interface: who turns parts into a sentence.

What is asked is the same for both; the transformations (`builders.medhal.transform`) choose wrong options, swap values
and put sentences back, whoever writes. A writer refuses what it cannot do well; every answer stands at the place of
its request.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from builders.texts.origin import Refusal

__all__ = ["AnswerInWords", "ExtractionInWords", "SentenceToBreak", "Writer", "Written"]


@dataclass(frozen=True, slots=True)
class AnswerInWords:
    """A question and one of its options, to become a declarative statement that adds nothing (MedHal, figure 2)."""

    question: str
    option: str


@dataclass(frozen=True, slots=True)
class ExtractionInWords:
    """An extracted value, to become one sentence in the present tense (MedHal, figure 3)."""

    category: str
    concept: str
    value: str
    reference: str | None


@dataclass(frozen=True, slots=True)
class SentenceToBreak:
    """A sentence of a summary, to be changed so that it contradicts itself in the text (MedHal, figure 4).

    Attributes:
        key: names the sentence; choices of the rules are stable hashes of it.
        text: the summary that the sentence is taken from.
        sentence: as it stands in the text.
        context: what was summarised; what stands there must not make the changed sentence true.
        denials: a denial may be put in or taken out; without it only what the sentence says may be exchanged.
    """

    key: str
    text: str
    sentence: str
    context: str = ""
    denials: bool = True


@dataclass(frozen=True, slots=True)
class Written:
    """A sentence and the rule that made it (``lm`` for a model).

    Attributes:
        framed: the sentence quotes a question and names its answer.
    """

    text: str
    rule: str
    framed: bool = False


class Writer(Protocol):
    """Writes sentences; answers are in the order of the requests."""

    name: Literal["rules", "lm"]

    def answers(self, asked: Sequence[AnswerInWords]) -> list[Written | Refusal]:
        """Turn questions and options into statements."""

    def extractions(self, asked: Sequence[ExtractionInWords]) -> list[Written | Refusal]:
        """Turn extracted values into sentences."""

    def contradictions(self, asked: Sequence[SentenceToBreak]) -> list[Written | Refusal]:
        """Change sentences so that they no longer hold."""
