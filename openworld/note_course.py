"""The hospital course by problem, and what is left to do."""

from __future__ import annotations

from openworld.note_terms import GeneralTerms
from openworld.note_writer import note_words
from openworld.notetext import Item, phrases
from openworld.patients import Problem

__all__ = ["CoursePart"]


class CoursePart(GeneralTerms):
    """The section Brief Hospital Course."""

    def course(self) -> None:
        """Write the hospital course by problem."""
        text = self.text
        self.header("course")
        text.raw("ACTIVE ISSUES:\n")
        for problem in self.visible("principal", "complication"):
            self.active(problem)
        text.raw("CHRONIC ISSUES:\n")
        for problem in self.visible("chronic"):
            self.chronic(problem)
        text.raw("\nOTHER ISSUES:\n")
        self.general_terms()
        text.raw("\nTRANSITIONAL ISSUES:\n")
        self.transitional()

    def heading(self, problem: Problem) -> str:
        """Write the heading of a problem; returns what stands between it and the text."""
        self.text.add("# ")
        self.heading_name(problem.name)
        return self.dice.pick((": ", ": ", "\n"), "heading", problem.name)

    def active(self, problem: Problem) -> None:
        """Write the paragraph of an active problem."""
        text, dice, name = self.text, self.dice.about("active", problem.name), problem.name
        text.add(self.heading(problem))
        symptoms = self.symptoms(name, 2, "course")
        if symptoms and dice.chance(0.7, "open"):
            sentence = text.sentence("course_open", self.values(S=symptoms), name)
            self.link([item.concept for item in symptoms], "sign_or_symptom_of", [name], sentence)
        if dice.chance(0.6, "dx"):
            self.diagnostic_sentence("course_dx", [name], "course", name)
        self.cause(name)
        self.manifestation(name)
        items = self.drugs([drug for drug in problem.drugs if self.orders[drug].status != "stopped"], "course")
        for slot, at_home in (("course_treat_home", True), ("course_treat", False)):
            part = [item for item in items if (self.orders[item.concept].status == "continued") == at_home]
            if part:
                text.sentence(slot, self.values(D=part), name)
                self.link([item.concept for item in part], "treats", [name], "".join(text._paragraph))
        if not items:
            text.sentence("course_supportive", self.words, name)
        self.stopped_against(name)
        procedures = [item for item in self.admission.procedures if self.known.concepts[item].course == "tx"]
        if problem.role == "principal" and problem is self.visible("principal")[0]:
            for procedure in procedures:
                text.sentence("course_procedure", self.values(X=[Item(procedure)]), procedure)
        if dice.chance(0.6, "negative"):
            text.sentence("course_neg", self.values(N=self.denied(2, "course", name)), name)
        if dice.chance(0.3, "excluded"):
            self.excluded_sentence(name)
        if dice.chance(0.12, "possible"):
            self.possible(name)
        text.sentence("course_close", self.words, name)
        text.line()
        text.raw("\n")

    def stopped_against(self, name: str) -> None:
        """Say that a home drug was stopped because its class is contraindicated in a problem."""
        for order in self.admission.orders:
            if order.against == name:
                barred = self.barred_class(order)
                slot = "course_stop_class" if self.dice.chance(0.4, "class stopped") else "course_stop_ci"
                values = {"D": [self.drug_item(order.drug, "against")], "P": [Item(name)], "G": [Item(barred)]}
                sentence = self.text.sentence(slot, self.values(**values), order.drug)
                self.link([order.drug], "contraindicated_with", [name], sentence)
                self.link([barred], "contraindicated_class_of", [name], sentence)

    def cause(self, name: str) -> None:
        """Say what a problem comes from, where a cause is a problem or a drug of this patient."""
        heads = self.known.heads("causes", name)
        causes = [head for head in heads if head in self.problems and head not in self.silent_problems]
        harmful = [head for head in heads if head in self.orders and self.orders[head].status == "stopped"]
        if harmful:
            chosen = self.dice.pick(harmful, "harmful", name)
            sentence = self.text.sentence("course_drug_cause", self.values(C=[self.drug_item(chosen, "cause")]), name)
            self.link([chosen], "causes", [name], sentence)
        elif causes and self.dice.chance(0.8, "cause", name):
            chosen = self.dice.pick(causes, "cause", name)
            sentence = self.text.sentence("course_cause", self.values(C=[Item(chosen)]), name)
            self.link([chosen], "causes", [name], sentence)

    def manifestation(self, name: str) -> None:
        """Name manifestations and companions of a problem that this patient has."""
        heads = self.known.heads("manifestation_of", name)
        signs = [head for head in heads if head in self.problems]
        signs = signs or [head for head in heads if self.known.concepts[head].kind == "finding"]
        signs = [head for head in signs if head not in self.absent and head not in self.silent_problems]
        if signs and self.dice.chance(0.5, "manifestation", name):
            chosen = self.dice.sample(signs, 2, "manifestations", name)
            sentence = self.text.sentence("course_manifest", self.values(M=[Item(head) for head in chosen]), name)
            self.link(chosen, "manifestation_of", [name], sentence)

    def excluded_sentence(self, name: str) -> None:
        """Say that a disorder was looked for and not found; each only once."""
        left = [name for name in note_words()["excluded"] if name in self.excluded - self.denied_already]
        if left:
            chosen = self.dice.pick(left, "not found", name)
            self.denied_already.add(chosen)
            self.text.sentence("course_excluded", self.values(N=[Item(chosen)]), name)

    def possible(self, name: str) -> None:
        """Say that another disorder of the same class is possible."""
        kin = self.unrelated(self.known.kin(name), self.ruled_out.values(), self.excluded)
        if kin:
            self.text.sentence("course_possible", self.values(Q=[Item(self.dice.pick(kin, "possible", name))]), name)

    def chronic(self, problem: Problem) -> None:
        """Write the line of a chronic problem."""
        text = self.text
        text.add("# ")
        self.heading_name(problem.name)
        text.add(": ")
        going_on = [name for name in problem.drugs if self.orders[name].status in ("continued", "new")]
        stopped = [name for name in problem.drugs if self.orders[name].status == "stopped"]
        items = self.drugs(going_on, "chronic")
        if items:
            text.phrase("chronic_drug", self.values(D=items), problem.name)
            self.link(going_on, "treats", [problem.name], "".join(text._paragraph))
        elif not stopped:
            text.phrase("chronic_none", self.words, problem.name)
        for name in stopped:
            if not self.orders[name].against:
                self.stopped(name)
            elif not items:
                text.add(" See above." if text.tail().endswith(".") else "See above.")
        text.line()

    def stopped(self, drug: str) -> None:
        """Say that a home drug was stopped, and why."""
        harms = [name for name in self.known.tails("causes", drug) if name in self.problems]
        values = {"D": [self.drug_item(drug, "stopped")]}
        if harms:
            sentence = self.text.sentence("course_stop_cause", self.values(**values, E=[Item(harms[0])]), drug)
            self.link([drug], "causes", [harms[0]], sentence)
        else:
            self.text.sentence("course_stop", self.values(**values), drug)

    def transitional(self) -> None:
        """Write what is left to do."""
        text, dice = self.text, self.dice
        for template in dice.sample(phrases()["todo"], 2, "todo"):
            text.template(template, self.words)
            text.line()
        planned = [name for name in note_words()["planned"] if name not in self.admission.procedures]
        if dice.chance(0.5, "plan"):
            text.phrase("todo_plan", self.values(X=[Item(dice.pick(planned, "planned"))]))
            text.line()
