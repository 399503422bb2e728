"""MedVAL's Algorithm S1: a level for each input, a clean and a perturbed output, two judgements, their consistency.

One pass over a batch of items. The judgements are the labels of the rows (the paper trains on the validator's
degradation, delta-hat); the level that the generator was asked for is kept beside them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from builders.medval.items import NO_EDIT, Edit, Generator, Item, Judgement, Output, Validator
from builders.texts.origin import Refusal
from ground.contracts.rows_text import MEDVAL_DELTAS, RISK_LEVELS, LabelBasis, RiskLevel
from ground.settings import MedvalSettings
from ground.stable import stable_hash

__all__ = ["Triple", "consistency", "levels_of", "make_triples", "triple_id"]

# A sum of three squares, each at most 1 for the absolute terms and 4 for the relative one.
LARGEST_DISAGREEMENT = 6.0
UNSAFE: frozenset[RiskLevel] = frozenset({3, 4})
STANDS_IN: Mapping[RiskLevel, RiskLevel] = {1: 2, 2: 1, 3: 4, 4: 3}
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Triple:
    """An input with its two outputs and what became of them.

    Attributes:
        drawn: the risk level that was drawn for the input.
        level: the risk level that the perturbed output was to reach: the drawn one, or the one that stands in for it.
        by_construction: the levels of its outputs are known by the edits that made them.
        refusal: ``step: reason`` of the first step that refused; what comes after it is None.
        consistency: M_MedVAL in [0, 1]; None where a step refused, and where levels are known by construction.
        kept: both outputs are rows of the dataset.
    """

    item: Item
    drawn: RiskLevel
    level: RiskLevel
    clean: Output | None = None
    perturbed: Output | None = None
    judged_clean: Judgement | None = None
    judged_perturbed: Judgement | None = None
    by_construction: bool = False
    consistency: float | None = None
    kept: bool = False
    refusal: str | None = None

    @property
    def delta(self) -> float:
        """The degradation that the perturbed output was to reach: (level - 1) / 3."""
        return MEDVAL_DELTAS[self.level]

    def label_basis(self, level: RiskLevel, judged: Judgement) -> LabelBasis:
        """Return what a row's level rests on: the edits, where the validator finds the level they were made at."""
        return "by_construction" if self.by_construction and judged.risk_level == level else "validator"


def consistency(clean: ArrayLike, perturbed: ArrayLike, delta: ArrayLike) -> NDArray[np.float64]:
    """Return M_MedVAL = 1 - (v(clean)^2 + (v(pert) - delta)^2 + (v(pert) - v(clean) - delta)^2) / 6.

    Source: MedVAL, equations 1 and 2. All three are scores in [0, 1] of one shape; so is the result, in [0, 1].

    >>> consistency([0.0, 1.0], [1.0, 0.0], [1.0, 1.0]).tolist()
    [1.0, 0.0]
    """
    of_clean, of_perturbed, wanted = (np.asarray(values, np.float64) for values in (clean, perturbed, delta))
    absolute = of_clean**2 + (of_perturbed - wanted) ** 2
    relative = (of_perturbed - of_clean - wanted) ** 2
    scores: NDArray[np.float64] = 1.0 - (absolute + relative) / LARGEST_DISAGREEMENT
    return scores


def levels_of(seed: int, item: Item) -> tuple[RiskLevel, ...]:
    """Return the level of an input, uniform over the four by stable hash, and the one that may stand in for it.

    Safe levels (1, 2) stand in for one another, and so do unsafe ones (3, 4): what an input allows does not decide
    whether its output is safe.
    """
    drawn = RISK_LEVELS[stable_hash(seed, "level", item.origin.source, item.task, item.origin.inner_id) % 4]
    return drawn, STANDS_IN[drawn]


def triple_id(item: Item) -> str:
    """Return 16 hexadecimal digits that name the triple of an item, whatever the seed."""
    return f"{stable_hash(0, 'medval', item.origin.source, item.task, item.origin.inner_id):016x}"


