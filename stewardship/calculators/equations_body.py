"""Weight, height, and what follows from them."""

from __future__ import annotations

from stewardship.calculators.features import Features
from stewardship.calculators.registry import Version, calculator

__all__ = ["body_mass_index"]


def body_mass_index(weight: float, height: float) -> float:
    """Return the body mass index in kg/m\u00b2.

    Args:
        weight: kg.
        height: m.
    """
    return weight / height**2


@calculator(6)
def _(features: Features, version: Version) -> float:
    return body_mass_index(features.quantity("weight", "kg"), features.quantity("height", "m"))
