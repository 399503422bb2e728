"""Filler concepts for benchmarks: names from word lists and relations between them, made in batches by arithmetic.

Filler concepts have the CUIs C7000000 to C9799999, below the world's own, and no patient has them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from ground.errors import UsageError
from ground.stable import stable_hash

__all__ = ["FIRST_FILLER", "MAX_FILLER", "FillerPlan", "filler_batches"]

FIRST_FILLER = 7_000_000
MAX_FILLER = 2_800_000
BATCH_CONCEPTS = 20_000
SITES = (
    "colic",
    "renal",
    "hepatic",
    "tibial",
    "orbital",
    "dorsal",
    "gastric",
    "cervical",
    "nasal",
    "femoral",
    "pleural",
)
FORMS = (
    "sclerosis",
    "stenosis",
    "dystrophy",
    "atrophy",
    "ectasia",
    "lithiasis",
    "fibrosis",
    "dysplasia",
    "plasty",
    "itis",
)
GRADES = ("primary", "secondary", "juvenile", "senile", "familial", "sporadic", "focal", "diffuse", "mild", "marked")
RELATIONS = (
    ("isa", "inverse_isa", "CHD", "PAR", "SNOMEDCT_US"),
    ("may_treat", "may_be_treated_by", "RO", "RO", "MED-RT"),
    ("associated_with", "associated_with", "RO", "RO", "SNOMEDCT_US"),
    ("cause_of", "due_to", "RO", "RO", "SNOMEDCT_US"),
)
TYPES = (
    ("T047", "B2.2.1.2.1", "Disease or Syndrome"),
    ("T121", "A1.4.1.1.1", "Pharmacologic Substance"),
    ("T184", "A2.2.2", "Sign or Symptom"),
)

CONTEXTS, DEPTH = 11, 12
ATTRIBUTES = (
    "ACTIVE",
    "CASE_SIGNIFICANCE_ID",
    "CTV3ID",
    "DEFINITION_STATUS_ID",
    "EFFECTIVE_TIME",
    "MODULE_ID",
    "SUBSET_MEMBER",
    "TYPE_ID",
    "UMLSREL",
)
ATTRIBUTES_EACH, DEFINED_OF_HUNDRED = 26, 15
"""Rows of MRHIER, MRSAT and MRDEF for a filler concept, so that the files are as large as those of a release
(`openworld/sizes.py`)."""

Integers = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class FillerPlan:
    """How much filler: concepts, names of each, relations that start at each (two rows of MRREL for one relation).

    Attributes:
        whole: also contexts, attributes and definitions (MRHIER, MRSAT, MRDEF), as many as a release has.
    """

    concepts: int = 0
    names: int = 4
    relations: int = 7
    seed: int = 7
    whole: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.concepts <= MAX_FILLER:
            raise UsageError("too many filler concepts", found=str(self.concepts), expected=f"0 to {MAX_FILLER}")


def _mix(values: Integers, seed: int) -> Integers:
    """Scramble 64-bit integers (splitmix64's finaliser): the same on every machine."""
    with np.errstate(over="ignore"):
        mixed = values + np.uint64(seed)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def _word(words: tuple[str, ...], values: Integers) -> pl.Series:
    return pl.Series(np.array(words, dtype=object)[(values % np.uint64(len(words))).astype(np.int64)], dtype=pl.String)


def _cui(numbers: Integers) -> pl.Series:
    return pl.Series("cui", numbers.astype(np.int64) + FIRST_FILLER).cast(pl.String).str.pad_start(7, "0")


def _names(numbers: Integers, plan: FillerPlan) -> pl.DataFrame:
    """Return rows of MRCONSO: shape (concepts x names, 18)."""
    concept = np.repeat(numbers, plan.names)
    nth = np.tile(np.arange(plan.names, dtype=np.uint64), len(numbers))
    atom = concept * np.uint64(plan.names) + nth
    mixed = _mix(concept * np.uint64(64) + nth, plan.seed)
    frame = pl.DataFrame(
        {
            "cui": _cui(concept),
            "atom": pl.Series(atom.astype(np.int64)).cast(pl.String).str.pad_start(8, "0"),
            "grade": _word(GRADES, mixed),
            "site": _word(SITES, mixed >> np.uint64(8)),
            "form": _word(FORMS, mixed >> np.uint64(16)),
            "number": pl.Series(concept.astype(np.int64)).cast(pl.String),
            "first": pl.Series(nth == 0),
            "variant": pl.Series(nth.astype(np.int64)).cast(pl.String),
        }
    )
    cui = "C" + pl.col("cui")
    name = pl.concat_str("grade", "site", "form", "number", "variant", separator=" ")
    first = pl.col("first")
    empty = pl.lit("")
    return frame.select(
        CUI=cui,
        LAT=pl.lit("ENG"),
        TS=pl.when(first).then(pl.lit("P")).otherwise(pl.lit("S")),
        LUI="L5" + pl.col("atom"),
        STT=pl.lit("PF"),
        SUI="S5" + pl.col("atom"),
        ISPREF=pl.lit("Y"),
        AUI="A5" + pl.col("atom"),
        SAUI=empty,
        SCUI="5" + pl.col("cui"),
        SDUI=empty,
        SAB=pl.lit("SNOMEDCT_US"),
        TTY=pl.when(first).then(pl.lit("PT")).otherwise(pl.lit("SY")),
        CODE="5" + pl.col("cui"),
        STR=name,
        SRL=pl.lit("0"),
        SUPPRESS=pl.lit("N"),
        CVF=empty,
    )


def _types(numbers: Integers) -> pl.DataFrame:
    which = (numbers % np.uint64(len(TYPES))).astype(np.int64)
    columns = [
        pl.Series(np.array([kind[place] for kind in TYPES], dtype=object)[which], dtype=pl.String) for place in range(3)
    ]
    frame = pl.DataFrame({"cui": _cui(numbers), "TUI": columns[0], "STN": columns[1], "STY": columns[2]})
    cui = pl.col("cui")
    return frame.select(CUI="C" + cui, TUI="TUI", STN="STN", STY="STY", ATUI="AT5" + cui, CVF=pl.lit(""))


def _relations(numbers: Integers, plan: FillerPlan) -> Iterator[pl.DataFrame]:
    """Yield rows of MRREL in both directions, shape (concepts, 16); the first one is isa, to a lower number."""
    for nth in range(plan.relations):
        rela, inverse, rel, inverse_rel, sab = RELATIONS[0] if nth == 0 else RELATIONS[1 + nth % (len(RELATIONS) - 1)]
        mixed = _mix(numbers * np.uint64(64) + np.uint64(nth + 1), plan.seed + 1)
        target = mixed % np.maximum(numbers, np.uint64(1)) if nth == 0 else mixed % np.uint64(plan.concepts)
        keep = target != numbers
        first, second = _cui(numbers[keep]), _cui(target[keep])
        rui = pl.Series((numbers[keep] * np.uint64(plan.relations) + np.uint64(nth)).astype(np.int64))
        frame = pl.DataFrame({"a": first, "b": second, "rui": rui.cast(pl.String).str.pad_start(9, "0")})
        for mark, one, two, label, name in (("3", "b", "a", rel, rela), ("4", "a", "b", inverse_rel, inverse)):
            yield _relation_frame(frame, mark, (one, two), (label, name, sab))


def _relation_frame(
    frame: pl.DataFrame, mark: str, ends: tuple[str, str], labels: tuple[str, str, str]
) -> pl.DataFrame:
    empty, cui = pl.lit(""), pl.lit("CUI")
    return frame.select(
        CUI1="C" + pl.col(ends[0]),
        AUI1=empty,
        STYPE1=cui,
        REL=pl.lit(labels[0]),
        CUI2="C" + pl.col(ends[1]),
        AUI2=empty,
        STYPE2=cui,
        RELA=pl.lit(labels[1]),
        RUI="R" + mark + pl.col("rui"),
        SRUI=empty,
        SAB=pl.lit(labels[2]),
        SL=pl.lit(labels[2]),
        RG=empty,
        DIR=empty,
        SUPPRESS=pl.lit("N"),
        CVF=empty,
    )


def _atoms(numbers: Integers, plan: FillerPlan) -> pl.Series:
    """Return the AUIs of the preferred names."""
    first = (numbers * np.uint64(plan.names)).astype(np.int64)
    return "A5" + pl.Series(first).cast(pl.String).str.pad_start(8, "0")


def _contexts(numbers: Integers, plan: FillerPlan) -> Iterator[pl.DataFrame]:
    """Yield rows of MRHIER, shape (concepts, 9): the path of the isa of MRREL, and as many by other parents."""
    for nth in range(CONTEXTS):
        # As _relations: parents have lower numbers, and 0 is the root.
        at, above, path = numbers, list[pl.DataFrame](), list[str]()
        for step in range(DEPTH):
            mixed = _mix(at * np.uint64(64) + np.uint64(1 + (nth if step == 0 else 0)), plan.seed + 1)
            parent = mixed % np.maximum(at, np.uint64(1))
            above.append(pl.Series(f"above{step}", _atoms(parent, plan)).to_frame().with_columns(
                pl.when(pl.Series(at > 0)).then(pl.col(f"above{step}"))
            ))  # fmt: skip
            path.insert(0, f"above{step}")
            at = parent
        frame = pl.concat(
            [pl.DataFrame({"cui": _cui(numbers), "aui": _atoms(numbers, plan)}), *above], how="horizontal"
        )
        yield frame.filter(pl.col("above0").is_not_null()).select(
            CUI="C" + pl.col("cui"),
            AUI="aui",
            CXN=pl.lit(str(nth + 1)),
            PAUI="above0",
            SAB=pl.lit("SNOMEDCT_US"),
            RELA=pl.lit("isa"),
            PTR=pl.concat_str(path, separator=".", ignore_nulls=True),
            HCD=pl.lit(""),
            CVF=pl.lit(""),
        )


def _attributes(numbers: Integers, plan: FillerPlan) -> Iterator[pl.DataFrame]:
    """Yield rows of MRSAT that no stage reads, shape (concepts, 13)."""
    first = pl.Series((numbers * np.uint64(plan.names)).astype(np.int64)).cast(pl.String).str.pad_start(8, "0")
    frame = pl.DataFrame({"cui": _cui(numbers), "atom": first})
    cui, atom, empty = pl.col("cui"), pl.col("atom"), pl.lit("")
    for nth in range(ATTRIBUTES_EACH):
        value = pl.Series(
            (_mix(numbers * np.uint64(64) + np.uint64(nth), plan.seed + 2) >> np.uint64(16)).astype(np.int64)
        )
        yield frame.select(
            CUI="C" + cui,
            LUI="L5" + atom,
            SUI="S5" + atom,
            METAUI="A5" + atom,
            STYPE=pl.lit("AUI"),
            CODE="5" + cui,
            ATUI=pl.lit(f"AT{10 + nth}") + cui,
            SATUI=empty,
            ATN=pl.lit(ATTRIBUTES[nth % len(ATTRIBUTES)]),
            SAB=pl.lit("SNOMEDCT_US"),
            ATV=value.cast(pl.String),
            SUPPRESS=pl.lit("N"),
            CVF=empty,
        )


def _definitions(numbers: Integers, plan: FillerPlan) -> pl.DataFrame:
    """Return rows of MRDEF for some of the concepts, shape (n, 8)."""
    some = numbers[numbers % np.uint64(100) < np.uint64(DEFINED_OF_HUNDRED)]
    cui, empty = pl.col("cui"), pl.lit("")
    words = [
        _word(GRADES + SITES + FORMS, _mix(some * np.uint64(64) + np.uint64(nth), plan.seed + 3)) for nth in range(31)
    ]
    columns = {f"word{nth}": word for nth, word in enumerate(words)}
    return pl.DataFrame({"cui": _cui(some), "aui": _atoms(some, plan), **columns}).select(
        CUI="C" + cui,
        AUI="aui",
        ATUI="AT4" + cui,
        SATUI=empty,
        SAB=pl.lit("NCI"),
        DEF=pl.concat_str(list(columns), separator=" "),
        SUPPRESS=pl.lit("N"),
        CVF=empty,
    )


def filler_batches(plan: FillerPlan) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield (file name, rows) in batches of some 20,000 concepts; memory does not grow with the plan."""
    seeded = replace(plan, seed=stable_hash(plan.seed, "filler") % 2**62)
    for start in range(0, plan.concepts, BATCH_CONCEPTS):
        numbers = np.arange(start, min(start + BATCH_CONCEPTS, plan.concepts), dtype=np.uint64)
        yield "MRCONSO.RRF", _names(numbers, seeded)
        yield "MRSTY.RRF", _types(numbers)
        for frame in _relations(numbers, seeded):
            yield "MRREL.RRF", frame
        if plan.whole:
            for frame in _contexts(numbers, seeded):
                yield "MRHIER.RRF", frame
            for frame in _attributes(numbers, seeded):
                yield "MRSAT.RRF", frame
            yield "MRDEF.RRF", _definitions(numbers, seeded)
