"""Makes outputs whose errors are known: the reference, and the reference with one change of the weight asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from builders.medval.items import NO_EDIT, Edit, Item, Judgement, Output, Peers, Validator
from builders.medval.reading import Concepts
from builders.medval.rules import exchange, same_meaning, slight
from builders.medval.rules.edit_tables import weight_of
from builders.medval.rules.gravity import Gravity
from builders.medval.rules.pool import Pool
from builders.medval.rules.reference import departs
from builders.medval.rules.scene import Scene, apply_edit
from builders.texts.english import is_broken, is_misspelt
from builders.texts.origin import Refusal
from ground.contracts.rows_text import RISK_LEVELS, MedvalTask, RiskLevel
from ground.stable import stable_hash

__all__ = ["EDITS", "EXCHANGES", "RULES_TASKS", "RulesGenerator", "refusal_of"]

RULES_TASKS: tuple[MedvalTask, ...] = ("query2question", "course2diagnosis")
"""Questions, and lists made of structured facts; outputs of other tasks need a language model."""

ONE_IN = 3
UNSAFE: RiskLevel = 3
"""Level from which on an output is unsafe."""
MORE: Mapping[RiskLevel, Sequence[int]] = {1: (0,), 2: (0, 0, 1), 3: (0, 0, 1, 1), 4: (0, 1, 1, 2)}
"""How many further errors outputs of a level have, all alike likely."""
MANY = 3
"""Errors of level 3 that make level 4 together: outputs of level 4 have 3.2 errors on average in the paper."""
BESIDE: Mapping[RiskLevel, Sequence[RiskLevel]] = {1: (), 2: (2,), 3: (3,), 4: (3, 4)}
"""Levels of these further errors: none of level 2 in unsafe outputs, or its words would tell that they are unsafe."""

EDITS: dict[str, Callable[[Scene], list[Edit]]] = {
    "spelling": partial(same_meaning.variants_of_kind, kind="spelling"),
    "synonym": partial(same_meaning.variants_of_kind, kind="synonym"),
    "abbreviation": partial(same_meaning.variants_of_kind, kind="abbreviation"),
    "wording": partial(same_meaning.variants_of_kind, kind="wording"),
    "own_words": same_meaning.own_names,
    "reorder": same_meaning.reordered,
    "added_group": slight.added_groups,
    "asked_more": slight.asked_more,
    "understate_slightly": partial(slight.graded_problems, over=False),
    "overstate_slightly": partial(slight.graded_problems, over=True),
    "understate_certainty": slight.doubted_problems,
}
"""The generator's rules by name; what each weighs stands in ``builders/data/edit_weights.tsv``."""
EXCHANGES: dict[str, Callable[[Scene, Pool], list[Edit]]] = {
    "dose": partial(exchange.other_strengths, critical=False),
    "frequency": exchange.other_frequencies,
    "other_problem": partial(exchange.other_names, kind="problem", grave=False),
    "other_drug": partial(exchange.other_names, kind="drug", grave=False),
    "grave_problem": partial(exchange.other_names, kind="problem", grave=True),
    "grave_drug": partial(exchange.other_names, kind="drug", grave=True),
    "critical_dose": partial(exchange.other_strengths, critical=True),
}
"""Those that take their words from other references."""


def refusal_of(item: Item) -> Refusal | None:
    """Return why rules cannot make an output of an item; None where they can."""
    if item.task not in RULES_TASKS:
        return Refusal("task_needs_a_language_model")
    if item.reference is None or not item.reference.strip():
        return Refusal("no_reference")
    return None