def make_triples(
    items: Sequence[Item], generator: Generator, validator: Validator, settings: MedvalSettings
) -> list[Triple]:
    """Run Algorithm S1 over items; triples come in their order.

    A triple of language models is kept where its consistency is ``tau`` or more; tau 0 keeps every triple that was
    judged. Where levels are known by construction, all are kept that no step refused: an output is refused that the
    validator calls safe where it is unsafe, or the reverse. A perturbed output at level 2 to 4 that equals the clean
    one is refused: it cannot have the degradation that it stands for. So is one with an edit that no named error speaks
    of: a row's errors are those that the validator names.
    """
    orders = [levels_of(settings.seed, item) for item in items]
    refusals: dict[int, str] = {}
    clean = _taken("clean", generator.clean(items), list(range(len(items))), refusals)
    levels = {place: order[0] for place, order in enumerate(orders)}
    perturbed: dict[int, Output] = {}
    for turn in range(2 if settings.redraw else 1):
        places = [place for place in sorted(clean) if place not in perturbed and _may_try(turn, refusals.get(place))]
        asked = {place: orders[place][turn] for place in places}
        outputs, refused = _perturbed(items, clean, asked, generator)
        perturbed |= outputs
        levels |= {place: asked[place] for place in outputs}
        # Where no level can be reached, the reason that stays is that of the level that was drawn.
        refusals |= {place: reason for place, reason in refused.items() if place not in refusals}
    refusals = {place: reason for place, reason in refusals.items() if place not in perturbed}
    judged_clean, judged_perturbed = _judged(items, clean, perturbed, validator, refusals)
    for place, judgement in list(judged_perturbed.items()):
        edits = perturbed[place].edits
        if reason := _disputed(judgement, levels[place], edits, by_construction=generator.by_construction):
            refusals.setdefault(place, f"judge_perturbed: {reason}")
            del judged_perturbed[place]
    both = judged_clean.keys() & judged_perturbed.keys()
    scored = {} if generator.by_construction else _scores(judged_clean, judged_perturbed, levels)
    return [
        Triple(
            item,
            orders[place][0],
            levels[place],
            clean.get(place),
            perturbed.get(place),
            judged_clean.get(place),
            judged_perturbed.get(place),
            by_construction=generator.by_construction,
            consistency=scored.get(place),
            kept=place in both and scored.get(place, 1.0) >= settings.tau,
            refusal=refusals.get(place),
        )
        for place, item in enumerate(items)
    ]


def _disputed(judgement: Judgement, level: RiskLevel, edits: Sequence[Edit], *, by_construction: bool) -> str | None:
    """Return why the validator's view of a perturbed output cannot stand beside the level that it was made at."""
    if level > 1 and not _names_all(judgement, edits):
        return "unnamed_edit"
    if by_construction and (judgement.risk_level in UNSAFE) is not (level in UNSAFE):
        return "other_outcome"
    return None


def _may_try(turn: int, refusal: str | None) -> bool:
    """Tell whether a further level may be asked for: only where the generator said that it cannot reach the first."""
    return turn == 0 or (refusal is not None and refusal.startswith(f"perturb: {NO_EDIT}"))


def _perturbed(
    items: Sequence[Item], clean: Mapping[int, Output], levels: Mapping[int, RiskLevel], generator: Generator
) -> tuple[dict[int, Output], dict[int, str]]:
    """Return the perturbed outputs of the places that were asked for, and the reasons of those that have none."""
    places = list(levels)
    refusals: dict[int, str] = {}
    answers = generator.perturb([items[p] for p in places], [clean[p] for p in places], [levels[p] for p in places])
    perturbed = _taken("perturb", answers, places, refusals)
    for place, output in list(perturbed.items()):
        if levels[place] > 1 and output.text == clean[place].text:
            refusals[place] = "perturb: unchanged"
            del perturbed[place]
    return perturbed, refusals


def _taken(
    step: str, answers: Sequence[Answer | Refusal], places: Sequence[int], refusals: dict[int, str]
) -> dict[int, Answer]:
    taken = {}
    for place, answer in zip(places, answers, strict=True):
        if isinstance(answer, Refusal):
            refusals[place] = f"{step}: {answer.reason}"
        else:
            taken[place] = answer
    return taken


def _judged(
    items: Sequence[Item],
    clean: dict[int, Output],
    perturbed: Mapping[int, Output],
    validator: Validator,
    refusals: dict[int, str],
) -> tuple[dict[int, Judgement], dict[int, Judgement]]:
    """Return the judgements of the clean and of the perturbed outputs, by place."""
    places = sorted(perturbed)
    outputs = [outputs[place].text for outputs in (clean, perturbed) for place in places]
    answers = validator.judge([items[place] for place in places] * 2, outputs)
    # Where both are refused, the reason that stays is that of the clean output.
    of_perturbed = _taken("judge_perturbed", answers[len(places) :], places, refusals)
    of_clean = _taken("judge_clean", answers[: len(places)], places, refusals)
    return of_clean, of_perturbed


def _names_all(judgement: Judgement, edits: Sequence[Edit]) -> bool:
    """Tell whether a quoted error has a word of each edit with a meaning: one that it brought or, if none, took.

    A number speaks of an edit that brought numbers alone: of another drug the dose is not the error.
    """
    quoted = {word for error in judgement.errors for word in _words(error["quote"] or "")}
    changed = [(_words(edit.before), _words(edit.after)) for edit in edits if edit.category is not None]
    telling = [(after - before) or (before - after) for before, after in changed]
    return all(({word for word in words if word.isalpha()} or words) & quoted for words in telling)


def _words(text: str) -> set[str]:
    return {word.strip(".,") for word in re.findall(r"[\w.,]+", text.lower())}


def _scores(
    judged_clean: dict[int, Judgement], judged_perturbed: dict[int, Judgement], levels: Mapping[int, RiskLevel]
) -> dict[int, float]:
    places = sorted(judged_clean.keys() & judged_perturbed.keys())
    scores = consistency(
        [judged_clean[place].score for place in places],
        [judged_perturbed[place].score for place in places],
        [MEDVAL_DELTAS[levels[place]] for place in places],
    )
    return dict(zip(places, scores.tolist(), strict=True))
