"""Row contracts of the datasets: builders write only these, training and stewardship read only these.

Each contract is a Python type; the Arrow schema, how rows lie on disk, is made from it. What each column means is
written in `ground.contracts.dictionary`, and nowhere else.
"""

from __future__ import annotations

from types import UnionType
from typing import Annotated, Any, Literal, TypedDict, Union, get_args, get_origin, get_type_hints

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
    "Int64",
    "MedievalRow",
    "PathEdgeRow",
    "Quadrant",
    "StatementRow",
    "SupportLevel",
    "SupportSpanRow",
    "choices_of",
    "fields_of",
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

Int32 = Annotated[int, pa.int32()]
Int64 = Annotated[int, pa.int64()]
ARROW_TYPES = {str: pa.string(), bool: pa.bool_(), float: pa.float64()}


def fields_of(row: Any, *, nullable: bool = False) -> list[pa.Field]:
    """Return the Arrow fields of a row type: null only where it says ``None``, or everywhere with ``nullable``."""
    return [_field(name, hint, nullable) for name, hint in get_type_hints(row, include_extras=True).items()]


def choices_of(row: Any) -> dict[str, tuple[Any, ...]]:
    """Return the values of each column of a row type that has only so many, by its name."""
    kinds = {name: _kinds(hint)[0] for name, hint in get_type_hints(row).items()}
    return {name: get_args(kind) for name, kind in kinds.items() if get_origin(kind) is Literal}


def _kinds(hint: Any) -> list[Any]:
    """Return what a hint says that a value may be, None left out."""
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    return [kind for kind in kinds if kind is not type(None)]


def _field(name: str, hint: Any, nullable: bool) -> pa.Field:
    kind, *_ = _kinds(hint)
    if get_origin(kind) is Annotated:
        arrow_type = get_args(kind)[1]
    else:
        arrow_type = ARROW_TYPES[type(get_args(kind)[0]) if get_origin(kind) is Literal else kind]
    return pa.field(name, arrow_type, nullable=nullable or type(None) in get_args(hint))


class PathEdgeRow(TypedDict):
    """One edge of the path that makes a statement true, read head PREDICATE tail, with its evidence in the release."""

    head_cui: str
    predicate: str
    rela: str
    tail_cui: str
    sab: str
    rui: str


PATH_EDGE = pa.struct(fields_of(PathEdgeRow, nullable=True))


class SupportSpanRow(TypedDict):
    """One mention that attests an end; half-open offsets in code points of ``mimiciv_note.discharge.text``."""

    role: Literal["head", "tail"]
    cui: str
    begin_offset: Int32
    end_offset: Int32
    text: str
    section: str


SUPPORT_SPAN = pa.struct(fields_of(SupportSpanRow, nullable=True))


class DeniedSpanRow(SupportSpanRow):
    """One mention that names an end and says that it is not so (docs/definitions.md#contradicted)."""

    assertion: Literal["absent", "family", "allergy", "historical", "planned"]


DENIED_SPAN = pa.struct(fields_of(DeniedSpanRow, nullable=True))


class MedievalRow(TypedDict):
    """One sample of MediEval: a statement judged in the context of one admission (docs/definitions.md)."""

    id: str
    group_id: str
    subject_id: Int64
    hadm_id: Int64
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
    hops: Int32
    tier: Literal["stated", "equivalent", "inherited", "plausible"] | None
    support_level: SupportLevel
    path: Annotated[list[PathEdgeRow], pa.list_(PATH_EDGE)]
    support_spans: Annotated[list[SupportSpanRow], pa.list_(SUPPORT_SPAN)]
    replaced_end: Literal["head", "tail", "none"]
    replaced_cui: str | None
    distance: Int32 | None
    why_false: str | None
    split: Literal["train", "validation", "test"]
    fact_split: Literal["train", "validation", "test"] | None
    given: Literal["none", "head", "tail", "both"]
    fold: Int32


class ContradictedRow(MedievalRow):
    """One row of the configuration ``contradicted``: contradicted, with the denials, or the copy of a supported row."""

    denied_spans: Annotated[list[DeniedSpanRow], pa.list_(DENIED_SPAN)]


class StatementRow(TypedDict):
    """One distinct statement and how many samples use it."""

    statement: str
    predicate: str
    head_cui: str
    tail_cui: str
    is_true: bool
    n_samples: Int64


MEDIEVAL_SCHEMA = pa.schema(fields_of(MedievalRow))
CONTRADICTED_SCHEMA = pa.schema(fields_of(ContradictedRow))
STATEMENT_SCHEMA = pa.schema(fields_of(StatementRow))
