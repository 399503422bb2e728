"""The first half of a discharge summary: header, allergies, history, examination, results."""

from __future__ import annotations

import re
from functools import cached_property

from openworld.laboratory import laboratory_lines
from openworld.note_writer import NoteWriter, note_words
from openworld.notetext import Item, phrases
from openworld.patients import Problem

__all__ = ["HistoryPart"]

NO_ALLERGY = ("No Known Allergies / Adverse Drug Reactions", "Patient recorded as having No Known Allergies to Drugs")


class HistoryPart(NoteWriter):
    """Everything above the hospital course."""

    def top(self) -> None:
        """Write the part above the history."""
        text = self.text
        text.raw(" \nName:  ___                     Unit No:   ___\n \n")
        text.raw("Admission Date:  ___              Discharge Date:   ___\n \n")
        text.raw(f"Date of Birth:  ___             Sex:   {self.patient.sex}\n \n")
        text.raw(f"Service: {self.admission.profile.service}\n")
        text.header("Allergies", "Allergies: \n")
        self.allergies()
        text.raw(" \nAttending: ___\n")
        self.header("chief")
        principal = self.visible("principal")[0]
        chief = self.symptoms(principal.name, 2, "chief") or [Item(principal.name)]
        text.template("{S:,}", self.values(S=chief))
        text.line()
        self.header("procedure")
        invasive = [name for name in self.admission.procedures if self.known.concepts[name].course == "tx"]
        if not invasive:
            text.raw("None\n")
        for name in invasive:
            text.template("___: {X}" if self.dice.chance(0.4, "dated") else "{X}", self.values(X=[Item(name)]))
            text.line()

    def allergies(self) -> None:
        """Write drug allergies: never to a drug of this patient or its class."""
        dice, text = self.dice, self.text
        given = {
            name
            for drug in self.orders
            for part in self.known.drugs[drug].ingredients
            for name in (part, *self.known.ancestors(part))
        }
        free = [name for name in note_words()["allergy"] if name not in given]
        free = [name for name in free if not set(self.known.concepts[name].parents) & given]
        if not free or dice.chance(0.5, "no allergy"):
            text.raw(f"{dice.pick(NO_ALLERGY, 'nka')}\n")
            return
        chosen = dice.sample(free, dice.integer(1, 2, "allergies"), "allergy")
        for number, name in enumerate(chosen):
            if number:
                text.add(" / ")
            text.mention(Item(name), "allergy")
            if dice.chance(0.4, "reaction", name):
                text.add(" (")
                reactions = [finding for finding in note_words()["reaction"] if finding not in self.problems]
                text.mention(Item(dice.pick(reactions, "which", name)), "allergy")
                text.add(")")
        text.line()

    def story(self) -> None:
        """Write the history of present illness."""
        text, dice = self.text, self.dice
        self.header("hpi")
        principals = self.visible("principal")
        chronic = self.visible("chronic")
        known_before = [problem for problem in principals if self.known.concepts[problem.name].course == "chronic"]
        main = [Item(problem.name) for problem in (known_before + chronic)[:4]]
        symptoms = self.symptoms(principals[0].name, 3, "open")
        slot = "hpi_open" if symptoms else "hpi_bare"
        sentence = text.phrase(slot, self.values(C=main or [Item(principals[0].name)], S=symptoms))
        self.link([item.concept for item in symptoms], "sign_or_symptom_of", [item.concept for item in main], sentence)
        rest = [item for item in self.symptoms(principals[-1].name, 5, "more") if item not in symptoms][:2]
        if rest:
            text.sentence("hpi_more", self.values(S=rest))
        self.subset_sentence("hpi_subset", [item.concept for item in (*symptoms, *rest)], "finding")
        text.sentence("hpi_neg", self.values(N=self.denied(3, "hpi")))
        if dice.chance(0.4, "never"):
            never = dice.sample([name for name in note_words()["never"] if name in self.excluded], 2, "never had")
            if never:
                text.sentence("hpi_never", self.values(N=[Item(name) for name in never]))
        if dice.chance(0.2, "family in the story"):
            text.sentence("hpi_family", self.values(F=[Item(self.relatives[0])]))
        for problem in self.dice.shuffled([problem.name for problem in chronic], "home")[:1]:
            self.home_sentence(self.problems[problem])
        self.class_sentence()
        text.line()
        text.raw("\n")
        first = [order for order in self.admission.orders if order.status == "inpatient"][:2]
        given = self.drugs([order.drug for order in first], "ed")
        text.phrase("hpi_ed" if given else "hpi_ed_bare", self.values(D=given))
        self.diagnostic_sentence("hpi_dx", [problem.name for problem in principals], "hpi")
        text.line()
        if dice.chance(0.3, "floor"):
            text.raw("On arrival to the floor, the patient had no new complaints.\n")

    def home_sentence(self, problem: Problem) -> None:
        """Say which drug a chronic problem has at home."""
        home = [name for name in problem.drugs if self.orders[name].status == "continued"]
        if home:
            items = self.drugs(home[:2], "hpi home")
            sentence = self.text.sentence("hpi_home", self.values(D=items, P=[Item(problem.name)]))
            self.link(home[:2], "treats", [problem.name], sentence)

    def class_sentence(self) -> None:
        """Name the class of a home drug that will be stopped because of a problem of this stay."""
        for order in self.admission.orders:
            if order.against and order.problem not in self.silent_problems:
                barred = self.barred_class(order)
                drug = self.drug_item(order.drug, "class")
                values = self.values(D=[drug], G=[Item(barred, barred)], P=[Item(order.problem)])
                sentence = self.text.sentence("hpi_class", values, order.drug)
                self.link([order.drug], "treats", [order.problem], sentence)
                self.link([order.drug], "has_pharmacologic_class", [barred], sentence)

    def history(self) -> None:
        """Write past, social and family history."""
        text, dice = self.text, self.dice
        self.header("pmh")
        known_before = [
            problem
            for problem in self.visible("principal", "chronic")
            if self.known.concepts[problem.name].course == "chronic" or problem.role == "chronic"
        ]
        if dice.chance(0.25, "pmh in a line"):
            text.template("{P:,}", self.values(P=[Item(problem.name) for problem in known_before]))
            text.line()
        else:
            marks = dice.pick(("- ", "", "{}. "), "pmh mark")
            for number, problem in enumerate(known_before, 1):
                text.add(marks.format(number))
                self.history_item(problem)
                text.line()
        self.past()
        self.header("social")
        using = any("use disorder" in name for name in self.problems)
        lines = [line for line in phrases()["social"] if not using or not re.search("alcohol|drugs", line)]
        text.template(dice.pick(lines, "social"), self.words)
        text.line()
        self.header("family")
        text.phrase("family", self.values(F=[Item(self.relatives[0])], F2=[Item(self.relatives[1])]))
        text.line()

    @cached_property
    def relatives(self) -> list[str]:
        """Two illnesses of relatives that the patient does not have."""
        return self.dice.sample([name for name in note_words()["family"] if name not in self.had], 2, "family")

    def history_item(self, problem: Problem) -> None:
        """Write one problem of the past medical history."""
        home = [name for name in problem.drugs if self.orders[name].status == "continued"]
        template = self.dice.pick(phrases()["pmh_item"], "pmh", problem.name)
        if "{D}" in template and not home:
            template = "{P}"
        items = self.drugs(home[:1], "pmh")
        before = self.text.place
        self.text.template(template, self.values(P=[Item(problem.name)], D=items))
        if "{D}" in template and self.text.place > before:
            self.link(home[:1], "treats", [problem.name], "".join(self.text._paragraph))

    def past(self) -> None:
        """Write problems and operations that are over."""
        text, dice = self.text, self.dice
        over = self.unrelated(note_words()["past"], self.ruled_out.values(), self.excluded)
        if dice.chance(0.5, "past"):
            text.phrase("pmh_past", self.values(H=[Item(dice.pick(over, "past problem"))]))
            text.line()
        if dice.chance(0.4, "past surgery"):
            operations = [name for name in note_words()["operation"] if name not in self.admission.procedures]
            text.phrase("pmh_surgery", self.values(X=[Item(dice.pick(operations, "operation"))]))
            text.line()

    def findings(self) -> None:
        """Write examination and results."""
        text, dice = self.text, self.dice
        self.header("exam")
        text.raw(f"ADMISSION:\n{self.words['vitals']}\n")
        for line in [line for line in phrases()["exam"] if dice.chance(0.75, "exam", line)]:
            text.raw(f"{line}\n")
        signs = self.symptoms(self.visible("principal")[0].name, 2, "signs")
        if signs:
            text.phrase("exam_sign", self.values(S=signs))
            text.line()
        self.header("results")
        text.raw(f"ADMISSION LABS:\n{self.labs('admission')}\n")
        if self.volume.laboratory:
            blocks = dice.integer(2, 2 * self.volume.laboratory - 2, "laboratory blocks")
            text.raw("\n".join((*laboratory_lines(dice, blocks), "")))
        for name in self.admission.procedures:
            self.result(name)
        text.raw(f"DISCHARGE LABS:\n{self.labs('discharge')}\n")

    def labs(self, when: str) -> str:
        """Return a line of laboratory values."""
        dice = self.dice.about("labs", when)
        values = (
            f"WBC-{dice.integer(38, 142, 'w') / 10:.1f} Hgb-{dice.integer(82, 149, 'h') / 10:.1f}* Plt ___ "
            f"UreaN-{dice.integer(9, 44, 'u')} Creat-{dice.integer(6, 26, 'c') / 10:.1f}"
        )
        salts = f"Na-{dice.integer(129, 144, 'n')} Cl-{dice.integer(94, 108, 'l')} HCO3-{dice.integer(19, 29, 'b')}"
        return f"{values}\n{salts}"

    def result(self, procedure: str) -> None:
        """Write the result of a diagnostic procedure."""
        if self.known.concepts[procedure].course != "dx":
            return
        results = [name for name in self.known.tails("diagnoses", procedure) if name in self.problems]
        results = [name for name in results if name not in self.silent_problems]
        excluded = self.ruled_out.get(procedure)
        values = {"X": [Item(procedure)], "N": [Item(excluded)] if excluded else []}
        ending = "_negative" if excluded else ""
        if not results:
            self.text.phrase(f"results_plain{ending}", self.values(**values), procedure)
        else:
            chosen = self.dice.pick(results, "shown", procedure)
            sentence = self.text.phrase(f"results{ending}", self.values(**values, P=[Item(chosen)]), procedure)
            self.link([procedure], "diagnoses", [chosen], sentence)
        self.text.line()
