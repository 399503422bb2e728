"""Settings of stewardship: every number that the paper (arXiv 2512.19691) names or leaves open."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ground.settings_base import Section

__all__ = ["StewardSettings"]


class StewardSettings(Section):
    """How labels are audited, recomputed, triaged and adjudicated."""

    seed: int = Field(default=42, description="seed of every choice and every resample")
    runs: int = Field(default=5, ge=1, description="independent runs of the auditor and of the recomputation")
    audit_quorum: int = Field(default=4, ge=1, description="Suspicious verdicts that make a Likely Error")
    quorum: int = Field(default=4, ge=1, description="equal answers that make a recomputed label")
    near_quorum: int = Field(default=3, ge=1, description="equal answers that make one where another answer is near")
    near_rel_err: float = Field(default=0.05, ge=0, description="relative error up to which a number is near (assumed)")
    near_days: int = Field(default=1, ge=0, description="days up to which a date is near (assumed)")
    decimals: int = Field(default=2, ge=0, description="decimals to which numbers are rounded before they are compared")
    flag_rel_err: float = Field(
        default=0.05, ge=0, description="relative error above which two labels differ; dates: days"
    )
    agree_rel: float = Field(default=0.05, ge=0, description="share of the physician's value that agreement allows")
    ordinal_tolerance: float = Field(default=1, ge=0, description="points that agreement allows on an ordinal score")
    ordinal_limit: float = Field(
        default=20, gt=0, description="absolute value above which a whole number is continuous"
    )
    resamples: int = Field(default=10_000, ge=1, description="resamples of a bootstrap")
    turns: int = Field(default=8, ge=1, description="turns of a run with tools, the last answer included, at most")
    sandbox_seconds: int = Field(default=5, ge=1, description="time that a call of the Python sandbox has, at most")
    sandbox_mb: int = Field(
        default=512, ge=64, description="memory in MB that a call of the Python sandbox has, at most"
    )
    review_rows: int = Field(default=50, ge=1, description="rows that physicians review")
    finalise: Literal["physician", "released"] = Field(
        default="physician",
        description="physician: his label wherever he gave one; released: as in the released data, where he disagrees",
    )
