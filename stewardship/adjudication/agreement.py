"""Phase 3: how often and how closely labels agree with a physician's (docs/stewardship.md#agreement)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ground.contracts.labels import LabelKind, LabelValue
from ground.settings import StewardSettings
from ground.stable import stable_hash
from stewardship.adjudication.discrepancy import SLACK

__all__ = [
    "USUAL",
    "Estimate",
    "Reviewed",
    "ValueType",
    "agrees",
    "bootstrap_mean",
    "mcnemar",
    "review",
    "smape",
    "smape_bound",
    "smape_terms",
    "tolerance",
    "value_type",
    "whole_test",
    "wilson",
]

USUAL = StewardSettings()
"""The settings where nothing is set: the paper's."""
CODES = frozenset({"category", "categorical", "class", "code", "nominal", "binary", "boolean"})
"""Types of output whose numbers are codes."""
ENOUGH = 20
"""Labels from which on their range says what they are."""
WHOLE = 1e-9
"""How far from a whole number a value may be and still be one."""


class ValueType(StrEnum):
    """By which rule a row's labels agree."""

    NA = "na"
    CONTINUOUS = "continuous"
    ORDINAL = "ordinal"
    DATE = "date"
    CATEGORY = "category"


@dataclass(frozen=True)
class Estimate:
    """A number with its 95% interval.

    Attributes:
        value: the number; None where there is nothing to count.
        low, high: ends of the interval.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int


def value_type(
    physician: LabelValue, predictions: Iterable[LabelValue], settings: StewardSettings = USUAL
) -> ValueType | None:
    """Return by which rule a row is judged, from the physician's label and all predictions together.

    A physician's number makes the row continuous if it or any predicted number is no whole number, or above
    ``ordinal_limit`` in absolute value; else ordinal. Abstaining predictions are ignored. None: the physician's label
    is missing or cannot be read, and the row is not reviewed.
    """
    text = {
        LabelKind.ABSTENTION: ValueType.NA,
        LabelKind.DATE: ValueType.DATE,
        LabelKind.CATEGORY: ValueType.CATEGORY,
    }
    if physician.number is None:
        return text.get(physician.kind)
    numbers = [label.number for label in (physician, *predictions) if label.number is not None]
    continuous = any(abs(number - round(number)) > WHOLE or abs(number) > settings.ordinal_limit for number in numbers)
    return ValueType.CONTINUOUS if continuous else ValueType.ORDINAL


def tolerance(labels: Iterable[LabelValue], types: Iterable[str], *, points: float = 1) -> float:
    """Return the points that the scores of a benchmark may be apart: none where its numbers are codes of categories.

    Args:
        labels: its original ones. Where all lie within ``points`` of one another (0 and 1), any two would agree.
        types: of output, as the benchmark names them.
    """
    numbers = [label.number for label in labels if label.number is not None]
    named = {item.strip().casefold() for item in types}
    binary = len(numbers) >= ENOUGH and max(numbers) - min(numbers) <= points and all(map(float.is_integer, numbers))
    return 0.0 if binary or (named and named <= CODES) else points


def agrees(physician: LabelValue, prediction: LabelValue, kind: ValueType, settings: StewardSettings = USUAL) -> bool:
    """Return whether a prediction agrees with a physician's label.

    Abstentions agree with abstentions only; dates and categories must be equal (dates: assumed); ordinal scores may be
    ``ordinal_tolerance`` apart; continuous ones ``agree_rel`` of the physician's value, or that itself where it is 0.
    """
    if physician.number is None or prediction.number is None:
        return prediction.answered and physician == prediction
    apart = abs(physician.number - prediction.number)
    if kind is ValueType.ORDINAL:
        return apart <= settings.ordinal_tolerance + WHOLE
    whole = abs(physician.number) or 1.0
    return apart / whole <= settings.agree_rel + SLACK


@dataclass(frozen=True)
class Reviewed:
    """One row that a physician labelled.

    Attributes:
        predictions: name of a labeller to its label; a labeller without one here is left out.
        agree: name of a labeller to whether it agrees.
    """

    uid: str
    type: ValueType
    physician: LabelValue
    predictions: dict[str, LabelValue]
    agree: dict[str, bool]


def review(
    physician: Mapping[str, LabelValue],
    predictions: Mapping[str, Mapping[str, LabelValue]],
    settings: StewardSettings = USUAL,
) -> list[Reviewed]:
    """Judge every row that a physician labelled, in the order of ``physician``.

    Args:
        physician: uid to the physician's label; rows whose label is missing or cannot be read are left out.
        predictions: name of a labeller (original, recomputed) to its labels by uid. The type of a row is taken from
            all of them together.
        settings: how far apart scores may be, and which are ordinal.
    """
    rows = []
    for uid, label in physician.items():
        own = {name: labels[uid] for name, labels in predictions.items() if uid in labels and labels[uid].answered}
        kind = value_type(label, own.values(), settings)
        if kind is None:
            continue
        agree = {name: agrees(label, other, kind, settings) for name, other in own.items()}
        rows.append(Reviewed(uid, kind, label, own, agree))
    return rows


def wilson(successes: int, n: int) -> Estimate:
    """Return a share with its 95% Wilson score interval (``statsmodels.stats.proportion.proportion_confint``)."""
    from statsmodels.stats.proportion import proportion_confint

    if n == 0:
        return Estimate(None, None, None, 0)
    low, high = proportion_confint(successes, n, alpha=0.05, method="wilson")
    return Estimate(successes / n, max(0.0, float(low)), min(1.0, float(high)), n)


def mcnemar(gained: int, lost: int) -> float | None:
    """Return the p-value of McNemar's exact test, the binomial test of the rows that changed; None without any."""
    from scipy.stats import binomtest

    return float(binomtest(gained, gained + lost).pvalue) if gained + lost else None


