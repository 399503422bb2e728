"""Sentences that name a class, a set, a plan or a whole beside its members, so that both are in the note."""

from __future__ import annotations

from functools import partial

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
        self.text.add("- ")
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

    def _named_problems(self) -> list[str]:
        return [problem.name for problem in self.visible("principal", "complication", "chronic")]

    def _distinct(self, groups: dict[str, list[str]], label: str) -> list[str]:
        """Return groups in an order of their own, the first of each set of members."""
        chosen: dict[tuple[str, ...], str] = {}
        for group in self.dice.shuffled(sorted(groups), label):
            chosen.setdefault(tuple(groups[group]), group)
        return list(chosen.values())

    def drug_classes(self) -> None:
        """Name a drug class and the patient's drugs of it."""
        classes = self.groups(self._named_drugs(), partial(self.known.tails, "has_pharmacologic_class"))
        for group in self.dice.shuffled(sorted(classes), "class")[:2]:
            values = self.values(G=[Item(group)], D=self.drugs(classes[group], "class"))
            self.link(classes[group], "has_pharmacologic_class", [group], self.bullet("link_class", values, group))

    def problem_groups(self) -> None:
        """Name a group of disorders and the patient's problems in it."""
        groups = self.groups(self._named_problems(), partial(self.known.tails, "classified_as"))
        for group in self.dice.shuffled(sorted(groups), "group")[:2]:
            values = self.values(K=[Item(group)], P=[Item(name) for name in groups[group]])
            self.link(groups[group], "classified_as", [group], self.bullet("link_group", values, group))

    def values_of(self) -> None:
        """Name a treatment plan and the drugs that it consists of."""
        plans = self.groups(self._named_drugs(), partial(self.known.heads, "authorized_value"))
        for plan in self._distinct(plans, "plan")[:3]:
            values = self.values(V=[Item(plan)], D=self.drugs(plans[plan], "plan"))
            self.link([plan], "authorized_value", plans[plan], self.bullet("link_value", values, plan))

    def drug_sets(self) -> None:
        """Name a set of drugs, and the cardiac risk factors."""
        sets = self.groups(self._named_drugs(), partial(self.known.heads, "subset_includes"))
        for name in self._distinct(sets, "set")[:2]:
            values = self.values(U=[Item(name)], D=self.drugs(sets[name], "set"))
            self.link([name], "subset_includes", sets[name], self.bullet("link_set", values, name))

    def problem_sets(self) -> None:
        """Name sets of problems and which of them the patient has."""
        sets = self.groups(self._named_problems(), partial(self.known.heads, "subset_includes"))
        sets = {name: members for name, members in sets.items() if self.known.concepts[name].types != ("T184",)}
        for name in self._distinct(sets, "problem set")[:2]:
            slot = "link_risk" if name == "cardiac risk factors" else "link_set_problem"
            values = self.values(U=[Item(name)], M=[Item(member) for member in sets[name]])
            self.link([name], "subset_includes", sets[name], self.bullet(slot, values, name))

    def parts(self) -> None:
        """Name a workup and the procedures that are part of it."""
        wholes = self.groups(self.admission.procedures, partial(self.known.tails, "part_of"))
        for whole in self._distinct(wholes, "whole")[:3]:
            values = self.values(W=[Item(whole)], X=[Item(part) for part in wholes[whole]])
            self.link(wholes[whole], "part_of", [whole], self.bullet("link_part", values, whole))

    def prophylaxis(self) -> None:
        """Name a disorder that a drug of the patient prevents and that the patient does not have."""
        pairs = [
            (drug, name)
            for drug in self._named_drugs()
            for name in self.unrelated(self.known.tails("prevents", drug), self.absent, self.ruled_out.values())
        ]
        if pairs:
            drug, name = self.dice.pick(pairs, "prophylaxis")
            values = self.values(D=[self.drug_item(drug, "prophylaxis")], P=[Item(name)])
            self.link([drug], "prevents", [name], self.bullet("link_prevent", values))

    def companions(self) -> None:
        """Name pairs of the patient's problems that are associated, occur together or are related."""
        problems = self._named_problems()
        for predicate, slot in (
            ("associated_with", "link_assoc"),
            ("co-occurs_with", "link_cooccur"),
            ("related_to", "link_cooccur"),
        ):
            pairs = [(head, tail) for head in problems for tail in problems if self.known.holds(head, predicate, tail)]
            if pairs and self.dice.chance(0.7, predicate):
                head, tail = self.dice.pick(pairs, predicate)
                sentence = self.bullet(slot, self.values(P=[Item(tail)], A=[Item(head)]), predicate)
                self.link([head], predicate, [tail], sentence)

    def characteristics(self) -> None:
        """Name a problem with what defines it."""
        pairs = [
            (problem, name)
            for problem in self._named_problems()
            for name in self.known.heads("defining_characteristic_of", problem)
            if name not in self.absent and name not in self.silent_problems
        ]
        for problem, sign in dict.fromkeys(self.dice.pick(pairs, "characteristic", n) for n in range(2) if pairs):
            sentence = self.bullet("link_define", self.values(P=[Item(problem)], S=[Item(sign)]))
            self.link([sign], "defining_characteristic_of", [problem], sentence)
