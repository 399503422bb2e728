"""Small pictures as plain data that templates draw: a path of concepts, and what changed between two texts."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Arrow", "Node", "PathPicture", "path_picture"]

WIDE, GAP, HIGH = 170, 170, 84
LETTERS, LINES = 24, 3


@dataclass(frozen=True)
class Node:
    """A concept: its place, and its name in lines that fit."""

    x: int
    cui: str
    name: str
    lines: list[str]


@dataclass(frozen=True)
class Arrow:
    """An edge from one node to the next one (backwards: to the one before), its predicate and its evidence."""

    begin: int
    end: int
    label: str
    evidence: list[str]


@dataclass(frozen=True)
class PathPicture:
    """A path from left to right; at most three edges, so that no layout is needed."""

    nodes: list[Node]
    arrows: list[Arrow]
    width: int
    height: int = HIGH
    words: str = ""


def path_picture(path: Sequence[Mapping[str, Any]], name_of: Callable[[str], str]) -> PathPicture:
    """Return the picture of a path, whose edges may be read in either direction."""
    order = _order(path)
    place = {cui: n * (WIDE + GAP) for n, cui in enumerate(order)}
    names = {cui: name_of(cui) for cui in order}
    nodes = [
        Node(place[cui], cui, name, textwrap.wrap(name, LETTERS, max_lines=LINES, placeholder=" …") or [name])
        for cui, name in names.items()
    ]
    arrows = [_arrow(edge, place) for edge in path]
    words = "; ".join(
        f"{names[edge['head_cui']]} {arrow.label} {names[edge['tail_cui']]}"
        for edge, arrow in zip(path, arrows, strict=True)
    )
    return PathPicture(nodes, arrows, (WIDE + GAP) * len(nodes) - GAP, words=words)


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


def _arrow(edge: Mapping[str, Any], place: Mapping[str, int]) -> Arrow:
    head, tail = place[edge["head_cui"]], place[edge["tail_cui"]]
    begin, end = (head + WIDE, tail) if head < tail else (head, tail + WIDE)
    stated = [" ".join(part for part in (edge["sab"], edge["rela"]) if part), edge["rui"] or ""]
    return Arrow(begin, end, str(edge["predicate"]).replace("_", " "), [line for line in stated if line])
