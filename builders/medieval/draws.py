"""The draws of very many candidates: an integer mix of two stable hashes, the same on every machine and version.

A draw is made for each of hundreds of millions of candidates; `ground.stable` would take minutes. So it hashes what is
chosen for, and each concept, once; their numbers are mixed here. Never a position in an array: other rows move it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["exponential", "mixed"]

Hashes = npt.NDArray[np.uint64]

GOLDEN, FIRST, SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def mixed(state: Hashes, step: Hashes) -> Hashes:
    """Return a hash of each pair of hashes, which depends on their order. Shape: (n,)

    The step and the finalizer of SplitMix64 (Steele, Lea and Flood, Fast splittable pseudorandom number generators,
    OOPSLA 2014): ``state``, and ``step`` times the golden ratio.
    """
    number: Hashes = state + step * GOLDEN
    number = (number ^ number >> np.uint64(30)) * FIRST
    number = (number ^ number >> np.uint64(27)) * SECOND
    number ^= number >> np.uint64(31)
    return number


def exponential(hashes: Hashes) -> npt.NDArray[np.float64]:
    """Return exponential draws of mean 1. Shape: (n,)"""
    # A number in the half-open interval (0, 1], as `ground.stable.unit_of` has it.
    unit = ((hashes >> np.uint64(11)).astype(np.float64) + 1) * 2.0**-53
    draws: npt.NDArray[np.float64] = -pc.ln(pa.array(unit)).to_numpy()
    return draws
