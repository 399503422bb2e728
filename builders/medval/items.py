"""What goes through MedVAL: inputs with their references, outputs, edits and judgements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from builders.texts.origin import Origin, Refusal
from ground.contracts.rows_text import ErrorCategory, MedvalErrorRow, MedvalTask, RiskLevel

__all__ = ["NO_EDIT", "Edit", "Generator", "Item", "Judgement", "Output", "Peers", "Validator"]


NO_EDIT = "no_edit_at_level_"
"""How a refusal begins with which a generator says that it cannot reach a level; the level follows."""


@dataclass(frozen=True, slots=True)
class Item:
    """One input of a task.

    Attributes:
        input: what the output is made from.
        reference: an output written by a person, where the source has one.
    """

    origin: Origin
    task: MedvalTask
    input: str
    reference: str | None


Peers = Mapping[tuple[MedvalTask, str], Sequence[Item]]
"""Some items of each task and source, from whose references the words of edits are taken."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One change that was made to a clean output, with its known clinical weight.

    Attributes:
        rule: the rule that made it, such as ``dose`` or ``negation_flip``.
        category: of MedVAL's taxonomy; None for a change without clinical meaning (delta 0).
        before: the words of the clean output that were replaced or left out; empty where something was added.
        after: the words in the perturbed output; empty where something was left out.
        begin: where the change begins in the clean output (code points).
        evidence: why it weighs what it weighs (``sibling of C0000001``, ``contraindicated_with C0000002``), without
            words of the note.
    """

    rule: str
    category: ErrorCategory | None
    before: str
    after: str
    begin: int
    evidence: str


@dataclass(frozen=True, slots=True)
class Output:
    """A generated output: the clean one has no edits of clinical meaning, the perturbed one reaches its level."""

    text: str
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a validator says of an output; it saw the input and the output only."""

    reasoning: str
    errors: tuple[MedvalErrorRow, ...]
    risk_level: RiskLevel

    @property
    def score(self) -> float:
        """The predicted degradation in [0, 1]: (level - 1) / 3 (MedVAL, Table 1)."""
        return (self.risk_level - 1) / 3


class Generator(Protocol):
    """Makes clean and perturbed outputs; answers are in the order of the items."""

    by_construction: bool
    """The level of an output is known by the edits that made it; else only the validator can tell it."""

    def clean(self, items: Sequence[Item]) -> list[Output | Refusal]:
        """Make an output without an error for each item: its reference, an extract, or generated text."""

    def perturb(
        self, items: Sequence[Item], clean: Sequence[Output], levels: Sequence[RiskLevel]
    ) -> list[Output | Refusal]:
        """Make an output at a level of degradation for each item (delta = (level - 1) / 3)."""


class Validator(Protocol):
    """Judges outputs against inputs, without access to edits; answers are in the order of the items."""

    def judge(self, items: Sequence[Item], outputs: Sequence[str]) -> list[Judgement | Refusal]:
        """Name the errors of each output and its risk level."""
