"""How good detectors (MedHal) and validators (MedVAL) are: few numbers, each with a bootstrap interval.

A row without a readable answer has no class: it is missed by the class that it belongs to (recall falls) and is a false
alarm of none. ``answered`` gives the same numbers over the rows with an answer only.

Intervals: patients are drawn where rows have a ``subject_id``, else pairs or triples of rows made from one another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ontoground.errors import InputError
from ontoground.rows_text import RISK_LEVELS
from ontoground.taxonomy import is_safe
from training.evaluation.intervals import percentile_interval

__all__ = ["detector_metrics", "explanation_metrics", "medhal_metrics", "medval_metrics", "validator_metrics"]

RESAMPLES = 1000
Counts = npt.NDArray[np.float64]
Rates = dict[str, Counts]
Row = Mapping[str, Any]


def medhal_metrics(rows: Sequence[Row], predictions: Iterable[Row], seed: int = 42) -> dict[str, Any]:
    """Compare a MedHal split with its predictions.

    Args:
        rows: ``id``, ``label``, ``explanation``, ``task``, and ``subject_id`` or ``pair_id``.
        predictions: ``id``, ``label`` (None: unreadable), ``explanation``, ``outcome``.
        seed: of the bootstrap.

    Returns:
        ``n``, ``outcomes``, ``overall``, ``answered``, ``by_task`` (each as `detector_metrics`), ``explanation``
        (`explanation_metrics`).

    Raises:
        InputError: predictions of unknown rows, or two for one row.
    """
    found = _by_id(rows, predictions)
    return {
        "n": len(rows),
        "outcomes": _outcomes(rows, found),
        **_sliced(rows, found, detector_metrics, "pair_id", seed),
        "explanation": explanation_metrics(rows, found),
    }


def medval_metrics(rows: Sequence[Row], predictions: Iterable[Row], seed: int = 42) -> dict[str, Any]:
    """Compare a MedVAL split with its predictions.

    Args:
        rows: ``id``, ``risk_level``, ``task``, and ``subject_id`` or ``triple_id``.
        predictions: ``id``, ``label`` (risk level, None: unreadable), ``outcome``.
        seed: of the bootstrap.

    Returns:
        ``n``, ``outcomes``, ``overall``, ``answered``, ``by_task`` (each as `validator_metrics`), and
        ``macro_f1_over_tasks``: the paper's overall number, every task counting the same.

    Raises:
        InputError: predictions of unknown rows, or two for one row.
    """
    found = _by_id(rows, predictions)
    labelled = [{**row, "label": row["risk_level"]} for row in rows]
    result = _sliced(labelled, found, validator_metrics, "triple_id", seed)
    scores = [task["macro_f1"]["value"] for task in result["by_task"].values()]
    defined = [score for score in scores if score is not None]
    return {
        "n": len(rows),
        "outcomes": _outcomes(rows, found),
        **result,
        "macro_f1_over_tasks": float(np.mean(defined)) if defined else None,
    }


def _by_id(rows: Sequence[Row], predictions: Iterable[Row]) -> dict[str, Row]:
    known, found = {row["id"] for row in rows}, {}
    for prediction in predictions:
        if prediction["id"] not in known:
            raise InputError("a prediction of a row that is not in the split", do="choose the split it was made for")
        if prediction["id"] in found:
            raise InputError("two predictions of one row", expected="one model and one seed in a predictions file")
        found[prediction["id"]] = prediction
    return found


def _outcomes(rows: Sequence[Row], found: Mapping[str, Row]) -> dict[str, int]:
    counts = Counter(found[row["id"]]["outcome"] if row["id"] in found else "missing" for row in rows)
    return dict(sorted(counts.items()))


Metric = Callable[[Sequence[Any], Sequence[Any], Sequence[Any], int], dict[str, Any]]


def _sliced(rows: Sequence[Row], found: Mapping[str, Row], metric: Metric, pair: str, seed: int) -> dict[str, Any]:
    gold = [row["label"] for row in rows]
    answers = [found[row["id"]]["label"] if row["id"] in found else None for row in rows]
    patients = [row.get("subject_id") for row in rows]
    # A patient may have many pairs; a row without a patient stands with its partner.
    clusters = [
        row[pair] if patient is None else f"patient {patient}" for row, patient in zip(rows, patients, strict=True)
    ]

    def of(chosen: Sequence[int]) -> dict[str, Any]:
        return metric([gold[n] for n in chosen], [answers[n] for n in chosen], [clusters[n] for n in chosen], seed)

    everything = range(len(rows))
    tasks = sorted({row["task"] for row in rows})
    return {
        "overall": of(everything),
        "answered": of([n for n in everything if answers[n] is not None]),
        "by_task": {task: of([n for n in everything if rows[n]["task"] == task]) for task in tasks},
    }


def detector_metrics(
    gold: Sequence[bool], answers: Sequence[bool | None], clusters: Sequence[Any], seed: int = 42
) -> dict[str, Any]:
    """Precision, recall and F1 of both classes (MedHal, section 4.1), their macro F1 and the accuracy.

    Args:
        gold: *shape* (n,).
        answers: *shape* (n,), None where there is no readable answer.
        clusters: *shape* (n,), what is drawn together in the bootstrap.
        seed: of the bootstrap.

    Returns:
        Each number as ``value``, ``low``, ``high`` (95%); None where it is not defined. Also ``n`` and ``answered``.
    """
    return _with_intervals(gold, answers, clusters, (True, False), _detector_rates, seed)


def validator_metrics(
    gold: Sequence[int], answers: Sequence[int | None], clusters: Sequence[Any], seed: int = 42
) -> dict[str, Any]:
    """Macro-F1 over the four levels, linear kappa, and safe against unsafe (MedVAL, supplement S2.3).

    Kappa is taken over the rows with an answer. Levels that neither occur nor are answered do not count in macro-F1.
    Sensitivity is the recall of unsafe outputs (levels 3 and 4). Arguments and result are those of `detector_metrics`.
    """
    return _with_intervals(gold, answers, clusters, RISK_LEVELS, _validator_rates, seed)


def _with_intervals(
    gold: Sequence[Any],
    answers: Sequence[Any],
    clusters: Sequence[Any],
    classes: Sequence[Any],
    rates: Callable[[Counts], Rates],
    seed: int,
) -> dict[str, Any]:
    tables = _tables(gold, answers, clusters, classes)
    points = rates(tables.sum(axis=0)[None])
    drawn = rates(_resampled(tables, seed)) if len(tables) else {}
    result: dict[str, Any] = {"n": len(gold), "answered": sum(answer is not None for answer in answers)}
    for name, values in points.items():
        low, high = (percentile_interval(drawn[name], len(tables)) if drawn else None) or (None, None)
        value = float(values[0])
        defined = np.isfinite(value)
        result[name] = (
            {"value": value, "low": low, "high": high} if defined else dict.fromkeys(("value", "low", "high"))
        )
    return result


def _resampled(tables: Counts, seed: int) -> Counts:
    """Draw clusters with replacement and sum their tables. *Shapes:* (n_clusters, ...) to (RESAMPLES, ...)."""
    # Clusters with equal tables are interchangeable: it is enough to draw how many of each kind there are.
    kinds, sizes = np.unique(tables.reshape(len(tables), -1), axis=0, return_counts=True)
    draws = np.random.default_rng(seed).multinomial(len(tables), sizes / len(tables), size=RESAMPLES)
    summed: Counts = draws.astype(np.float64) @ kinds
    return summed.reshape(RESAMPLES, *tables.shape[1:])


def _tables(gold: Sequence[Any], answers: Sequence[Any], clusters: Sequence[Any], classes: Sequence[Any]) -> Counts:
    """Count (gold, answer) in each cluster. *Shape:* (n_clusters, k, k + 1); the last column is no answer."""
    place = {label: number for number, label in enumerate(classes)}
    names = {name: number for number, name in enumerate(dict.fromkeys(clusters))}
    tables = np.zeros((len(names), len(classes), len(classes) + 1))
    for label, answer, cluster in zip(gold, answers, clusters, strict=True):
        tables[names[cluster], place[label], len(classes) if answer is None else place[answer]] += 1
    return tables


def _divide(above: Counts, below: Counts) -> Counts:
    return np.divide(above, below, out=np.full_like(above, np.nan), where=below > 0)


def _class_rates(tables: Counts) -> tuple[Counts, Counts, Counts]:
    """Return precision, recall and F1 of each class. *Shapes:* (b, k, k + 1) to (b, k) each."""
    right = np.diagonal(tables, axis1=1, axis2=2)
    said, there = tables[:, :, :-1].sum(axis=1), tables.sum(axis=2)
    return _divide(right, said), _divide(right, there), _divide(2 * right, said + there)


def _detector_rates(tables: Counts) -> Rates:
    precision, recall, f1 = _class_rates(tables)
    rates: Rates = {}
    for number, name in enumerate(("factual", "non_factual")):
        rates |= {
            f"{name}_precision": precision[:, number],
            f"{name}_recall": recall[:, number],
            f"{name}_f1": f1[:, number],
        }
    right = np.diagonal(tables, axis1=1, axis2=2).sum(axis=1)
    return {**rates, "macro_f1": f1.mean(axis=1), "accuracy": _divide(right, tables.sum(axis=(1, 2)))}


def _validator_rates(tables: Counts) -> Rates:
    f1 = _class_rates(tables)[2]
    right = np.diagonal(tables, axis1=1, axis2=2).sum(axis=1)
    counted = np.isfinite(f1)
    unsafe = np.array([not is_safe(level) for level in RISK_LEVELS])
    # Rows and columns in the order unsafe, safe; the column of no answer stays.
    rows = np.stack([tables[:, unsafe].sum(axis=1), tables[:, ~unsafe].sum(axis=1)], axis=1)
    halves = np.stack(
        [rows[:, :, :-1][:, :, unsafe].sum(axis=2), rows[:, :, :-1][:, :, ~unsafe].sum(axis=2), rows[:, :, -1]], axis=2
    )
    precision, recall, safety_f1 = _class_rates(halves)
    return {
        "macro_f1": _divide(np.nansum(f1, axis=1), counted.sum(axis=1).astype(np.float64)),
        **{f"f1_level_{level}": f1[:, number] for number, level in enumerate(RISK_LEVELS)},
        "accuracy": _divide(right, tables.sum(axis=(1, 2))),
        "kappa_linear": _linear_kappa(tables[:, :, :-1]),
        "unsafe_sensitivity": recall[:, 0],
        "unsafe_specificity": recall[:, 1],
        "unsafe_precision": precision[:, 0],
        "unsafe_f1": safety_f1[:, 0],
        "safety_accuracy": _divide(halves[:, 0, 0] + halves[:, 1, 1], halves.sum(axis=(1, 2))),
    }


def _linear_kappa(tables: Counts) -> Counts:
    """Cohen's kappa with linear weights of many tables. *Shapes:* (b, k, k) to (b,)."""
    k = tables.shape[1]
    weights = np.abs(np.arange(k)[:, None] - np.arange(k)[None, :])
    total = tables.sum(axis=(1, 2))
    expected = tables.sum(axis=2)[:, :, None] * tables.sum(axis=1)[:, None, :] / np.maximum(total, 1)[:, None, None]
    return 1 - _divide((tables * weights).sum(axis=(1, 2)), (expected * weights).sum(axis=(1, 2)))


