"""scispaCy's EntityLinker over the same names, given the readers' own spans; it judges no assertion.

The models that find spans are not on PyPI, so the linker gets the gold's spans for nothing: its speed here is an upper
limit, and its recall is the share of them that it links. scispaCy cannot build its index with today's SciPy (vectors in
float16); the files are written here in float32, as its loader wants them anyway, with a smaller graph (M 16 for 100).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nmslib  # type: ignore[import-not-found]
import numpy as np
import spacy
from scispacy.candidate_generation import CandidateGenerator
from scispacy.linking import EntityLinker
from scispacy.linking_utils import Entity, KnowledgeBase
from sklearn.feature_extraction.text import TfidfVectorizer

from benchmarks.yardsticks.task import Found, Name, Note, Reader, main_of, read_names

NEIGHBOURS, CANDIDATES_AT_BUILD, CANDIDATES_AT_QUERY = 16, 100, 200


def load(folder: Path, _: Path, limit: int) -> Any:
    """Build the index over the names and return a maker of readers."""
    names = list(read_names(folder, limit))
    knowledge = KnowledgeBase(_entities(names))
    aliases = sorted({name.text for name in names})
    vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3), min_df=10, dtype=np.float32)
    vectors = vectorizer.fit_transform(aliases)
    kept = np.flatnonzero(np.asarray(vectors.sum(axis=1)).reshape(-1))
    index = nmslib.init(method="hnsw", space="cosinesimil_sparse", data_type=nmslib.DataType.SPARSE_VECTOR)
    index.addDataPointBatch(vectors[kept])
    index.createIndex({"M": NEIGHBOURS, "efConstruction": CANDIDATES_AT_BUILD, "post": 0, "indexThreadQty": 1})
    index.setQueryTimeParams({"efSearch": CANDIDATES_AT_QUERY})
    generator = CandidateGenerator(index, vectorizer, [aliases[place] for place in kept.tolist()], knowledge)
    linker = EntityLinker(
        candidate_generator=generator,
        filter_for_definitions=False,
        no_definition_threshold=0.7,
        resolve_abbreviations=False,
    )
    nlp = spacy.blank("en")

    def make() -> Reader:
        return lambda note: _read(note, nlp, linker)

    return make


def _entities(names: list[Name]) -> list[Entity]:
    by_concept: dict[str, list[Name]] = {}
    for name in names:
        by_concept.setdefault(name.cui, []).append(name)
    return [
        Entity(cui, max(found, key=lambda name: name.preferred).text, sorted({name.text for name in found}))
        for cui, found in sorted(by_concept.items())
    ]


def _read(note: Note, nlp: Any, linker: Any) -> list[Found]:
    doc = nlp(note.text)
    spans = [doc.char_span(begin, end, label="name", alignment_mode="expand") for begin, end, _ in note.marks]
    doc.ents = spacy.util.filter_spans([span for span in spans if span is not None])
    return [(span.start_char, span.end_char, "") for span in linker(doc).ents if span._.kb_ents]


if __name__ == "__main__":
    main_of(load)
