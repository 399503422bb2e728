"""What a language model is asked in phases 1 and 2 (paper 2.3 and 2.4; its appendix A is lost): our own words.

The two phases see different things, and their types hold that: an auditor gets a `Claim`, with the label and how it
came about; a recomputation gets a `Question`, which has no place for either.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ground.lm.cache import content_key
from ground.lm.results import Message

__all__ = [
    "FAILURE_MODES",
    "AuditAnswer",
    "Claim",
    "Extracted",
    "FailureMode",
    "Question",
    "Script",
    "audit_script",
    "recompute_script",
]

FailureMode = Literal["feature_extraction", "aggregation_logic", "not_answerable"]
FAILURE_MODES: tuple[FailureMode, ...] = get_args(FailureMode)

NOTHING = "(not given)"


@dataclass(frozen=True)
class Question:
    """All that a recomputation sees of a row; ``uid`` is not shown to a model."""

    uid: str
    context: str
    question: str


@dataclass(frozen=True)
class Claim:
    """What an auditor sees of a row: the question, the label, and how the label came about.

    Attributes:
        uid: the row; not shown to a model.
        features: what the label was computed from; None where the benchmark does not say.
        derivation: how it was computed, in words; None where the benchmark does not say.
        name: of the score, or of the kind of question.
    """

    uid: str
    context: str
    question: str
    label: str
    features: str | None = None
    derivation: str | None = None
    name: str | None = None


@dataclass(frozen=True)
class Extracted:
    """What a recomputation by a local calculator sees of a row: features that others took from the note.

    Attributes:
        features: a cell ``Relevant Entities``.
    """

    uid: str
    name: str
    features: str


class AuditAnswer(BaseModel):
    """An auditor's answer: the four steps, then the verdict. A Suspicious one must say what is wrong."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rule: str = Field(description="step 1: the scoring rule that the question calls for, and its version")
    criteria: str = Field(description="step 2: is every input in the note and clear? quote the note")
    features: str = Field(description="step 3: where the extracted features agree or disagree with the note")
    calculation: str = Field(description="step 4: the check by your own calculation, and its result")
    verdict: Literal["Suspicious", "Pass"]
    failure_mode: Literal["feature_extraction", "aggregation_logic", "not_answerable", "none"]
    critique: str = Field(description="Suspicious: the fault and its clinical meaning; Pass: an empty text")

    @model_validator(mode="after")
    def _says_what_is_wrong(self) -> AuditAnswer:
        if self.verdict == "Suspicious" and (self.failure_mode == "none" or not self.critique.strip()):
            raise ValueError("a Suspicious verdict needs a failure_mode other than none, and a critique")
        return self


@dataclass(frozen=True)
class Script:
    """How a model is asked in one phase.

    Attributes:
        answer: schema of the last answer; None: text that ends with ``<answer>...</answer>``.
    """

    system: str
    answer: type[BaseModel] | None

    def messages(self, item: Claim | Question) -> tuple[Message, ...]:
        """Return the conversation's first messages for a row."""
        display = _claim(item) if isinstance(item, Claim) else _question(item)
        return Message(role="system", content=self.system), Message(role="user", content=display)

    def describe(self) -> dict[str, Any]:
        """Return what stands for the words of this script."""
        blank = Claim("", "", "", "") if self.answer else Question("", "", "")
        shape = json.dumps(self.answer.model_json_schema(), sort_keys=True) if self.answer else ""
        return {"prompt": content_key({"said": [m.model_dump() for m in self.messages(blank)], "shape": shape})}


AUDIT = """\
You audit the labels of a clinical benchmark. You are shown a patient note, a question about it, the benchmark's \
label, the features that its authors took from the note, and how they computed the label from them. Judge that \
label and its derivation; do not propose a label of your own.

Work in four steps:
1. Rule. Name the scoring rule that the question calls for, in its published form{looking}.
2. Criteria. Check that every input which the rule needs is in the note and has one clear meaning, and that the rule \
is made for such a patient.
3. Features. Compare each extracted feature with what the note says: value, unit, time, whether it is this patient's. \
A feature that the label did not use is no fault.
4. Calculation. Compute the result under the rule from the right features, and compare it with the label.

Be conservative. The verdict is Suspicious only if you can state one concrete fault that changes the result in a way \
that matters clinically. Rounding, a choice between accepted versions of a rule, and a matter on which careful \
clinicians may differ are no faults. In doubt the verdict is Pass.

A Suspicious verdict names where the fault lies:
- feature_extraction: a feature is missing, misread, or not supported by the note;
- aggregation_logic: the features are right, but the rule, its points, its units or the arithmetic are wrong;
- not_answerable: the note lacks an input that the rule needs, or the rule is not meant for this patient, so that the \
right label would be N/A.
If several apply, name the first one that makes the label wrong."""

