"""Row contracts of the datasets: builders write only these, training and stewardship read only these.

Each contract is a Python type (what one row means) and an Arrow schema (how it lies on disk); a test asserts that the
two agree. What each column means stands in `ground.contracts.dictionary`, and nowhere else.
"""

from __future__ import annotations

from typing import Literal, TypedDict, get_args

import pyarrow as pa

__all__ = [
    "CONTRADICTED_SCHEMA",
    "DENIED_SPAN",
    "MEDIEVAL_SCHEMA",
    "PATH_EDGE",
    "QUADRANTS",
    "STATEMENT_SCHEMA",
    "SUPPORT_LEVELS",
    "SUPPORT_SPAN",
    "WHY_FALSE",
    "ContradictedRow",
    "DeniedSpanRow",
    "MedievalRow",
    "PathEdgeRow",
    "Quadrant",
    "StatementRow",
    "SupportLevel",
    "SupportSpanRow",
]

Quadrant = Literal["Q1", "Q2", "Q3", "Q4"]
QUADRANTS: tuple[Quadrant, ...] = get_args(Quadrant)
SupportLevel = Literal["stated", "co_mentioned", "contradicted", "silent"]
SUPPORT_LEVELS: tuple[SupportLevel, ...] = get_args(SupportLevel)


_NO_PATH = "no path within 3 hops relates the two, in either direction"
WHY_FALSE = {
    "recombined_no_path_within_3_hops": f"the ends come from different facts, and {_NO_PATH}",
    "distant_no_path_within_3_hops": f"the new end is a distant concept, and {_NO_PATH}",
}
"""What the values of ``why_false`` mean; ``sql/builders/medieval/rows/proposition_row.sql`` gives them, and
``builders/medieval/judging.py`` decides what may be called false at all."""


class PathEdgeRow(TypedDict):
    """One edge of the path that makes a statement true, read head PREDICATE tail, with its evidence in the release."""

    head_cui: str
    predicate: str
    rela: str
    tail_cui: str
    sab: str
    rui: str


class SupportSpanRow(TypedDict):
    """One mention that attests an end; half-open offsets in code points of ``mimiciv_note.discharge.text``."""

    role: Literal["head", "tail"]
    cui: str
    begin_offset: int
    end_offset: int
    text: str
    section: str


class DeniedSpanRow(SupportSpanRow):
    """One mention that names an end and says that it is not so (docs/definitions.md#contradicted)."""

    assertion: Literal["absent", "family", "allergy", "historical", "planned"]


class MedievalRow(TypedDict):
    """One sample of MediEval: a statement judged in the context of one admission (docs/definitions.md)."""

    id: str
    group_id: str
    subject_id: int
    hadm_id: int
    context: str
    statement: str
    quadrant: Quadrant
    is_true: bool
    is_supported: bool
    predicate: str
    head_cui: str
    head_name: str
    tail_cui: str
    tail_name: str
    hops: int
    tier: Literal["stated", "equivalent", "inherited", "plausible"] | None
    support_level: SupportLevel
    path: list[PathEdgeRow]
    support_spans: list[SupportSpanRow]
    replaced_end: Literal["head", "tail", "none"]
    replaced_cui: str | None
    distance: int | None
    why_false: str | None
    split: Literal["train", "validation", "test"]
    fact_split: Literal["train", "validation", "test"] | None
    given: Literal["none", "head", "tail", "both"]
    fold: int


class ContradictedRow(MedievalRow):
    """One row of the configuration ``contradicted``: contradicted, with the denials, or the copy of a supported row."""

    denied_spans: list[DeniedSpanRow]


class StatementRow(TypedDict):
    """One distinct statement and how many samples use it."""

    statement: str
    predicate: str
    head_cui: str
    tail_cui: str
    is_true: bool
    n_samples: int


def required(*fields: tuple[str, pa.DataType]) -> list[pa.Field]:
    """Return fields that are never null."""
    return [pa.field(name, kind, nullable=False) for name, kind in fields]


PATH_EDGE = pa.struct(
    [(name, pa.string()) for name in ("head_cui", "predicate", "rela", "tail_cui", "sab", "rui")],
)
SUPPORT_SPAN = pa.struct(
    [
        ("role", pa.string()),
        ("cui", pa.string()),
        ("begin_offset", pa.int32()),
        ("end_offset", pa.int32()),
        ("text", pa.string()),
        ("section", pa.string()),
    ],
)

DENIED_SPAN = pa.struct([*SUPPORT_SPAN, ("assertion", pa.string())])

MEDIEVAL_SCHEMA = pa.schema(
    [
        *required(("id", pa.string()), ("group_id", pa.string()), ("subject_id", pa.int64()), ("hadm_id", pa.int64())),
        *required(("context", pa.string()), ("statement", pa.string()), ("quadrant", pa.string())),
        *required(("is_true", pa.bool_()), ("is_supported", pa.bool_()), ("predicate", pa.string())),
        *required(("head_cui", pa.string()), ("head_name", pa.string())),
        *required(("tail_cui", pa.string()), ("tail_name", pa.string()), ("hops", pa.int32())),
        pa.field("tier", pa.string()),
        *required(("support_level", pa.string()), ("path", pa.list_(PATH_EDGE))),
        *required(("support_spans", pa.list_(SUPPORT_SPAN)), ("replaced_end", pa.string())),
        pa.field("replaced_cui", pa.string()),
        pa.field("distance", pa.int32()),
        pa.field("why_false", pa.string()),
        *required(("split", pa.string())),
        pa.field("fact_split", pa.string()),
        *required(("given", pa.string()), ("fold", pa.int32())),
    ]
)

CONTRADICTED_SCHEMA = MEDIEVAL_SCHEMA.append(*required(("denied_spans", pa.list_(DENIED_SPAN))))

STATEMENT_SCHEMA = pa.schema(
    [
        *required(("statement", pa.string()), ("predicate", pa.string()), ("head_cui", pa.string())),
        *required(("tail_cui", pa.string()), ("is_true", pa.bool_()), ("n_samples", pa.int64())),
    ]
)
