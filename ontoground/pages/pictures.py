"""A path of concepts as plain data that templates draw."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

__all__ = ["Arrow", "PathPicture", "path_picture"]


@dataclass(frozen=True)
class Arrow:
    """An edge between a concept and the next one, its predicate and its evidence; ``back``: it points to the former."""

    back: bool
    label: str
    evidence: list[str]


@dataclass(frozen=True)
class PathPicture:
    """Concepts (CUI, name) in a line, with an arrow between each two."""

    nodes: list[tuple[str, str]]
    arrows: list[Arrow]


def path_picture(path: Sequence[Mapping[str, Any]], name_of: Callable[[str], str]) -> PathPicture:
    """Return the picture of a path, whose edges may be read in either direction."""
    order = _order(path)
    between = {frozenset(_ends(edge)): edge for edge in path}
    arrows = [_arrow(between[frozenset(pair)], pair[0]) for pair in pairwise(order)]
    return PathPicture([(cui, name_of(cui)) for cui in order], arrows)


def _order(path: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the concepts of a path in a line; an edge goes on from the line's end, or from its beginning."""
    order = _ends(path[0])
    if len(path) > 1 and order[0] in _ends(path[1]):
        order.reverse()
    for edge in path[1:]:
        new = [cui for cui in _ends(edge) if cui not in order]
        order = order + new if order[-1] in _ends(edge) else new + order
    return order


def _ends(edge: Mapping[str, Any]) -> list[str]:
    return [edge["head_cui"], edge["tail_cui"]]


def _arrow(edge: Mapping[str, Any], first: str) -> Arrow:
    stated = [" ".join(part for part in (edge["sab"], edge["rela"]) if part), edge["rui"] or ""]
    label = str(edge["predicate"]).replace("_", " ")
    return Arrow(edge["head_cui"] != first, label, [line for line in stated if line])