def smape_terms(physician: ArrayLike, prediction: ArrayLike) -> NDArray[np.float64]:
    """Return 200 \\|y* - p\\| / (\\|y*\\| + \\|p\\|) for each row, in percent; 0 where both are 0 (paper, equation 2).

    Args:
        physician: *shape* (n,).
        prediction: *shape* (n,).

    Returns:
        *shape* (n,), between 0 and 200.
    """
    a, b = np.asarray(physician, dtype=np.float64), np.asarray(prediction, dtype=np.float64)
    larger = np.maximum(np.abs(a), np.abs(b))
    # Both over the larger one, so that nothing overflows.
    scale = np.where(larger == 0, 1.0, larger)
    total = np.abs(a / scale) + np.abs(b / scale)
    return np.where(larger == 0, 0.0, 200 * np.abs(a / scale - b / scale) / np.where(larger == 0, 1.0, total))


def bootstrap_mean(values: ArrayLike, about: str = "", settings: StewardSettings = USUAL) -> Estimate:
    """Return a mean with its 95% percentile bootstrap interval, ends interpolated linearly.

    Args:
        values: *shape* (n,): one number for each row; rows are resampled with replacement.
        about: what is resampled; with the seed it fixes the resamples.
        settings: seed, and how many resamples.
    """
    rows = np.asarray(values, dtype=np.float64)
    if rows.size == 0:
        return Estimate(None, None, None, 0)
    resamples = settings.resamples
    generator = np.random.default_rng(stable_hash(settings.seed, "bootstrap", about))
    means = np.empty(resamples)
    # At most some 10 MB of drawn places at a time.
    step = max(1, 1_250_000 // rows.size)
    for start in range(0, resamples, step):
        size = (min(step, resamples - start), rows.size)
        means[start : start + step] = rows[generator.integers(rows.size, size=size)].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return Estimate(float(rows.mean()), float(low), float(high), rows.size)


def smape(rows: Sequence[Reviewed], labeller: str, settings: StewardSettings = USUAL) -> Estimate:
    """Return the sMAPE of a labeller over the rows where both labels are numbers, in percent, with its interval.

    Rows where either abstains are left out (paper, appendix C): no error is counted for them.
    """
    pairs = [
        (physician, prediction)
        for row in rows
        if labeller in row.predictions
        and (physician := row.physician.number) is not None
        and (prediction := row.predictions[labeller].number) is not None
    ]
    terms = smape_terms([physician for physician, _ in pairs], [prediction for _, prediction in pairs])
    return bootstrap_mean(terms, f"smape {labeller}", settings)


def smape_bound(rel_err: float = 0.05) -> float:
    """Return the largest sMAPE, in percent, of two numbers that are at most ``rel_err`` apart: 200 d / (2 - d).

    For \\|a\\| >= \\|b\\| and rel.err <= d: \\|a - b\\| <= d \\|a\\| and \\|b\\| >= (1 - d) \\|a\\|. It is the reached
    maximum up to d = 1; from there on the bound is 200, which opposite signs reach.
    """
    return 200.0 if rel_err >= 1 else 200 * rel_err / (2 - rel_err)


def whole_test(flagged: Estimate, weight: float, unflagged: float) -> Estimate:
    """Mix the sMAPE of the flagged rows with one that is supposed for the unflagged: w s + (1 - w) u, at both ends too.

    The interval holds the weight and the supposed value for fixed: it is that of the flagged rows' sMAPE alone.

    Args:
        flagged: sMAPE of the reviewed rows, taken to stand for all flagged ones.
        unflagged: u, sMAPE supposed on the others: 0 for the original labels, `smape_bound` for the recomputed ones.
    """
    if flagged.value is None or flagged.low is None or flagged.high is None:
        return Estimate(None, None, None, flagged.n)
    value, low, high = (weight * end + (1 - weight) * unflagged for end in (flagged.value, flagged.low, flagged.high))
    return Estimate(value, low, high, flagged.n)
