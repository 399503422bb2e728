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

SAID = ("assertion", "certainty", "section")
"""What is said of a mention: the attributes of its span, below ``_``."""


class MentionReader:
    """Marks concepts: ``label_`` is disorder, finding, drug or procedure, ``kb_id_`` the likeliest CUI.

    The workspace is opened for the first text, once in a process.
    """

    def __init__(self, workspace: str, spans_key: str, annotate_ents: bool, prefix: str) -> None:
        self._made_of = (workspace, spans_key, annotate_ents, prefix)
        self._workspace, self._spans_key, self._annotate_ents = workspace, spans_key, annotate_ents
        self._attributes = [prefix + said for said in SAID]
        for attribute in self._attributes:
            if not Span.has_extension(attribute):
                Span.set_extension(attribute, default="")
            elif Span.get_extension(attribute)[2] is not None:
                do = 'name ours otherwise: config={"prefix": "og_", ...}'
                raise UsageError("another component has an attribute of this name", found=attribute, do=do)

    def __reduce__(self) -> tuple[Any, ...]:
        # The names of a release are some hundred megabytes; other processes build them for themselves.
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
            taken = {token.i for one in doc.ents for token in one}
            free = [span for span in spans if taken.isdisjoint(range(span.start, span.end))]
            doc.ents = [*doc.ents, *filter_spans(free)]
        return doc

    def _spans(self, doc: Doc) -> Iterator[Span]:
        """Yield the mentions as whole tokens; of two in the same tokens, which spaCy cannot tell apart, the longer."""
        found: dict[tuple[int, int], tuple[int, Span, tuple[str, str, str]]] = {}
        for one in self._reader.read(doc.text).mentions:
            cui = one.cuis[0] if one.cuis else ""
            span = doc.char_span(one.begin, one.end, label=one.kind, kb_id=cui, alignment_mode="expand")
            if span is None:
                continue
            said = (str(one.assertion), "unsure" if one.unsure else "certain", one.section)
            before = found.get((span.start, span.end))
            if before is None or before[0] < one.end - one.begin:
                found[span.start, span.end] = (one.end - one.begin, span, said)
        for _, span, said in found.values():
            for attribute, value in zip(self._attributes, said, strict=True):
                span._.set(attribute, value)
            yield span
