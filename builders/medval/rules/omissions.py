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
_SECOND = re.compile(
    r",? (?:and|including) (?:what|how|where|is|are|can|does|do|who|when|should|specifically|the) [^?]*(?=\?$)|, including [^?]*(?=\?$)"
)
_COMPARED = re.compile(
    r",? (?:(?:as )?compared (?:to|with)|relative to|since|from) (?:the |her |his |their |your )?"
    r"(?:prior|previous|last|earlier|baseline|admission)\b[\w ]*(?=[.,;\n]|$)",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?] )[A-Z][^.!?\n]{15,}[.!?](?= |\n|$)")
_SHORTEST = 12


def omitted_contexts(scene: Scene) -> list[Edit]:
    """Leave out the last words of a sentence that say of whom, where or when a problem is, no other claim being lost."""
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
    """Leave out the second part of a question, or a sentence that names neither a grave problem nor a drug."""
    asked = scene.item.task == "query2question"
    # A list need not be complete: the instruction says so.
    if scene.item.task == "course2diagnosis":
        return []
    found = []
    for match in (_SECOND if asked else _SENTENCE).finditer(scene.text):
        begin, end = match.span()
        begin -= 0 if asked else 1
        kept = len(scene.text) - (end - begin) > _SHORTEST
        if kept and not any(_is_weighty(scene, begin, end)):
            found.append(scene.edit("omit_claim", begin, end, "", "no grave problem and no drug is lost"))
    return found


def omitted_comparisons(scene: Scene) -> list[Edit]:
    """Leave out with what something is compared."""
    return [
        scene.edit("omit_comparison", match.start(), match.end(), "", "with what it is compared is lost")
        for match in _COMPARED.finditer(scene.text)
    ]


def _is_weighty(scene: Scene, begin: int, end: int) -> Iterator[bool]:
    """Tell of each mention between two places whether losing it would weigh more than level 2."""
    inside = (one for one in scene.made.seen if begin <= one.mention.begin < end)
    return (
        scene.is_grave(one) or (one.mention.kind == "drug" and scene.item.task != "query2question") for one in inside
    )
