"""Rates of answers by classes, with the standard library alone: `ontoground export` copies this file beside its tasks.

The definitions are those of `evaluation.rates`: an answer that cannot be read is missed by the class that it belongs to
and is a false alarm of none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

Pair = tuple[str, str | None]
"""The label, and the answer: None where it could not be read."""

CLASSES = {
    "quadrants": ("Q1", "Q2", "Q3", "Q4"),
    "medhal": ("factual", "non-factual"),
    "medval": ("1", "2", "3", "4"),
}


def _share(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")


def rates(kind: str, pairs: Sequence[Pair]) -> dict[str, float]:
    """Return accuracy, precision, recall and F1 of the classes, and what else is asked of a kind of rows."""
    table = Counter(pairs)
    there, answered = Counter(label for label, _ in pairs), Counter(answer for _, answer in pairs)
    right = {name: table[name, name] for name in CLASSES[kind]}
    f1 = {name: _share(2 * right[name], answered[name] + there[name]) for name in CLASSES[kind]}
    said = {"accuracy": _share(sum(right.values()), len(pairs))}
    # Levels that neither occur nor are answered do not count; a quadrant without rows leaves the mean undefined.
    counted = [value for name, value in f1.items() if kind != "medval" or answered[name] + there[name]]
    said["macro_f1"] = _share(sum(counted), len(counted))
    if kind == "quadrants":
        if not all(there[name] for name in CLASSES[kind]):
            said["macro_f1"] = float("nan")
        said |= {"hsr": _share(table["Q2", "Q1"], there["Q2"]), "tir": _share(table["Q3", "Q1"], there["Q3"])}
    if kind == "medhal":
        for name in CLASSES[kind]:
            key = name.replace("-", "_")
            said[f"{key}_precision"] = _share(right[name], answered[name])
            said[f"{key}_recall"] = _share(right[name], there[name])
            said[f"{key}_f1"] = f1[name]
    return said
