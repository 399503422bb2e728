"""How near a detector's explanations come to the row's: BLEU, ROUGE-1 and ROUGE-2 (MedHal, section 4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluation.intervals import RESAMPLES, SEED, estimate_of
from ground.progress import progress
from ground.resampling import resampled, share

__all__ = ["explanation_metrics", "overlap"]

Floats = npt.NDArray[np.float64]
NAMES = ("bleu", "rouge1", "rouge2")
ORDERS = 4


def explanation_metrics(
    references: Sequence[str | None],
    explanations: Sequence[str | None],
    both: npt.NDArray[np.bool_],
    clusters: npt.NDArray[np.int64],
) -> dict[str, Any]:
    """Compare explanations where row and answer both say non-factual and both explain.

    BLEU is of the corpus (sacrebleu, 13a tokens, exponential smoothing), in [0, 1] as in the paper's Table 6; ROUGE is
    the mean F over rows (rouge-score, with stemming).

    Args:
        references: *shape* (n,), the rows' explanations.
        explanations: *shape* (n,), the model's.
        both: *shape* (n,), whether both say non-factual.
        clusters: *shape* (n,), what is drawn together.

    Returns:
        ``both_non_factual``, ``n`` (compared), and ``bleu``, ``rouge1``, ``rouge2`` with intervals (None where n is 0).
    """
    at = [n for n in np.flatnonzero(both) if references[n] and explanations[n]]
    result: dict[str, Any] = {"both_non_factual": int(both.sum()), "n": len(at)}
    if not at:
        return {**result, **{name: estimate_of(np.nan, np.zeros(0), 0) for name in NAMES}}
    sums = _statistics([(str(references[n]), str(explanations[n])) for n in at])
    groups, index = np.unique(clusters[at], return_inverse=True)
    by_cluster = np.zeros((len(groups), sums.shape[1]))
    np.add.at(by_cluster, index, sums)
    # Drawn from all clusters, of which some have nothing to compare.
    others = len(np.unique(clusters)) - len(groups)
    sizes = np.array([*np.ones(len(groups), np.int64), others])
    drawn = resampled(np.vstack([by_cluster, np.zeros(sums.shape[1])]), sizes, RESAMPLES, SEED)
    points, draws = _metrics(by_cluster.sum(axis=0)[None]), _metrics(drawn)
    return {**result, **{name: estimate_of(points[name][0], draws[name], len(groups)) for name in NAMES}}


def overlap(pairs: Sequence[tuple[str, str]]) -> dict[str, Floats]:
    """Return BLEU and ROUGE of each pair of a reference and a text. *Shapes:* (n,)."""
    names = ("BLEU", "ROUGE-1", "ROUGE-2")
    return dict(zip(names, _metrics(_statistics(pairs)).values(), strict=True))


def _statistics(pairs: Sequence[tuple[str, str]]) -> Floats:
    """Return what BLEU and ROUGE are sums of.

    *Shape:* (n, 13): right and all n-grams of orders 1 to 4, words of both, rows, ROUGE-1, ROUGE-2.
    """
    from nltk.stem.porter import PorterStemmer  # type: ignore[import-untyped]
    from rouge_score.rouge_scorer import RougeScorer
    from rouge_score.tokenize import tokenize
    from sacrebleu.metrics.bleu import BLEU

    # rouge-score's own words with Porter's stems, each stem worked out once: they take most of the time otherwise.
    stemmer = SimpleNamespace(stem=cache(PorterStemmer().stem))
    words_of = SimpleNamespace(tokenize=partial(tokenize, stemmer=stemmer))
    scorer, bleu = RougeScorer(["rouge1", "rouge2"], tokenizer=words_of), BLEU(effective_order=True)
    rows = []
    with progress("comparing explanations", len(pairs)) as advance:
        for reference, words in pairs:
            counted, rouge = bleu.sentence_score(words, [reference]), scorer.score(reference, words)
            lengths = (counted.sys_len, counted.ref_len, 1)
            rows.append([*counted.counts, *counted.totals, *lengths, *(rouge[name].fmeasure for name in NAMES[1:])])
            advance(1)
    return np.array(rows, dtype=np.float64)


def _metrics(sums: Floats) -> dict[str, Floats]:
    rows = sums[:, 2 * ORDERS + 2]
    bleu = np.array([_bleu(row) if row[2 * ORDERS + 2] else np.nan for row in sums])
    return {"bleu": bleu, "rouge1": share(sums[:, -2], rows), "rouge2": share(sums[:, -1], rows)}


def _bleu(row: Floats) -> float:
    from sacrebleu.metrics.bleu import BLEU

    counts = [round(value) for value in row[: 2 * ORDERS + 2]]
    score = BLEU.compute_bleu(counts[:ORDERS], counts[ORDERS:-2], counts[-2], counts[-1], smooth_method="exp")
    return float(score.score) / 100