def explanation_metrics(rows: Sequence[Row], found: Mapping[str, Row]) -> dict[str, Any]:
    """BLEU, ROUGE-1 and ROUGE-2 (F) of explanations where row and answer both say non-factual and both explain.

    BLEU is of the corpus, in [0, 1] as in the paper's Table 6; ROUGE is a mean over rows, with stemming.

    Returns:
        ``both_non_factual``, ``n`` (compared), ``bleu``, ``rouge1``, ``rouge2`` (None where n is 0).
    """
    both = [
        (row["explanation"], found[row["id"]]["explanation"])
        for row in rows
        if row["id"] in found and row["label"] is False and found[row["id"]]["label"] is False
    ]
    pairs = [(reference, words) for reference, words in both if reference and words]
    result: dict[str, Any] = {"both_non_factual": len(both), "n": len(pairs)}
    if not pairs:
        return {**result, "bleu": None, "rouge1": None, "rouge2": None}
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu import corpus_bleu

    scorer = RougeScorer(["rouge1", "rouge2"], use_stemmer=True)
    scores = [scorer.score(reference, words) for reference, words in pairs]
    bleu = corpus_bleu([words for _, words in pairs], [[reference for reference, _ in pairs]]).score
    return {
        **result,
        "bleu": float(bleu) / 100,
        **{name: float(np.mean([score[name].fmeasure for score in scores])) for name in ("rouge1", "rouge2")},
    }
