"""Makes outputs whose errors are known: the reference, and the reference with one change of the weight asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

from builders.medval.items import Edit, Item, Judgement, Output, Validator
from builders.medval.rules import grave, minor, moderate, same_meaning
from builders.medval.rules.knowledge import Knowledge
from builders.medval.rules.scene import Scene, apply_edit
from builders.medval.rules.tables import weights
from builders.texts.origin import Refusal
from ground.contracts.rows_text import RiskLevel
from ground.stable import stable_hash

__all__ = ["RULES", "RULES_TASKS", "RulesGenerator", "refusal_of"]

Rule = Callable[[Scene], list[Edit]]

RULES_TASKS = ("query2question", "report2impression", "dialogue2note", "course2diagnosis")
"""Tasks that rules can make outputs for: those with a reference; the others ask for free text."""

RULES: dict[str, Rule] = {
    "spelling": partial(same_meaning.variant_of_kind, kind="spelling"),
    "synonym": partial(same_meaning.variant_of_kind, kind="synonym"),
    "abbreviation": partial(same_meaning.variant_of_kind, kind="abbreviation"),
    "wording": partial(same_meaning.variant_of_kind, kind="wording"),
    "reorder": same_meaning.reordered,
    "omit_modifier": minor.omitted_modifiers,
    "added_mildness": partial(minor.added_grades, grade="mild"),
    "added_severity": partial(minor.added_grades, grade="severe"),
    "understate_slightly": partial(minor.slight_intensity, over=False),
    "overstate_slightly": partial(minor.slight_intensity, over=True),
    "overstate_certainty": minor.stated_certainly,
    "understate_certainty": minor.doubted_problems,
    "dose": moderate.changed_doses,
    "frequency": moderate.changed_frequencies,
    "number": moderate.changed_numbers,
    "laterality": moderate.other_sides,
    "sibling_drug": moderate.sibling_drugs,
    "sibling_diagnosis": moderate.sibling_diagnoses,
    "action": partial(moderate.changed_actions, critical=False),
    "symptom_negation": moderate.flipped_symptoms,
    "other_question": moderate.other_questions,
    "contraindicated_drug": grave.contraindicated_drugs,
    "allergic_drug": grave.allergic_drugs,
    "negation": grave.denied_problems,
    "invented_diagnosis": grave.invented_diagnoses,
    "opposite_diagnosis": grave.opposed_diagnoses,
    "wrong_subject": grave.wrong_subjects,
    "critical_dose": grave.critical_doses,
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

    def __init__(self, knowledge: Knowledge, seed: int, validator: Validator) -> None:
        self.knowledge = knowledge
        self._seed = seed
        self._validator = validator

    def clean(self, items: Sequence[Item]) -> list[Output | Refusal]:
        """Return the reference of each item as it stands.

        Refusals: the task has no reference; ``reference_disputed`` where the validator finds an error in it, as an
        output without an error is what it should be; what the validator itself refuses.
        """
        outputs = [refusal_of(item) or Output((item.reference or "").strip()) for item in items]
        asked = [(item, out) for item, out in zip(items, outputs, strict=True) if isinstance(out, Output)]
        judged = iter(self._validator.judge([item for item, _ in asked], [out.text for _, out in asked]))
        return [_undisputed(out, next(judged)) if isinstance(out, Output) else out for out in outputs]

    def perturb(
        self, items: Sequence[Item], clean: Sequence[Output], levels: Sequence[RiskLevel]
    ) -> list[Output | Refusal]:
        """Return each clean output with one change that weighs the level asked for.

        Refusal ``no_edit_at_level_N``: no rule of that level applies; a weaker change never takes its place.
        """
        return [self._perturbed(*triple) for triple in zip(items, clean, levels, strict=True)]

    def _perturbed(self, item: Item, clean: Output, level: RiskLevel) -> Output | Refusal:
        if refused := refusal_of(item):
            return refused
        scene = Scene(item, clean.text, self.knowledge)
        about = (item.origin.source, item.origin.inner_id, level)
        names = [name for name in RULES if weights()[name].level == level]
        for name in sorted(names, key=lambda name: stable_hash(self._seed, "medval_rule", name, *about)):
            edits = self.candidates(scene, name)
            if edits:
                chosen = edits[stable_hash(self._seed, "medval_edit", *about) % len(edits)]
                return Output(apply_edit(clean.text, [chosen]), (chosen,))
        return Refusal(f"no_edit_at_level_{level}")

    @staticmethod
    def candidates(scene: Scene, rule: str) -> list[Edit]:
        """Return what a rule would change, in the order of the text; nothing that leaves the text as it is."""
        edits = [edit for edit in RULES[rule](scene) if edit.before != edit.after]
        edits = [edit for edit in edits if apply_edit(scene.text, [edit]).strip()]
        return sorted(edits, key=lambda edit: (edit.begin, edit.after))


def _undisputed(output: Output, judged: Judgement | Refusal) -> Output | Refusal:
    if isinstance(judged, Refusal):
        return judged
    return output if judged.risk_level == 1 else Refusal("reference_disputed")
