"""Row contracts of MedHal and MedVAL: builders write only these, training and evaluation read only these.

As in `ground.contracts.rows`, each contract is a Python type, and its Arrow schema is made from it;
`ground.contracts.dictionary` says what each column means.
A dataset folder holds ``data/{train,validation,test}-*.parquet`` and ``manifest.json``.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict, get_args

import pyarrow as pa

from ground.contracts.rows import Int64, fields_of

__all__ = [
    "MEDHAL_SCHEMA",
    "MEDHAL_TASKS",
    "MEDVAL_CATEGORIES",
    "MEDVAL_DELTAS",
    "MEDVAL_ERROR",
    "MEDVAL_SCHEMA",
    "MEDVAL_TASKS",
    "RISK_LEVELS",
    "ErrorCategory",
    "Falsity",
    "LabelBasis",
    "MedhalRow",
    "MedhalTask",
    "MedhalWording",
    "MedvalErrorRow",
    "MedvalRow",
    "MedvalTask",
    "RiskLevel",
]

# The four tasks of MedHal (section 3) and our own: facts of admissions, judged by the graph.
MedhalTask = Literal["question_answering", "information_extraction", "nli", "summarization", "record_facts"]
MEDHAL_TASKS: tuple[MedhalTask, ...] = get_args(MedhalTask)

# Why a statement is not factual: the context, or medical knowledge, says what rules it out; or nothing says it.
Falsity = Literal["contradicted", "unsupported"]

# A statement quotes a question and names its answer, or is a sentence of its own.
MedhalWording = Literal["framed", "smooth"]

# MedVAL's seven tasks (its Table 2) and our own, which any discharge note can give.
MedvalTask = Literal[
    "medication2answer",
    "query2question",
    "report2impression",
    "report2simplified",
    "impression2simplified",
    "bhc2spanish",
    "dialogue2note",
    "course2diagnosis",
]
MEDVAL_TASKS: tuple[MedvalTask, ...] = get_args(MedvalTask)

# MedVAL's taxonomy: five hallucinations, three omissions, two misalignments of certainty, and the rest.
ErrorCategory = Literal[
    "fabricated_claim",
    "misleading_justification",
    "detail_misidentification",
    "false_comparison",
    "incorrect_recommendation",
    "missing_claim",
    "missing_comparison",
    "missing_context",
    "overstating_intensity",
    "understating_intensity",
    "other",
]
MEDVAL_CATEGORIES: tuple[ErrorCategory, ...] = get_args(ErrorCategory)

RiskLevel = Literal[1, 2, 3, 4]
RISK_LEVELS: tuple[RiskLevel, ...] = get_args(RiskLevel)
# What a risk level rests on: the edits that made the output, where the validator finds their level, or the validator.
LabelBasis = Literal["by_construction", "validator"]
# The perturbation that a level stands for: level = 1 + 3 * delta.
MEDVAL_DELTAS: dict[RiskLevel, float] = {1: 0.0, 2: 1 / 3, 3: 2 / 3, 4: 1.0}


class MedhalRow(TypedDict):
    """One statement judged factual or not, given a context or, without one, general medical knowledge.

    Both rows of a pair belong to the same versions (section 3.8).
    """

    id: str
    pair_id: str
    context: str | None
    statement: str
    label: bool
    falsity: Falsity | None
    explanation: str | None
    inner_id: str
    source: str
    task: MedhalTask
    synthetic: bool
    wording: MedhalWording
    licence: str
    subject_id: Int64 | None
    in_length_filtered: bool
    in_balanced: bool
    split: Literal["train", "validation", "test"]


class MedvalErrorRow(TypedDict):
    """One error of an output: its category, what is wrong in a few words, and the exact words it is about."""

    category: ErrorCategory
    text: str
    quote: str | None
    quoted_from: Literal["input", "output"] | None


MEDVAL_ERROR = pa.struct(fields_of(MedvalErrorRow))


class MedvalRow(TypedDict):
    """One output judged against its input: reasoning, errors and a risk level."""

    id: str
    triple_id: str
    task: MedvalTask
    variant: Literal["clean", "perturbed", "observed"]
    instruction: str
    input: str
    output: str
    reasoning: str | None
    errors: Annotated[list[MedvalErrorRow], pa.list_(MEDVAL_ERROR)]
    risk_level: Annotated[RiskLevel, pa.int8()]
    label_basis: LabelBasis | None
    delta: float | None
    consistency: float | None
    engine: Literal["rules", "lm", "expert"]
    inner_id: str
    source: str
    licence: str
    subject_id: Int64 | None
    split: Literal["train", "validation", "test"]


MEDHAL_SCHEMA = pa.schema(fields_of(MedhalRow))
MEDVAL_SCHEMA = pa.schema(fields_of(MedvalRow))
