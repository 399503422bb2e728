"""spaCy's PhraseMatcher over all names, and medspaCy's ConText alone for what the text asserts.

A blank English pipeline: the rule-based sentencizer, the matcher (lower case, longest names first) and ConText with
its own rules. A line break within a paragraph is read as a blank, since no phrase would cross it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import spacy
from medspacy.context import ConText  # type: ignore[import-not-found]
from spacy.language import Language
from spacy.matcher import PhraseMatcher
from spacy.tokens import Doc, Span
from spacy.util import filter_spans

from benchmarks.yardsticks.task import AssertedSpan, Note, Reader, main_of, read_names

LINE_BREAK = re.compile(r"(?<!\n)\n(?!\n)")
# In this order: what holds first is the assertion.
ATTRIBUTES = (
    ("is_family", "family"),
    ("is_negated", "absent"),
    ("is_hypothetical", "hypothetical"),
    ("is_uncertain", "possible"),
    ("is_historical", "historical"),
)


def load(folder: Path, _: Path) -> Any:
    """Return a maker of readers that share one matcher."""
    nlp: Any = spacy.blank("en")
    matcher = PhraseMatcher(nlp.vocab, attr="LOWER")
    names = {name.text.lower() for name in read_names(folder)}
    label = nlp.vocab.strings.add("name")
    for doc in nlp.tokenizer.pipe(sorted(names), batch_size=10_000):
        matcher.add("name", [doc])

    @Language.component("names")
    def find(doc: Doc) -> Doc:
        doc.ents = filter_spans([Span(doc, begin, end, label) for _, begin, end in matcher(doc)])
        return doc

    nlp.add_pipe("sentencizer")
    nlp.add_pipe("names")
    context = ConText(nlp)

    def make() -> Reader:
        return lambda note: _read(note, nlp, context)

    return make


def _read(note: Note, nlp: Any, context: ConText) -> list[AssertedSpan]:
    doc = context(nlp(LINE_BREAK.sub(" ", note.text)))
    return [(span.start_char, span.end_char, _assertion(span)) for span in doc.ents]


def _assertion(span: Span) -> str:
    return next((assertion for name, assertion in ATTRIBUTES if getattr(span._, name)), "present")


if __name__ == "__main__":
    main_of(load)