class RulesGenerator:
    """Makes clean and perturbed outputs by rules; answers depend on the seed and the item only."""

    by_construction = True

    def __init__(
        self, concepts: Concepts, seed: int, validator: Validator, peers: Peers, in_names: frozenset[str]
    ) -> None:
        """Take the engine's parts.

        Args:
            concepts: reads the texts.
            seed: of all choices.
            validator: is asked whether a reference is without error.
            peers: items by task and source, from whose references edits take their words.
            in_names: words that names of the release are made of.
        """
        self.concepts, self._gravity = concepts, Gravity(concepts)
        self._seed, self._validator, self._in_names = seed, validator, in_names
        self._pools = {
            key: Pool([self.scene(item, (item.reference or "").strip()) for item in items])
            for key, items in peers.items()
        }

    def scene(self, item: Item, text: str) -> Scene:
        """Return an item with its clean output as the rules see it."""
        return Scene(item, text, self.concepts, self._gravity)

    def clean(self, items: Sequence[Item]) -> list[Output | Refusal]:
        """Return the reference of each item as it stands.

        Refusals: the task has no reference; ``reference_disputed`` where the validator finds an error in it, as an
        output without an error is what it should be; ``reference_departs`` where the generator's own look does; what
        the validator itself refuses.
        """
        outputs = [refusal_of(item) or Output((item.reference or "").strip()) for item in items]
        asked = [(item, out) for item, out in zip(items, outputs, strict=True) if isinstance(out, Output)]
        judged = iter(self._validator.judge([item for item, _ in asked], [out.text for _, out in asked]))
        taken = [_undisputed(out, next(judged)) if isinstance(out, Output) else out for out in outputs]
        pairs = zip(items, taken, strict=True)
        return [self._disputed(item, out) or out if isinstance(out, Output) else out for item, out in pairs]

    def _disputed(self, item: Item, output: Output) -> Refusal | None:
        """Return why the generator itself does not take a reference for an output without an error."""
        if is_broken(output.text) or is_misspelt(output.text, item.input, self._in_names):
            return Refusal("reference_broken_english")
        return Refusal("reference_departs") if departs(self.scene(item, output.text)) else None

    def perturb(
        self, items: Sequence[Item], clean: Sequence[Output], levels: Sequence[RiskLevel]
    ) -> list[Output | Refusal]:
        """Return each clean output with a change that weighs the level asked for, and often with others beside it.

        Graver outputs have more errors (MedVAL: 0.1 on average at level 1, 3.2 at level 4), as far as the text allows
        (`MORE`). One in three clean outputs also gets a harmless change, where the text allows one, so that the wording
        of harmless changes does not give level 1 away.

        Refusals: ``no_edit_at_level_N``: no rule of that level applies. ``no_safe_twin``, ``no_unsafe_twin``: the other
        outcome was not possible, so that the item itself would tell the label.
        """
        return [self._perturbed(*triple) for triple in zip(items, clean, levels, strict=True)]

    def _perturbed(self, item: Item, clean: Output, level: RiskLevel) -> Output | Refusal:
        if refused := refusal_of(item):
            return refused
        scene = self.scene(item, clean.text)
        edits = self._errors(scene, level)
        if not edits:
            return Refusal(f"{NO_EDIT}{level}")
        others = tuple(other for other in RISK_LEVELS if (other >= UNSAFE) is not (level >= UNSAFE))
        if self._chosen(scene, others, []) is None:
            return Refusal("no_safe_twin" if level >= UNSAFE else "no_unsafe_twin")
        number = stable_hash(self._seed, "medval_more", *scene.name)
        for _ in range(1 + MORE[level][number % len(MORE[level])] - len(edits)):
            more = self._chosen(scene, BESIDE[level], edits)
            edits += [more] if more else []
        if level > 1 and stable_hash(self._seed, "medval_two", *scene.name) % ONE_IN == 0:
            more = self._chosen(scene, (1,), edits)
            edits += [more] if more else []
        return Output(apply_edit(clean.text, edits), tuple(sorted(edits, key=lambda edit: edit.begin)))

    def _errors(self, scene: Scene, level: RiskLevel) -> list[Edit]:
        """Return an edit of a level; at level 4, where there is none, three of level 3, which weigh as much."""
        first = self._chosen(scene, (level,), [])
        if first is not None or level < max(RISK_LEVELS):
            return [first] if first else []
        edits: list[Edit] = []
        while len(edits) < MANY and (more := self._chosen(scene, (UNSAFE,), edits)):
            edits.append(more)
        return edits if len(edits) == MANY else []

    def _chosen(self, scene: Scene, levels: Sequence[RiskLevel], beside: Sequence[Edit]) -> Edit | None:
        """Return a change of one of some levels, of a rule of its own and apart from those that were chosen before."""
        about = (*scene.name, *levels, len(beside))
        done = {edit.rule for edit in beside}
        names = [name for name in (*EDITS, *EXCHANGES) if weight_of(name).level in levels and name not in done]
        order = {name: stable_hash(self._seed, "medval_rule", name, *about) for name in names}
        for name in sorted(names, key=order.__getitem__):
            edits = [edit for edit in self.candidates(scene, name) if not any(_meet(edit, other) for other in beside)]
            if edits:
                return edits[stable_hash(self._seed, "medval_edit", *about) % len(edits)]
        return None

    def candidates(self, scene: Scene, rule: str) -> list[Edit]:
        """Return what a rule would change, in the order of the text; nothing that leaves the text as it is."""
        if rule in EDITS:
            edits = EDITS[rule](scene)
        else:
            pool = self._pools.get((scene.item.task, scene.item.origin.source))
            edits = EXCHANGES[rule](scene, pool) if pool else []
        edits = [edit for edit in edits if edit.before != edit.after and not is_broken(apply_edit(scene.text, [edit]))]
        return sorted(edits, key=lambda edit: (edit.begin, edit.after))


def _meet(edit: Edit, other: Edit) -> bool:
    """Tell whether two changes touch the same words."""
    return edit.begin <= other.begin + len(other.before) and other.begin <= edit.begin + len(edit.before)


def _undisputed(output: Output, judged: Judgement | Refusal) -> Output | Refusal:
    if isinstance(judged, Refusal):
        return judged
    return output if judged.risk_level == 1 else Refusal("reference_disputed")
