"""The right words of a row, as a reader chose them in its context: where they stand, and what each is of."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from ground.errors import UsageError

__all__ = ["MARK", "Span", "in_words", "kept_spans", "read_spans", "shown_mark", "shown_spans"]

MARK = re.compile(r"⟦(.): ([^⟧]*)⟧")
"""How a sheet marks words of a context, and names its marks in front of it."""
MOST_SPANS = 20
Role = Literal["head", "tail", "other"]


@dataclass(frozen=True, order=True)
class Span:
    """Half-open, in Unicode code points of the benchmark's ``context``; ``role`` is what the words are of."""

    begin_offset: int
    end_offset: int
    role: Role = "other"

    def text(self) -> str:
        """Return the span as events and answers keep it, ``head 12-20``: they hold no words of a note."""
        return f"{self.role} {self.begin_offset}-{self.end_offset}"


class _Shown(BaseModel):
    """A span as a page has it; its places are those of the text that is shown."""

    model_config = ConfigDict(extra="forbid", strict=True)

    begin_offset: int
    end_offset: int
    text: str
    role: Role = "other"


def shown_mark(mark: re.Match[str]) -> str:
    """Return what a page shows of a mark: its words, or its sign where it is named."""
    return mark[2] or f" {mark[1]} "


def read_spans(written: str, context: str, before: int) -> tuple[Span, ...]:
    """Read the spans that a page sends, a JSON list, and hold each against the text.

    Args:
        context: the row's.
        before: characters that the page shows in front of it.

    Raises:
        UsageError: no list of spans, too many of them, or words that do not stand there.
    """
    try:
        listed = TypeAdapter(list[_Shown]).validate_json(written or "[]")
    except ValidationError:
        raise UsageError("the chosen words cannot be read: nothing was saved", do="choose them again") from None
    if len(listed) > MOST_SPANS:
        found = f"{len(listed):,} spans"
        raise UsageError("too many spans: nothing was saved", found=found, expected=f"at most {MOST_SPANS}")
    spans = set()
    for span in listed:
        begin, end = span.begin_offset - before, span.end_offset - before
        if not 0 <= begin < end <= len(context) or context[begin:end] != span.text:
            expected = "words of the record itself, not of what stands in front of it"
            raise UsageError("the chosen words do not stand there: nothing was saved", expected=expected)
        spans.add(Span(begin, end, span.role))
    return tuple(sorted(spans))


def shown_spans(spans: Iterable[Span], context: str, before: int) -> str:
    """Return spans as a page has them; the other way of `read_spans`."""
    return json.dumps(
        [
            {
                "begin_offset": span.begin_offset + before,
                "end_offset": span.end_offset + before,
                "text": context[span.begin_offset : span.end_offset],
                "role": span.role,
            }
            for span in spans
        ]
    )


def kept_spans(texts: Any) -> tuple[Span, ...]:
    """Return the spans that `Span.text` wrote; nothing is none."""
    spans = []
    for text in texts or ():
        role, _, places = text.partition(" ")
        begin, end = map(int, places.split("-"))
        spans.append(Span(begin, end, role))
    return tuple(spans)


def in_words(spans: Iterable[Span], context: str) -> str:
    """Return spans with their words: ``head 12-20 'warfarin'; tail 85-99 'atrial flutter'``."""
    return "; ".join(f"{span.text()} {context[span.begin_offset : span.end_offset]!r}" for span in spans)
