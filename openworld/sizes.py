"""Sizes of the real releases, and worlds that are so many times smaller."""

from __future__ import annotations

from ground.errors import UsageError
from openworld.filler import MAX_FILLER, FillerPlan

__all__ = ["LEAST_SCALE", "REAL_BYTES", "REAL_SIZES", "sizes"]

REAL_SIZES = {
    "note/discharge": 331_794,
    "hosp/diagnoses_icd": 6_400_000,
    "hosp/prescriptions": 20_000_000,
    "MRCONSO.RRF": 17_000_000,
    "MRREL.RRF": 60_000_000,
}
"""Rows of MIMIC-IV 3.1, MIMIC-IV-Note 2.2 and UMLS, rounded."""
REAL_BYTES = {"MRHIER.RRF": 5_500_000_000, "MRSAT.RRF": 8_800_000_000, "MRDEF.RRF": 124_000_000}
"""Of UMLS 2025AA, rounded. Source: github.com/vitaglianog/umls-server, UMLS_2025AA_ANALYSIS.md"""
LEAST_SCALE = 0.0005
PATIENTS = 473_000
"""So many have 332,000 notes, where 39% of the admissions have none."""


def sizes(scale: float) -> tuple[int, FillerPlan]:
    """Return patients and filler of a world at a scale, 1 for that of the real releases.

    The filler alone gives the rows of MRCONSO and MRREL.

    Raises:
        UsageError: the scale is out of range.
    """
    if not LEAST_SCALE <= scale <= 1:
        raise UsageError("the scale is out of range", found=f"{scale:g}", expected=f"{LEAST_SCALE:g} to 1")
    return round(PATIENTS * scale), FillerPlan(round(MAX_FILLER * scale), names=6, relations=11, whole=True)
