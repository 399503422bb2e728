"""Makes outputs whose errors are known: the reference, and the reference with one change of the weight asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Literal

from builders.medval.items import NO_EDIT, Edit, Item, Judgement, Output, Peers, Validator
from builders.medval.rules import exchange, moderate, omissions, same_meaning, slight
from builders.medval.rules.edit_tables import weight_of
from builders.medval.rules.knowledge import Knowledge
from builders.medval.rules.pool import Pool
from builders.medval.rules.reference import departs
from builders.medval.rules.scene import Scene, apply_edit
from builders.texts.english import is_broken, is_misspelt
from builders.texts.origin import Refusal
from ground.contracts.rows_text import RISK_LEVELS, RiskLevel
from ground.stable import stable_hash

__all__ = ["RULES", "RULES_TASKS", "RulesGenerator", "refusal_of"]

Rule = Callable[[Scene], list[Edit]]

RULES_TASKS = ("query2question", "report2impression", "dialogue2note", "course2diagnosis")
"""Tasks that rules can make outputs for: those with a reference; the others ask for free text."""

ONE_IN = 3
UNSAFE: RiskLevel = 3
"""Level from which on an output is unsafe."""
MORE: Mapping[RiskLevel, Sequence[int]] = {1: (0,), 2: (0, 0, 1), 3: (0, 0, 1, 1), 4: (0, 1, 1, 2)}
"""How many further errors outputs of a level have, all alike likely."""
_UNSAID = frozenset({"omit_modifier", "omit_context", "omit_claim", "more_general"})
"""Rules that say less: of questions only, for a note or a list need not say all that its input says."""
MANY = 3
"""So many errors of level 3 weigh 4: outputs of level 4 have 3.2 errors on average in the paper."""
BESIDE: Mapping[RiskLevel, Sequence[RiskLevel]] = {1: (), 2: (2,), 3: (3,), 4: (3, 4)}
"""Levels of these further errors: words of level 2 stand in no unsafe output, for safe ones have them more rarely."""

RULES: dict[str, Rule] = {
    "spelling": partial(same_meaning.variant_of_kind, kind="spelling"),
    "synonym": partial(same_meaning.variant_of_kind, kind="synonym"),
    "abbreviation": partial(same_meaning.variant_of_kind, kind="abbreviation"),
    "wording": partial(same_meaning.variant_of_kind, kind="wording"),
    "own_words": same_meaning.own_words,
    "reorder": same_meaning.reordered,
    "omit_modifier": slight.omitted_modifiers,
    "more_general": slight.more_general,
    "omit_context": omissions.omitted_contexts,
    "omit_claim": omissions.omitted_claims,
    "omit_comparison": omissions.omitted_comparisons,
    "slight_number": slight.slight_numbers,
    "added_group": slight.added_groups,
    "asked_more": slight.asked_more,
    "understate_slightly": partial(slight.graded_symptoms, over=False),
    "overstate_slightly": partial(slight.graded_symptoms, over=True),
    "overstate_certainty": partial(slight.changed_certainty, over=True),
    "understate_certainty": partial(slight.changed_certainty, over=False),
    "dose": partial(exchange.other_strengths, critical=False),
    "frequency": exchange.other_rates,
    "number": exchange.other_values,
    "laterality": moderate.other_sides,
    "false_comparison": moderate.changed_comparisons,
    "other_reason": partial(exchange.other_names, kind="problem", grave=False, reason=True),
    "other_subject": partial(exchange.other_subjects, grave=False),
    "other_problem": partial(exchange.other_names, kind="problem", grave=False),
    "other_drug": partial(exchange.other_names, kind="drug", grave=False),
    "action": partial(moderate.changed_actions, critical=False),
    "symptom_negation": partial(moderate.denied_problems, grave=False),
    "other_question": moderate.other_questions,
    "grave_problem": partial(exchange.other_names, kind="problem", grave=True),
    "grave_subject": partial(exchange.other_subjects, grave=True),
    "grave_drug": partial(exchange.other_names, kind="drug", grave=True),
    "negation": partial(moderate.denied_problems, grave=True),
    "critical_dose": partial(exchange.other_strengths, critical=True),
    "critical_action": partial(moderate.changed_actions, critical=True),
}
"""The generator's rules by name; what each weighs stands in ``builders/data/edit_weights.tsv``."""


def refusal_of(item: Item) -> Refusal | None:
    """Return why rules cannot make an output of an item; None where they can."""
    if item.task not in RULES_TASKS:
        return Refusal("task_needs_a_language_model")
    if item.reference is None or not item.reference.strip():
        return Refusal("no_reference")
    return None


