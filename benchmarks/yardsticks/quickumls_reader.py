"""QuickUMLS with its defaults (Jaccard 0.7, window 5) over the same names; it judges no assertion.

Its language model is not on PyPI: a blank English pipeline stands in, which is quicker and rules no n-gram out by its
part of speech. Its list of stop words is spaCy's, since NLTK's is a download. It keeps no sentences, as it does itself.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import spacy
from spacy.lang.en.stop_words import STOP_WORDS

from benchmarks.yardsticks.task import AssertedSpan, Note, Reader, main_of, read_names


def load(folder: Path, scratch: Path) -> Any:
    """Build the index in the scratch folder, unless it is there, and return a maker of readers."""
    words = scratch / "nltk" / "corpora" / "stopwords" / "english"
    words.parent.mkdir(parents=True, exist_ok=True)
    words.write_text("\n".join(sorted(STOP_WORDS)) + "\n", encoding="utf-8")
    os.environ["NLTK_DATA"] = str(scratch / "nltk")
    from quickumls import QuickUMLS  # type: ignore[import-not-found]
    from quickumls.install import parse_and_encode_ngrams  # type: ignore[import-not-found]

    index = scratch / "quickumls"
    if not (index / "language.flag").exists():
        index.mkdir(parents=True, exist_ok=True)
        (index / "lowercase.flag").touch()
        (index / "database_backend.flag").write_text("unqlite")
        terms = ((name.text.lower(), name.cui, ["T047"], int(name.preferred)) for name in read_names(folder))
        parse_and_encode_ngrams(terms, str(index / "umls-simstring.db"), str(index / "cui-semtypes.db"), "unqlite")
        (index / "language.flag").write_text("ENG")
    matcher = QuickUMLS(str(index), accepted_semtypes=None, spacy_component=True)
    matcher.nlp = spacy.blank("en")

    def make() -> Reader:
        return lambda note: _read(note, matcher)

    return make


def _read(note: Note, matcher: Any) -> list[AssertedSpan]:
    return [(match[0]["start"], match[0]["end"], "") for match in matcher.match(note.text.replace("\n", " "))]


if __name__ == "__main__":
    main_of(load)
