"""A second finder of candidates: scispaCy's linker over names of the release, for what the dictionary does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ehr.matching import tokenise
from ehr.mentions import Mentions, Texts
from ground.errors import UsageError
from ground.storage.sqlfiles import sql_text
from ground.storage.warehouse import arrow_of

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from ehr.lexicon import Lexicon

__all__ = ["LEAST", "Linker", "names_of"]

LEAST = 0.9
"""Least cosine of a name and of words that are taken for it."""
LONGEST = 4
SHORTEST = 7
NEAREST = 5
TOGETHER = 256


def names_of(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Return the release's names as a linker takes them: cui, normalized."""
    return arrow_of(connection, sql_text("ehr/linker_name").rstrip().rstrip(";"))


class _Index:
    """The names nearest to texts by their cosine: exact and in one order, where scispaCy's own index is neither."""

    def __init__(self, vectors: Any) -> None:
        self._names = vectors.T.tocsc().tocsr()

    def knnQueryBatch(self, vectors: Any, k: int) -> list[tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]]:  # noqa: N802 - scispaCy's word
        """Return the numbers and distances of the ``k`` nearest names of each text."""
        nearest = []
        for begin in range(0, vectors.shape[0], TOGETHER):
            cosines = (vectors[begin : begin + TOGETHER] @ self._names).tocsr()
            for row in range(cosines.shape[0]):
                own = slice(cosines.indptr[row], cosines.indptr[row + 1])
                names, values = cosines.indices[own], cosines.data[own]
                order = np.lexsort((names, -values))[:k]
                nearest.append((names[order].astype(np.int64), 1.0 - values[order].astype(np.float64)))
        return nearest


class Linker:
    """Finds words that are nearly a name of the release, where no mention stands."""

    def __init__(self, names: pa.Table, lexicon: Lexicon) -> None:
        """Make the linker.

        Args:
            names: of the release (`names_of`).
            lexicon: whose entries the mentions get.

        Raises:
            UsageError: scispaCy is not installed.
        """
        try:
            from scispacy.candidate_generation import CandidateGenerator
            from scispacy.linking_utils import Entity, KnowledgeBase
            from sklearn.feature_extraction.text import TfidfVectorizer
        except ImportError as error:
            raise UsageError(
                "notes.linker is scispacy, which is not installed",
                do="install the extra `linking`, or set notes.linker to none",
            ) from error
        is_name = lexicon.term < 0
        clear = np.flatnonzero(
            is_name & ((lexicon.kind >= 0) & (lexicon.reason == 0) & ~lexicon.denied)[: is_name.size]
        )
        first = [cuis[0] if cuis else "" for cuis in lexicon.concepts.take(clear).to_pylist()]
        self._entry = dict(zip(reversed(first), reversed(clear.tolist()), strict=True))
        by_cui: dict[str, list[str]] = {}
        for cui, name in zip(names["cui"].to_pylist(), names["normalized"].to_pylist(), strict=True):
            if cui in self._entry and len(name) >= SHORTEST:
                by_cui.setdefault(cui, []).append(name)
        entities = [Entity(cui, own[0], own) for cui, own in by_cui.items()]
        aliases = sorted({name for own in by_cui.values() for name in own})
        # As scispaCy's own index, but for names of rare letters.
        vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3), dtype=np.float32)
        vectors = vectorizer.fit_transform(aliases)
        self._candidates = CandidateGenerator(_Index(vectors), vectorizer, aliases, KnowledgeBase(entities))

    def add(self, texts: Texts, mentions: Mentions, least: float = LEAST) -> tuple[Mentions, npt.NDArray[np.int64]]:
        """Return the mentions with those that are only nearly a name, and where these begin."""
        spans = self._spans(texts, mentions)
        written = [" ".join(texts.joined[begin:end].lower().split()) for begin, end in spans]
        words = sorted(set(written))
        nearest = {}
        for word, candidates in zip(words, self._candidates(words, NEAREST), strict=True):
            best = max(candidates, key=lambda each: (max(each.similarities), each.concept_id), default=None)
            if best is not None and max(best.similarities) >= least:
                nearest[word] = (max(best.similarities), self._entry[best.concept_id])
        ranked = [(-nearest[word][0], begin - end, begin, end, nearest[word][1])
                  for word, (begin, end) in zip(written, spans, strict=True) if word in nearest]  # fmt: skip
        taken = np.zeros(len(texts.joined), bool)
        rows = []
        for _, _, begin, end, entry in sorted(ranked):
            if not taken[begin:end].any():
                taken[begin:end] = True
                rows.append((begin, end, entry))
        begin, end, entry = np.array(sorted(rows), dtype=np.int32).reshape(-1, 3).T
        owner = (np.searchsorted(texts.begin, begin, side="right") - 1).astype(np.int32)
        section = (np.searchsorted(texts.sections.begin, begin, side="right") - 1).astype(np.int32)
        linked = Mentions(owner, begin, end, entry, section, np.zeros_like(begin))
        return Mentions.together([mentions, linked]).in_order(), begin.astype(np.int64)

    def _spans(self, texts: Texts, mentions: Mentions) -> list[tuple[int, int]]:
        """Return runs of up to four words, with blanks between them, that no mention and no header overlaps."""
        is_free = np.ones(len(texts.joined) + 1, bool)
        for begin, end in zip(mentions.begin.tolist(), mentions.end.tolist(), strict=True):
            is_free[begin:end] = False
        for begin, end in zip(texts.sections.begin.tolist(), texts.body.tolist(), strict=True):
            is_free[begin:end] = False
        tokens = tokenise(texts.codes)
        begins, ends = tokens.begin.tolist(), tokens.end.tolist()
        spans = []
        for first, begin in enumerate(begins):
            for last in range(first, min(first + LONGEST, len(begins))):
                end = ends[last]
                is_apart = last > first and texts.joined[ends[last - 1] : begins[last]] not in (" ", "-")
                if is_apart or not is_free[begin:end].all():
                    break
                if end - begin >= SHORTEST:
                    spans.append((begin, end))
        return spans
