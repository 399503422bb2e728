"""What a model is asked and how it must answer: the papers' fields and instructions, in our own words.

MedHal: figures 5 and 6. MedVAL: appendix C of its first version. Training and generation use the same prompt, so a
model is asked as it was taught.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ground.contracts.taxonomy import error_categories, risk_levels

__all__ = [
    "FACTUAL_EXPLANATION",
    "Answer",
    "medhal_answer",
    "medhal_prompt",
    "medval_answer",
    "medval_prompt",
]

FACTUAL_EXPLANATION = "The statement is factual"
NO_CONTEXT = "(none)"

MEDHAL_TASK = """\
### Task
Decide whether a medical statement is factually accurate. It may refer to the context below.
- YES: all that the statement says is supported by the context.
- NO: at least one thing that it says is not supported by the context.
- Where no context is given, judge by established medical knowledge.
- Then explain your decision. For a factual statement the explanation is "The statement is factual".
Answer in this form:
Factual: YES or NO
Explanation: your explanation"""

MEDVAL_TASK = """\
### Task
Compare an output with the input that it was made from, which an expert wrote. The output followed the instruction.
- Call a claim an error only where it matters clinically (understanding, decisions, safety), given the instruction.
- Where the instruction asks for a short output, weigh the clinical effect of what is missing.
- Where it allows a long one, weigh whether what was added contradicts or exceeds the input.
- Name each error on a line of its own, numbered, with its category and a few words that quote the input or the output.
- Write "None" where there is no error.

### Error categories
{categories}

### Risk levels
{levels}

### Form of the answer
Reasoning: your reasoning on one line
Errors:
1. Category: explanation
Risk level: 1, 2, 3 or 4"""


@dataclass(frozen=True)
class Answer:
    """What a model should write; ``ends`` is False where the row does not know how the answer goes on.

    The loss of training covers the text, and the end-of-text token where ``ends``.
    """

    text: str
    ends: bool = True


def _line(text: str) -> str:
    # One line, so that no text can look like the next field of the answer.
    return " ".join(text.split())


def medhal_prompt(row: Mapping[str, Any]) -> str:
    """Return the question about one MedHal row (``context``, ``statement``)."""
    context = (row["context"] or "").strip() or NO_CONTEXT
    return f"{MEDHAL_TASK}\n\n### Context\n{context}\n\n### Statement\n{row['statement'].strip()}\n\n### Answer\n"


def medhal_answer(row: Mapping[str, Any]) -> Answer:
    """Return the answer to one MedHal row (``label``, ``explanation``).

    A non-factual row without an explanation (NLI sources give none) ends at "Explanation:" and stays open: its label
    is learnt, and neither an empty explanation nor stopping there is.
    """
    if row["label"]:
        return Answer(f"Factual: YES\nExplanation: {FACTUAL_EXPLANATION}")
    explanation = _line(row["explanation"] or "")
    if not explanation:
        return Answer("Factual: NO\nExplanation:", ends=False)
    return Answer(f"Factual: NO\nExplanation: {explanation}")


def medval_prompt(row: Mapping[str, Any]) -> str:
    """Return the question about one MedVAL row (``instruction``, ``input``, ``output``)."""
    task = MEDVAL_TASK.format(
        categories="\n".join(f"- {category['name']}: {category['means']}" for category in error_categories()),
        levels="\n".join(f"- {level['level']} ({level['risk']}): {level['means']}" for level in risk_levels()),
    )
    fields = "\n\n".join(f"### {name.capitalize()}\n{row[name].strip()}" for name in ("instruction", "input", "output"))
    return f"{task}\n\n{fields}\n\n### Answer\n"


def medval_answer(row: Mapping[str, Any]) -> Answer:
    """Return the answer to one MedVAL row (``reasoning``, ``errors``, ``risk_level``); no errors are "None"."""
    names = {category["category"]: category["name"] for category in error_categories()}
    errors = [
        f"{number}. {names[error['category']]}: {_line(error['text'])}" for number, error in enumerate(row["errors"], 1)
    ]
    return Answer(
        "\n".join(
            [
                f"Reasoning: {_line(row['reasoning'] or '')}".rstrip(),
                *(["Errors:", *errors] if errors else ["Errors: None"]),
                f"Risk level: {row['risk_level']}",
            ]
        )
    )
