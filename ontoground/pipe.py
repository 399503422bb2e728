"""A spaCy component: `nlp.add_pipe("ontoground", config={"workspace": "work"})` reads each text as `read_text` does.

`ontoground_spacy.py` is how spaCy finds it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from spacy.tokens import Doc, Span
from spacy.util import filter_spans

from ground.errors import UsageError

if TYPE_CHECKING:
    from ehr.reading import TextReader

__all__ = ["MentionReader"]

ATTRIBUTES = ("assertion", "certainty", "section")
"""What is said of a mention: the attributes of its span, below ``_``."""


class MentionReader:
    """Marks concepts: ``label_`` is disorder, finding, drug or procedure, ``kb_id_`` the likeliest CUI.

    The workspace is opened for the first text, once in a process.
    """

    def __init__(self, workspace: str, spans_key: str, annotate_ents: bool, prefix: str) -> None:
        self._made_of = (workspace, spans_key, annotate_ents, prefix)
        self._workspace, self._spans_key, self._annotate_ents = workspace, spans_key, annotate_ents
        self._attributes = [prefix + name for name in ATTRIBUTES]
        for attribute in self._attributes:
            if not Span.has_extension(attribute):
                Span.set_extension(attribute, default="")
            elif Span.get_extension(attribute)[2] is not None:
                do = 'name ours otherwise: config={"prefix": "og_", ...}'
                raise UsageError("another component has an attribute of this name", found=attribute, do=do)

    def __reduce__(self) -> tuple[Any, ...]:
        # The names of a release are some hundred megabytes; other processes map them for themselves.
        return MentionReader, self._made_of

    @cached_property
    def _reader(self) -> TextReader:
        from ontoground.door import open_workspace

        return open_workspace(self._workspace).reader

    def __call__(self, doc: Doc) -> Doc:
        """Add the mentions of a text to it."""
        spans = list(self._spans(doc))
        doc.spans[self._spans_key] = spans
        if self._annotate_ents:
            taken = {token.i for entity in doc.ents for token in entity}
            free = [span for span in spans if taken.isdisjoint(range(span.start, span.end))]
            doc.ents = [*doc.ents, *filter_spans(free)]
        return doc

    def _spans(self, doc: Doc) -> Iterator[Span]:
        """Yield the mentions as whole tokens; of two in the same tokens, which spaCy cannot tell apart, the longer."""
        longest: dict[tuple[int, int], tuple[int, Span, tuple[str, str, str]]] = {}
        for mention in self._reader.read(doc.text).mentions:
            cui = mention.cuis[0] if mention.cuis else ""
            span = doc.char_span(mention.begin, mention.end, label=mention.kind, kb_id=cui, alignment_mode="expand")
            if span is None:
                continue
            values = (str(mention.assertion), "unsure" if mention.unsure else "certain", mention.section)
            before = longest.get((span.start, span.end))
            if before is None or before[0] < mention.end - mention.begin:
                longest[span.start, span.end] = (mention.end - mention.begin, span, values)
        for _, span, values in longest.values():
            for attribute, value in zip(self._attributes, values, strict=True):
                span._.set(attribute, value)
            yield span
