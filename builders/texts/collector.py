"""How often Python looks for circles of objects where rules read texts: many objects are made there, and no circle."""

from __future__ import annotations

import gc

__all__ = ["collect_rarely"]

YOUNG = 20_000
"""New objects until it looks; it took a twentieth of a build with Python's own 700."""


def collect_rarely() -> None:
    """Let this process look rarely, and never again at what it has opened by now."""
    gc.freeze()
    gc.set_threshold(YOUNG)
