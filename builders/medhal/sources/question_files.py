"""What the readers of question sets share: plain quotes, questions that need an image, questions that repeat."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from builders.medhal.items import QaItem
from builders.medhal.question_patterns import has, pattern
from builders.texts.origin import SourceSplit, Tally
from builders.texts.sources import TextSource
from ground.stable import stable_hash

__all__ = ["cleaned", "combined", "distinct", "needs_image"]


def needs_image(*texts: str) -> bool:
    """Tell whether one of some texts points to a picture that it does not hold."""
    return any(
        has("needs_image", text) and has("needs_image", pattern("values_follow").sub(" listed: ", text))
        for text in texts
    )


def combined(option: str) -> bool:
    """Tell whether an option speaks of other options (``All of the above``, ``Both A and B``)."""
    return has("combined", option.strip())


def cleaned(text: str) -> str:
    """Return a text with plain quotes, no byte that only printers see, no quotes left open at its ends."""
    if not text.isascii():
        text = text.replace("\u2019", "'").replace("\u2018", "'").replace("\u201c", '"').replace("\u201d", '"')
        text = text.replace("\u00a0", " ").replace("\u200b", "")
    text = text.replace("\r\n", "\n").strip()
    if '"' not in text:
        return text
    text = re.sub(r'"{2,}', '"', text)
    while text.count('"') % 2 == 1 and text[:1] == '"':
        text = text[1:].strip()
    while text.count('"') % 2 == 1 and text[-1:] == '"':
        text = text[:-1].strip()
    return text


def distinct(
    items: Iterable[tuple[SourceSplit, QaItem | str]],
    source: TextSource,
    tally: Tally,
    key: Callable[[QaItem], Sequence[str]] = lambda item: (item.question,),
) -> Iterator[QaItem]:
    """Yield the questions that were not there before, without regard to case and blanks; count all others.

    Args:
        items: questions with their splits, and in the place of others the reason why they give none.
        source: where they come from.
        tally: counts what is read and what is left out.
        key: the texts that make two questions the same; 64 bits of them are kept.
    """
    seen: set[int] = set()
    for split, item in items:
        tally.read[source.source] += 1
        if isinstance(item, str):
            tally.drop(source.source, item, split=split)
            continue
        name = stable_hash(0, *("".join(text.lower().split()) for text in key(item)))
        if name in seen:
            tally.drop(source.source, "duplicate")
        else:
            seen.add(name)
            yield item
