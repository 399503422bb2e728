"""Sentences that name a class, a set, a plan or a whole beside its members, so that both are in the note."""

from __future__ import annotations

from openworld.note_writer import NoteWriter
from openworld.notetext import Item, Values

__all__ = ["GeneralTerms"]


class GeneralTerms(NoteWriter):
    """General terms of the hospital course."""

    def general_terms(self) -> None:
        """Write sentences that name a class, a set or a whole beside its members."""
        parts = {
            "class": self.drug_classes,
            "group": self.problem_groups,
            "plan": self.values_of,
            "drug set": self.drug_sets,
            "problem set": self.problem_sets,
            "workup": self.parts,
            "prophylaxis": self.prophylaxis,
            "companions": self.companions,
            "characteristics": self.characteristics,
        }
        for name in self.dice.shuffled(list(parts), "general terms"):
            if self.dice.chance(0.75, "general", name):
                parts[name]()

    def bullet(self, slot: str, values: Values, *label: str | int) -> str:
        """Write a phrasing as a list item and return its text."""
        self.text.say("- ")
        sentence = self.text.phrase(slot, values, *label)
        self.text.line()
        return sentence

    def _named_drugs(self) -> list[str]:
        return [
            order.drug
            for order in self.admission.orders
            if order.status != "stopped"
            and order.drug not in self.silent_drugs
            and self.known.concepts[order.drug].kind == "drug"
        ]

    def _grouped(self, predicate: str, members: list[str]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name in members:
            for group in self.known.tails(predicate, name):
                found.setdefault(group, []).append(name)
        return found

    def distinct(self, groups: dict[str, list[str]], label: str) -> list[str]:
        """Return groups in an order of their own, one for each set of members."""
        chosen: dict[tuple[str, ...], str] = {}
        for one in self.dice.shuffled(sorted(groups), label):
            chosen.setdefault(tuple(groups[one]), one)
        return list(chosen.values())

    def drug_classes(self) -> None:
        """Name a drug class and the patient's drugs of it."""
        groups = self._grouped("has_pharmacologic_class", self._named_drugs())
        for one in self.dice.shuffled(sorted(groups), "class")[:2]:
            values = self.values(G=[Item(one)], D=self.drugs(groups[one], "class"))
            sentence = self.bullet("link_class", values, one)
            self.link(groups[one], "has_pharmacologic_class", [one], sentence)

    def problem_groups(self) -> None:
        """Name a group of disorders and the patient's problems in it."""
        groups = self._grouped(
            "classified_as", [problem.name for problem in self.visible("principal", "complication", "chronic")]
        )
        for one in self.dice.shuffled(sorted(groups), "group")[:2]:
            values = self.values(K=[Item(one)], P=[Item(name) for name in groups[one]])
            sentence = self.bullet("link_group", values, one)
            self.link(groups[one], "classified_as", [one], sentence)

    def values_of(self) -> None:
        """Name a treatment plan and the drugs that it consists of."""
        plans: dict[str, list[str]] = {}
        for drug in self._named_drugs():
            for one in self.known.heads("authorized_value", drug):
                plans.setdefault(one, []).append(drug)
        for one in self.distinct(plans, "plan")[:3]:
            sentence = self.bullet("link_value", self.values(V=[Item(one)], D=self.drugs(plans[one], "plan")), one)
            self.link([one], "authorized_value", plans[one], sentence)

    def drug_sets(self) -> None:
        """Name a set of drugs, and the cardiac risk factors."""
        sets: dict[str, list[str]] = {}
        for drug in self._named_drugs():
            for one in self.known.heads("subset_includes", drug):
                sets.setdefault(one, []).append(drug)
        for one in self.distinct(sets, "set")[:2]:
            sentence = self.bullet("link_set", self.values(U=[Item(one)], D=self.drugs(sets[one], "set")), one)
            self.link([one], "subset_includes", sets[one], sentence)

    def problem_sets(self) -> None:
        """Name sets of problems and which of them the patient has."""
        sets: dict[str, list[str]] = {}
        for problem in self.visible("principal", "complication", "chronic"):
            for one in self.known.heads("subset_includes", problem.name):
                if self.known.concepts[one].types != ("T184",):
                    sets.setdefault(one, []).append(problem.name)
        for one in self.distinct(sets, "problem set")[:2]:
            slot = "link_risk" if one == "cardiac risk factors" else "link_set_problem"
            values = self.values(U=[Item(one)], M=[Item(name) for name in sets[one]])
            sentence = self.bullet(slot, values, one)
            self.link([one], "subset_includes", sets[one], sentence)

    def parts(self) -> None:
        """Name a workup and the procedures that are part of it."""
        wholes = self._grouped("part_of", self.admission.procedures)
        for one in self.distinct(wholes, "whole")[:3]:
            values = self.values(W=[Item(one)], X=[Item(name) for name in wholes[one]])
            sentence = self.bullet("link_part", values, one)
            self.link(wholes[one], "part_of", [one], sentence)

    def prophylaxis(self) -> None:
        """Name a disorder that a drug of the patient prevents and that the patient does not have."""
        mine = (
            self.absent | set(self.problems) | {place for name in self.problems for place in self.known.ancestors(name)}
        )
        mine |= set(self.ruled_out.values())
        pairs = [
            (drug, name)
            for drug in self._named_drugs()
            for name in self.known.tails("prevents", drug)
            if name not in mine and not set(self.known.ancestors(name)) & set(self.problems)
        ]
        if pairs:
            drug, name = self.dice.pick(pairs, "prophylaxis")
            values = self.values(D=[self.drug_item(drug, "prophylaxis")], P=[Item(name)])
            self.link([drug], "prevents", [name], self.bullet("link_prevent", values))

    def companions(self) -> None:
        """Name pairs of the patient's problems that are associated, occur together or are related."""
        mine = [problem.name for problem in self.visible("principal", "complication", "chronic")]
        for predicate, slot in (
            ("associated_with", "link_assoc"),
            ("co-occurs_with", "link_cooccur"),
            ("related_to", "link_cooccur"),
        ):
            pairs = [(one, two) for one in mine for two in mine if self.known.holds(one, predicate, two)]
            if pairs and self.dice.chance(0.7, predicate):
                one, two = self.dice.pick(pairs, predicate)
                sentence = self.bullet(slot, self.values(P=[Item(two)], A=[Item(one)]), predicate)
                self.link([one], predicate, [two], sentence)

    def characteristics(self) -> None:
        """Name a problem with what defines it."""
        pairs = [
            (problem.name, name)
            for problem in self.visible("principal", "complication", "chronic")
            for name in self.known.heads("defining_characteristic_of", problem.name)
            if name not in self.absent and name not in self.silent_problems
        ]
        for problem, found in dict.fromkeys(self.dice.pick(pairs, "characteristic", n) for n in range(2) if pairs):
            sentence = self.bullet("link_define", self.values(P=[Item(problem)], S=[Item(found)]))
            self.link([found], "defining_characteristic_of", [problem], sentence)
