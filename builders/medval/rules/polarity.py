"""Turns a statement that something is there into one that it is not, or the reverse, without other change."""

from __future__ import annotations

import re
from functools import cache

from builders.medval.items import Edit
from builders.medval.reading import Seen
from builders.medval.rules.edit_tables import flip_words
from builders.medval.rules.scene import Scene

__all__ = ["flips"]

# A mention that others are joined to cannot be flipped alone.
_JOINED = re.compile(r"\s*(?:,|/|\bor\b|\band\b|\bnor\b)")


def flips(scene: Scene, one: Seen, rule: str) -> list[Edit]:
    """Return the change that flips what the output says of one mention; none where that is not plain."""
    text, mention = scene.text, one.mention
    # An entry of a list says no sentence that could be turned round; "cancer screening" is no cancer.
    if scene.item.task == "course2diagnosis" or not scene.ends_name(one):
        return []
    segment = scene.segment(mention.begin)
    begin = segment.begin if segment else 0
    before = text[begin : mention.begin]
    if _JOINED.match(text, mention.end) and one.polarity == "absent":
        return []
    if not before.endswith(" "):
        return []
    for pattern, after in _patterns(one.polarity):
        match = pattern.search(before.rstrip())
        if match is None:
            continue
        words = after.format(*match.groups())
        if not scene.pool.turns(match.group(), words, *scene.name, mention.begin):
            return []
        words = words[:1].upper() + words[1:] if match.group()[:1].isupper() else words
        end = begin + match.end()
        return [scene.edit(rule, begin + match.start(), end, words, f"{one.polarity} in the input")]
    return []


@cache
def _patterns(said: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(rf"(?:{before})$", re.IGNORECASE), after) for before, after in flip_words(said))
