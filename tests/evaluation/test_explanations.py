"""Explanations: BLEU and ROUGE as the libraries have them, only where both say non-factual."""

from __future__ import annotations

import numpy as np
import pytest
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu import corpus_bleu

from evaluation.explanations import explanation_metrics

TEXTS = [
    "the dose of metformin was five hundred milligrams a day",
    "the patient takes warfarin and not heparin since the operation",
    "there was no fracture of the left hip on the film of that day",
]
SAID = ["the dose of metformin was small", "the patient takes warfarin", "there was a fracture of the left hip"]


def test_bleu_is_the_corpus_value_of_sacrebleu_and_rouge_a_mean_over_rows() -> None:
    n = 30
    references, said = TEXTS * (n // 3), SAID * (n // 3)
    found = explanation_metrics(references, said, np.ones(n, bool), np.arange(n))
    assert found["n"] == n
    assert found["bleu"]["value"] == pytest.approx(corpus_bleu(said, [references]).score / 100, abs=1e-6)
    library = RougeScorer(["rouge1", "rouge2"], use_stemmer=True)
    for name in ("rouge1", "rouge2"):
        scores = [library.score(*pair)[name].fmeasure for pair in zip(references, said, strict=True)]
        assert found[name]["value"] == pytest.approx(np.mean(scores), abs=1e-6)
    for name in ("bleu", "rouge1", "rouge2"):
        assert found[name]["low"] < found[name]["value"] < found[name]["high"]


def test_rows_that_one_side_calls_factual_or_leaves_unexplained_are_not_compared() -> None:
    both = np.array([True, True, True, False])
    found = explanation_metrics([*TEXTS[:2], None, TEXTS[2]], [TEXTS[0], None, "x", "y"], both, np.arange(4))
    assert (found["both_non_factual"], found["n"]) == (3, 1)
    assert found["bleu"]["value"] == pytest.approx(1.0)
    assert found["rouge1"] == {"value": 1.0, "low": None, "high": None}
    nothing = explanation_metrics(TEXTS, SAID, np.zeros(3, bool), np.arange(3))
    assert nothing["n"] == 0 and nothing["rouge1"]["value"] is None