AUDIT_CATEGORIES = """

The label is one of {categories}. Read "rule" as the definitions of these labels in the question, "features" as the \
evidence that is given, and "calculation" as the step from that evidence to the label."""

RECOMPUTE = """\
You compute clinical scores from patient notes. You are shown a note and a question, and nothing else; answer from \
the note.

Work in four steps:
1. Rule. Name the scoring rule that the question calls for, in its published form and in the version that the question \
names{looking}.
2. Inputs. Find every input of the rule in the note and quote it: value, unit, and time.
3. Points. Turn the inputs into the units or the points of the rule.
4. Result. Compute{computing}.

Do not guess. If the note lacks an input that the rule needs, if an input has no clear meaning, or if the rule is not \
meant for this patient, the answer is N/A. A finding that a rule counts when present, and that the note does not \
mention, counts as absent. A value that the question tells you to assume is given.

End with the result in exactly this form, once, on a line of its own:
<answer>RESULT</answer>
RESULT is one of:
- a number without its unit, in the unit that the question asks for, with two decimals or more unless it is whole, and \
with three significant digits or more below 0.1;
- a date as MM/DD/YYYY;
- a length of pregnancy as (W weeks, D days);
- N/A."""

RECOMPUTE_CATEGORIES = """\
You label statements about patients. You are shown the evidence and a question, and nothing else; answer from them.

Work in four steps:
1. Rule. Say what the question defines the labels to mean{looking}.
2. Evidence. Quote what the text says about the statement.
3. Judgement. Hold the evidence against each definition.
4. Result. Choose the one label that fits{computing}.

Do not guess. If the text does not allow a choice, the answer is N/A.

End with the result in exactly this form, once, on a line of its own:
<answer>RESULT</answer>
RESULT is one of: {categories}, N/A."""

TOOLS = """

You have these tools:
{manuals}
In each turn you either call one tool or give your answer, as the JSON schema says; you have {turns} turns. What a \
tool returns is material to judge: where it disagrees with published definitions, say so."""

ANSWER_HERE = "\nThe member `answer` of your last turn ends with that line."


def audit_script(
    *, categories: Sequence[str] = (), manuals: Sequence[str] = (), turns: int = 1, looking: bool = False
) -> Script:
    """Return how an auditor is asked (paper 2.3: four steps, conservative; 3.1: three failure modes).

    Args:
        categories: names that labels can be, where they are names.
        manuals: of the tools, one text each; with them the answer comes in turns.
        looking: whether a tool can look up definitions.
    """
    system = AUDIT.format(looking=_looking(looking))
    if categories:
        system += AUDIT_CATEGORIES.format(categories=", ".join(categories))
    return Script(system + _tools(manuals, turns), AuditAnswer)


def recompute_script(
    *,
    categories: Sequence[str] = (),
    manuals: Sequence[str] = (),
    turns: int = 1,
    looking: bool = False,
    computing: bool = False,
) -> Script:
    """Return how a recomputation is asked (paper 2.4: four steps, abstention, a strict form); as `audit_script`.

    Args:
        categories: names that labels can be, where they are names.
        manuals: of the tools, one text each; with them the answer comes in turns.
        looking: whether a tool can look up definitions.
    """
    text = RECOMPUTE_CATEGORIES if categories else RECOMPUTE
    system = text.format(
        looking=_looking(looking),
        computing=", with a tool rather than in your head" if computing else "",
        categories=", ".join(categories),
    )
    return Script(system + _tools(manuals, turns) + (ANSWER_HERE if manuals else ""), None)


def _looking(looking: bool) -> str:
    return "; look it up where you are not certain" if looking else ""


def _tools(manuals: Sequence[str], turns: int) -> str:
    return TOOLS.format(manuals="\n".join(f"- {manual}" for manual in manuals), turns=turns) if manuals else ""


def _question(item: Question) -> str:
    return f"# Patient note\n{_or_nothing(item.context)}\n\n# Question\n{_or_nothing(item.question)}"


def _claim(item: Claim) -> str:
    name = f"\n({item.name.strip()})" if item.name else ""
    return (
        f"# Patient note\n{_or_nothing(item.context)}\n\n# Question\n{_or_nothing(item.question)}{name}\n\n"
        f"# Label of the benchmark\n{_or_nothing(item.label)}\n\n# Extracted features\n{_or_nothing(item.features)}\n\n"
        f"# How the label was computed\n{_or_nothing(item.derivation)}"
    )


def _or_nothing(text: str | None) -> str:
    return (text or "").strip() or NOTHING