class RulesGenerator:
    """Makes clean and perturbed outputs by rules; answers depend on the seed and the item only."""

    name: Literal["rules", "lm"] = "rules"

    def __init__(self, knowledge: Knowledge, seed: int, validator: Validator, peers: Peers) -> None:
        """Take the engine's parts.

        Args:
            knowledge: reads the texts.
            seed: of all choices.
            validator: is asked whether a reference is without error.
            peers: items by task and source, from whose references edits take their words.
        """
        self.knowledge = knowledge
        self._seed = seed
        self._validator = validator
        self._pools = {key: Pool(items, knowledge) for key, items in peers.items()}
        self._no_pool = Pool((), knowledge)

    def scene(self, item: Item, text: str) -> Scene:
        """Return an item with its clean output as the rules see it."""
        pool = self._pools.get((item.task, item.origin.source), self._no_pool)
        return Scene(item, text, self.knowledge, pool)

    def clean(self, items: Sequence[Item]) -> list[Output | Refusal]:
        """Return the reference of each item as it stands.

        Refusals: the task has no reference; ``reference_disputed`` where the validator finds an error in it, as an
        output without an error is what it should be; ``reference_departs`` where the generator's own look at doses and
        certainty does; what the validator itself refuses.
        """
        outputs = [refusal_of(item) or Output((item.reference or "").strip()) for item in items]
        asked = [(item, out) for item, out in zip(items, outputs, strict=True) if isinstance(out, Output)]
        judged = iter(self._validator.judge([item for item, _ in asked], [out.text for _, out in asked]))
        taken = [_undisputed(out, next(judged)) if isinstance(out, Output) else out for out in outputs]
        pairs = zip(items, taken, strict=True)
        return [self._disputed(item, out) or out if isinstance(out, Output) else out for item, out in pairs]

    def _disputed(self, item: Item, output: Output) -> Refusal | None:
        """Return why the generator itself does not take a reference for an output without an error."""
        if is_broken(output.text) or is_misspelt(output.text, item.input, self.knowledge.in_names):
            return Refusal("reference_broken_english")
        return Refusal("reference_departs") if departs(self.scene(item, output.text)) else None

    def perturb(
        self, items: Sequence[Item], clean: Sequence[Output], levels: Sequence[RiskLevel]
    ) -> list[Output | Refusal]:
        """Return each clean output with a change that weighs the level asked for, and often with others beside it.

        Graver outputs have more errors (MedVAL: 0.1 on average at level 1, 3.2 at level 4), as far as the text allows
        (`MORE`). Of three or four rows of level 1 one is a perturbed output; so one in three of the others also has a
        change of level 1, where the text has one, and words of such changes tell no level.

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
        found: list[Edit] = []
        while len(found) < MANY and (more := self._chosen(scene, (UNSAFE,), found)):
            found.append(more)
        return found if len(found) == MANY else []

    def _chosen(self, scene: Scene, levels: Sequence[RiskLevel], beside: Sequence[Edit]) -> Edit | None:
        """Return a change of one of some levels, of a rule of its own and apart from those that were chosen before."""
        about = (*scene.name, *levels, len(beside))
        done = {edit.rule for edit in beside}
        names = [name for name in RULES if weight_of(name).level in levels and name not in done]
        order = {name: stable_hash(self._seed, "medval_rule", name, *about) for name in names}
        for name in sorted(names, key=order.__getitem__):
            edits = [edit for edit in self.candidates(scene, name) if not any(_meet(edit, one) for one in beside)]
            if edits:
                return edits[stable_hash(self._seed, "medval_edit", *about) % len(edits)]
        return None

    @staticmethod
    def candidates(scene: Scene, rule: str) -> list[Edit]:
        """Return what a rule would change, in the order of the text; nothing that leaves the text as it is."""
        if rule in _UNSAID and scene.item.task != "query2question":
            return []
        edits = [edit for edit in RULES[rule](scene) if edit.before != edit.after]
        edits = [edit for edit in edits if (made := apply_edit(scene.text, [edit])).strip() and not is_broken(made)]
        return sorted(edits, key=lambda edit: (edit.begin, edit.after))


def _meet(one: Edit, other: Edit) -> bool:
    """Tell whether two changes touch the same words."""
    return one.begin <= other.begin + len(other.before) and other.begin <= one.begin + len(one.before)


def _undisputed(output: Output, judged: Judgement | Refusal) -> Output | Refusal:
    if isinstance(judged, Refusal):
        return judged
    return output if judged.risk_level == 1 else Refusal("reference_disputed")
