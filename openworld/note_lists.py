"""The last part of a discharge summary: medications, diagnoses, condition, instructions."""

from __future__ import annotations

from openworld.note_writer import NoteWriter, note_words
from openworld.notetext import Item, phrases
from openworld.patients import Order

__all__ = ["ListsPart"]


class ListsPart(NoteWriter):
    """Everything below the hospital course."""

    def medications(self) -> None:
        """Write both lists of medications."""
        home = [order for order in self.admission.orders if order.status in ("continued", "stopped")]
        after = [order for order in self.admission.orders if order.status in ("continued", "new")]
        self.header("admission")
        if not home:
            self.text.raw("None\n")
        elif self.dice.chance(0.6, "accurate"):
            self.text.raw("The Preadmission Medication list is accurate and complete.\n")
        for number, order in enumerate(home, 1):
            self.medication(number, order, "admission")
        self.header("discharge")
        for number, order in enumerate(after, 1):
            self.medication(number, order, "discharge")

    def medication(self, number: int, order: Order, which: str) -> None:
        """Write one line of a list: name with salt or brand, dose, route, frequency, reason."""
        text, drug = self.text, self.known.drugs[order.drug]
        dice = self.dice.about("line", order.drug)
        text.add(f"{number}. ")
        synonyms = self.known.concepts[order.drug].synonyms
        generic = "-".join(drug.ingredients) if len(drug.ingredients) > 1 and not synonyms else order.drug
        if len(drug.ingredients) > 1 and synonyms:
            generic = synonyms[0]
        title = " ".join(word[0].upper() + word[1:] for word in generic.split(" "))
        if drug.salts and dice.chance(0.25, "salt"):
            salt = dice.pick(drug.salts, "which salt")
            title = " ".join(word[0].upper() + word[1:] for word in salt.split(" "))
        brand = dice.pick(drug.brands, "brand") if drug.brands else ""
        alone = brand and dice.chance(0.2, "brand alone")
        text.mention(Item(order.drug, brand if alone else title))
        if brand and not alone and dice.chance(0.25, "brand too"):
            text.add(" (")
            text.mention(Item(order.drug, brand))
            text.add(")")
        text.add(f" {order.amount} {drug.unit} {drug.route} {drug.frequency}")
        if order.as_needed:
            reason = self.reason(order)
            text.add(":PRN ")
            text.mention(Item(reason, reason), "hypothetical")
            self.link([order.drug], "treats", [reason], "".join(text._paragraph))
        text.line()

    def reason(self, order: Order) -> str:
        """Return why a drug may be taken as needed: a symptom that it treats, or its problem."""
        symptoms = [
            name for name in self.known.tails("treats", order.drug) if self.known.concepts[name].kind == "finding"
        ]
        return self.dice.pick(symptoms, "reason", order.drug) if symptoms else order.problem

    def end(self) -> None:
        """Write disposition, diagnosis, condition and instructions."""
        text, dice = self.text, self.dice
        self.header("disposition")
        place = dice.pick(("Home", "Home With Service", "Extended Care"), "disposition")
        text.raw(f"{place}\n" + (" \nFacility:\n___\n" if place == "Extended Care" else ""))
        self.header("diagnosis")
        self.diagnoses()
        self.header("condition")
        text.add(dice.pick(phrases()["condition"], "condition"))
        text.line()
        self.header("instructions")
        principal = self.visible("principal")[0]
        written = self.drugs(principal.drugs[:2], "instructions")
        alarm = [name for name in note_words()["alarm"] if name not in self.problems]
        values = self.values(
            P=[Item(principal.name)], D=written, N=[Item(name) for name in dice.sample(alarm, 3, "alarm")]
        )
        sentence = text.phrase("instruct" if written else "instruct_bare", values)
        self.link([item.concept for item in written], "treats", [principal.name], sentence)
        text.line()
        self.header("followup")
        text.raw("___\n")

    def diagnoses(self) -> None:
        """Write the discharge diagnoses."""
        text = self.text
        first, rest = self.visible("principal"), self.visible("complication")
        if self.dice.chance(0.5, "labels"):
            text.raw("PRIMARY:\n")
        for problem in first:
            text.mention(Item(problem.name))
            text.line()
        if rest and self.dice.chance(0.7, "secondary"):
            text.raw("SECONDARY:\n")
        for problem in rest:
            text.mention(Item(problem.name))
            text.line()
