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

__all__ = ["FIRST_FILLER", "MAX_FILLER", "NO_FILLER", "FillerPlan", "filler_batches"]

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


NO_FILLER = FillerPlan()


def _mix(values: Integers, seed: int) -> Integers:
    """Scramble 64-bit integers (splitmix64's finaliser): the same on every machine."""
    with np.errstate(over="ignore"):
        mixed = values + np.uint64(seed)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def _word(words: tuple[str, ...], values: Integers) -> pl.Series:
    return pl.Series(np.array(words, dtype=object)[(values % np.uint64(len(words))).astype(np.int64)], dtype=pl.String)


def _digits(numbers: Integers, width: int = 1) -> pl.Series:
    return pl.Series(numbers.astype(np.int64)).cast(pl.String).str.pad_start(width, "0")


def _cui(numbers: Integers) -> pl.Series:
    return "C" + _digits(numbers + np.uint64(FIRST_FILLER), 7)


def _names(numbers: Integers, plan: FillerPlan) -> pl.DataFrame:
    """Return rows of MRCONSO, concepts x names."""
    concept = np.repeat(numbers, plan.names)
    nth = np.tile(np.arange(plan.names, dtype=np.uint64), len(numbers))
    atom = _digits(concept * np.uint64(plan.names) + nth, 8)
    mixed = _mix(concept * np.uint64(64) + nth, plan.seed)
    words = [_word(GRADES, mixed), _word(SITES, mixed >> np.uint64(8)), _word(FORMS, mixed >> np.uint64(16))]
    cui, first = _cui(concept), pl.Series(nth == 0)
    return pl.select(
        CUI=cui,
        LAT=pl.lit("ENG"),
        TS=pl.when(first).then(pl.lit("P")).otherwise(pl.lit("S")),
        LUI="L5" + atom,
        STT=pl.lit("PF"),
        SUI="S5" + atom,
        ISPREF=pl.lit("Y"),
        AUI="A5" + atom,
        SCUI="5" + cui.str.slice(1),
        SAB=pl.lit("SNOMEDCT_US"),
        TTY=pl.when(first).then(pl.lit("PT")).otherwise(pl.lit("SY")),
        CODE="5" + cui.str.slice(1),
        STR=pl.concat_str(*words, _digits(concept), _digits(nth), separator=" "),
        SRL=pl.lit("0"),
        SUPPRESS=pl.lit("N"),
    )


def _types(numbers: Integers) -> pl.DataFrame:
    """Return rows of MRSTY, one a concept."""
    which, cui = numbers % np.uint64(len(TYPES)), _cui(numbers)
    columns = {
        name: _word(tuple(kind[place] for kind in TYPES), which) for place, name in enumerate(("TUI", "STN", "STY"))
    }
    return pl.DataFrame({"CUI": cui, **columns, "ATUI": "AT5" + cui.str.slice(1)})


def _relations(numbers: Integers, plan: FillerPlan) -> Iterator[pl.DataFrame]:
    """Yield rows of MRREL in both directions, one a concept; the first one is isa, to a lower number."""
    for nth in range(plan.relations):
        rela, inverse, rel, inverse_rel, sab = RELATIONS[0] if nth == 0 else RELATIONS[1 + nth % (len(RELATIONS) - 1)]
        mixed = _mix(numbers * np.uint64(64) + np.uint64(nth + 1), plan.seed + 1)
        target = mixed % np.maximum(numbers, np.uint64(1)) if nth == 0 else mixed % np.uint64(plan.concepts)
        keep = target != numbers
        head, tail = _cui(numbers[keep]), _cui(target[keep])
        rui = _digits(numbers[keep] * np.uint64(plan.relations) + np.uint64(nth), 9)
        yield _relation_frame(tail, head, "R3" + rui, REL=rel, RELA=rela, SAB=sab, SL=sab)
        yield _relation_frame(head, tail, "R4" + rui, REL=inverse_rel, RELA=inverse, SAB=sab, SL=sab)


def _relation_frame(first: pl.Series, second: pl.Series, rui: pl.Series, **labels: str) -> pl.DataFrame:
    constant = {"STYPE1": "CUI", "STYPE2": "CUI", "SUPPRESS": "N", **labels}
    return pl.DataFrame({"CUI1": first, "CUI2": second, "RUI": rui}).with_columns(
        pl.lit(value).alias(name) for name, value in constant.items()
    )


def _atoms(numbers: Integers, plan: FillerPlan) -> pl.Series:
    """Return the AUIs of the preferred names."""
    return "A5" + _digits(numbers * np.uint64(plan.names), 8)


def _contexts(numbers: Integers, plan: FillerPlan) -> Iterator[pl.DataFrame]:
    """Yield rows of MRHIER, one a concept: the path of the isa of MRREL, and as many by other parents."""
    cui, aui = _cui(numbers), _atoms(numbers, plan)
    for nth in range(CONTEXTS):
        # As _relations: parents have lower numbers, and 0 is the root.
        at, above = numbers, list[pl.Series]()
        for step in range(DEPTH):
            mixed = _mix(at * np.uint64(64) + np.uint64(1 + (nth if step == 0 else 0)), plan.seed + 1)
            parent = mixed % np.maximum(at, np.uint64(1))
            above.append(pl.select(pl.when(pl.Series(at > 0)).then(_atoms(parent, plan))).to_series())
            at = parent
        yield pl.select(
            CUI=cui,
            AUI=aui,
            CXN=pl.lit(str(nth + 1)),
            PAUI=above[0],
            SAB=pl.lit("SNOMEDCT_US"),
            RELA=pl.lit("isa"),
            PTR=pl.concat_str(above[::-1], separator=".", ignore_nulls=True),
        ).filter(pl.col("PAUI").is_not_null())


def _attributes(numbers: Integers, plan: FillerPlan) -> Iterator[pl.DataFrame]:
    """Yield rows of MRSAT that no stage reads, one a concept."""
    cui, atom = _cui(numbers), _digits(numbers * np.uint64(plan.names), 8)
    for nth in range(ATTRIBUTES_EACH):
        value = _mix(numbers * np.uint64(64) + np.uint64(nth), plan.seed + 2) >> np.uint64(16)
        yield pl.select(
            CUI=cui,
            LUI="L5" + atom,
            SUI="S5" + atom,
            METAUI="A5" + atom,
            STYPE=pl.lit("AUI"),
            CODE="5" + cui.str.slice(1),
            ATUI=f"AT{10 + nth}" + cui.str.slice(1),
            ATN=pl.lit(ATTRIBUTES[nth % len(ATTRIBUTES)]),
            SAB=pl.lit("SNOMEDCT_US"),
            ATV=_digits(value),
            SUPPRESS=pl.lit("N"),
        )


def _definitions(numbers: Integers, plan: FillerPlan) -> pl.DataFrame:
    """Return rows of MRDEF for some of the concepts."""
    some = numbers[numbers % np.uint64(100) < np.uint64(DEFINED_OF_HUNDRED)]
    words = [
        _word(GRADES + SITES + FORMS, _mix(some * np.uint64(64) + np.uint64(nth), plan.seed + 3)) for nth in range(31)
    ]
    return pl.select(
        CUI=_cui(some),
        AUI=_atoms(some, plan),
        ATUI="AT4" + _cui(some).str.slice(1),
        SAB=pl.lit("NCI"),
        DEF=pl.concat_str(words, separator=" "),
        SUPPRESS=pl.lit("N"),
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
