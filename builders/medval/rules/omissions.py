"""What an output leaves out: a claim, a comparison, or the words after a problem that say of whom or when."""

from __future__ import annotations

import re
from collections.abc import Iterator

from builders.medval.items import Edit
from builders.medval.rules.scene import Scene

__all__ = ["omitted_claims", "omitted_comparisons", "omitted_contexts"]

# "back pain in children", "hearing loss after surgery": up to what ends the phrase.
_CONTEXT = re.compile(
    r" (?:in|on|after|during|following|with|at|while|since) (?:[A-Za-z][\w'-]*[ ]?){1,5}(?<! )(?=[?.;\n]|$)"
)
# "the causes and treatments for": the first of them.
_FIRST = re.compile(r"(?<=^What are the )(?:\w+, )*\w+,? and (?=(?:treatment|cause|symptom)s (?:for|of)\b)")
_COMPARED = re.compile(
    r",? (?:(?:as )?compared (?:to|with)|relative to|since|from) (?:the |her |his |their |your )?"
    r"(?:prior|previous|last|earlier|baseline|admission)\b[\w ]*(?=[.,;\n]|$)",
    re.IGNORECASE,
)


def omitted_contexts(scene: Scene) -> list[Edit]:
    """Leave out the last words of a sentence that say of whom, where or when a problem is, and nothing graver."""
    found = []
    for one in scene.made.problems():
        match = _CONTEXT.match(scene.text, one.mention.end)
        if match is None or scene.is_grave(one) or not scene.in_input(one):
            continue
        told = [word for word in re.findall(r"[a-z]{4,}", match.group().lower()) if word[:5] in scene.given.stems]
        if told and not any(_is_weighty(scene, *match.span())):
            evidence = "the input has the words that are left out"
            found.append(scene.edit("omit_context", match.start(), match.end(), "", evidence))
    return found


def omitted_claims(scene: Scene) -> list[Edit]:
    """Leave out one of the two things that a question asks for, where the input has the word for it."""
    said = scene.given.text.lower()
    return [
        scene.edit("omit_claim", *match.span(), "", "one of two things that are asked for is lost")
        for match in _FIRST.finditer(scene.text)
        if any(word[:5] in said for word in re.findall(r"[a-z]{5,}", match.group().lower()))
        and not any(_is_weighty(scene, *match.span()))
    ]


def omitted_comparisons(scene: Scene) -> list[Edit]:
    """Leave out with what something is compared."""
    return [
        scene.edit("omit_comparison", match.start(), match.end(), "", "with what it is compared is lost")
        for match in _COMPARED.finditer(scene.text)
    ]


def _is_weighty(scene: Scene, begin: int, end: int) -> Iterator[bool]:
    """Tell of each mention between two places whether losing it would weigh more than level 2."""
    heavy = set() if scene.item.task == "query2question" else {"drug", "procedure"}
    inside = (one for one in scene.made.seen if begin <= one.mention.begin < end)
    return (scene.is_grave(one) or one.mention.kind in heavy for one in inside)
