"""What MedHal's sources give, one row type for each task, and what transformations make of it: pairs of claims."""

from __future__ import annotations

from dataclasses import dataclass

from builders.texts.origin import Origin
from ground.contracts.rows_text import Falsity

__all__ = ["Claim", "Extraction", "NliItem", "Pair", "QaItem", "SummaryItem"]


@dataclass(frozen=True, slots=True)
class QaItem:
    """A question with options (MedHal, section 3.2).

    Attributes:
        context: what the question is about where the source keeps it apart (an abstract), else None. A vignette that
            is part of the question stays in ``question``.
        answer: place of the right option.
        why: the source's explanation of the answer, where it has one.
        why_not: by place of a wrong option, the source's explanation of why that one is wrong, where it has one.
    """

    origin: Origin
    context: str | None
    question: str
    options: tuple[str, ...]
    answer: int
    why: str | None = None
    why_not: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Extraction:
    """A value that was extracted from a document (MedHal, section 3.3 and figure 3).

    Attributes:
        document: the whole source text, as the source has it.
        category: such as ``treatments`` or ``patient information``.
        concept: the kind of information, such as ``age`` or ``dosage``.
        value: what the document says.
        reference: what the value is about (a drug, a symptom), None where it stands alone.
        value_type: values of one type may be swapped between documents.
    """

    origin: Origin
    document: str
    category: str
    concept: str
    value: str
    reference: str | None
    value_type: str


@dataclass(frozen=True, slots=True)
class NliItem:
    """A premise and a hypothesis that it entails or contradicts; neutral ones are dropped (MedHal, section 3.4)."""

    origin: Origin
    premise: str
    hypothesis: str
    entailed: bool


@dataclass(frozen=True, slots=True)
class SummaryItem:
    """A text and its summary (MedHal, section 3.5)."""

    origin: Origin
    text: str
    summary: str


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement with its label.

    Attributes:
        explanation: what is wrong; None for factual claims, and where the source gives none (NLI).
        synthetic: a rule or a model wrote the statement.
        rule: the rule or template that made it, or ``lm``, or ``source`` where it was taken as it stands.
        falsity: why it is not factual; None for factual claims.
        framed: the statement quotes a question and names its answer.
    """

    statement: str
    factual: bool
    explanation: str | None
    synthetic: bool
    rule: str
    falsity: Falsity | None = None
    framed: bool = False


@dataclass(frozen=True, slots=True)
class Pair:
    """A factual claim and its non-factual partner over one context.

    Attributes:
        origin: of the item that they were made from; ``inner_id`` names the pair.
        guidance: what a judge may be shown beside context and statement: the right answer, or the original sentence
            (MedHal, section 3.7); None where the paper's judge sees nothing more.
    """

    origin: Origin
    context: str | None
    factual: Claim
    wrong: Claim
    guidance: str | None = None
