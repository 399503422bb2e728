"""What every part of a discharge summary needs: the patient's words, the choice of names, what is denied, the links."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial

from ground.storage.tables import grouped, read_table
from openworld.notetext import Item, Mention, NoteText, Values
from openworld.patients import Admission, Order, Patient, Problem
from openworld.volume import STORY, Volume
from openworld.world import DATA, Knowledge

__all__ = ["HEADERS", "Link", "Note", "NoteWriter", "note_words"]

HEADERS = {
    "chief": "Chief Complaint",
    "procedure": "Major Surgical or Invasive Procedure",
    "hpi": "History of Present Illness",
    "pmh": "Past Medical History",
    "social": "Social History",
    "family": "Family History",
    "exam": "Physical Exam",
    "results": "Pertinent Results",
    "course": "Brief Hospital Course",
    "admission": "Medications on Admission",
    "discharge": "Discharge Medications",
    "disposition": "Discharge Disposition",
    "diagnosis": "Discharge Diagnosis",
    "condition": "Discharge Condition",
    "instructions": "Discharge Instructions",
    "followup": "Followup Instructions",
}


@lru_cache(maxsize=1)
def note_words() -> dict[str, tuple[str, ...]]:
    """Return list -> names of concepts that notes draw from it: relatives' illnesses, past ones, alarms."""
    return grouped(read_table(DATA / "note_words.tsv", ("list", "name", "source")), "list", "name")


@dataclass(slots=True)
class Link:
    """A relation that the note states: names of both ends, and the words that state it."""

    head: str
    predicate: str
    tail: str
    evidence: str


@dataclass(slots=True)
class Note:
    """A discharge summary and its truth. ``silent`` lists coded drugs and problems that the note does not name."""

    text: str
    mentions: list[Mention]
    links: list[Link] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)


class NoteWriter:
    """The state of one note, shared by its parts."""

    def __init__(self, known: Knowledge, patient: Patient, admission: Admission, volume: Volume = STORY) -> None:
        self.known = known
        self.patient = patient
        self.admission = admission
        self.volume = volume
        self.dice = patient.dice.about("note", admission.number)
        self.text = NoteText(known, self.dice)
        self.links: list[Link] = []
        self.problems = {problem.name: problem for problem in admission.problems}
        self.orders = {order.drug: order for order in admission.orders}
        self.silent_problems = self._silent_problems()
        self.silent_drugs = {
            order.drug
            for order in admission.orders
            if order.status == "inpatient" and self.dice.chance(0.08, "silent", order.drug)
        }
        self.words = self._words()
        self.denied_already: set[str] = set()

    def _silent_problems(self) -> set[str]:
        last = [problem.name for problem in self.admission.problems if problem.role == "chronic"][3:]
        return {name for name in last if self.dice.chance(0.12, "silent", name)}

    def _words(self) -> dict[str, str]:
        man = self.patient.sex == "M"
        age = self.admission.age
        return {
            "age": str(age),
            "sx": "M" if man else "F",
            "man": "man" if man else "woman",
            "Mr": "Mr." if man else "Ms.",
            "he": "he" if man else "she",
            "He": "He" if man else "She",
            "his": "his" if man else "her",
            "His": "His" if man else "Her",
            "him": "him" if man else "her",
            "n": str(self.dice.integer(2, 6, "n")),
            "vitals": self._vitals(),
        }

    def _vitals(self) -> str:
        dice = self.dice.about("vitals")
        temperature = f"{97 + dice.integer(0, 30, 't') / 10:.1f}"
        pressure = f"{dice.integer(98, 160, 's')}/{dice.integer(50, 92, 'd')}"
        breathing = f"{dice.integer(12, 24, 'r')} {dice.integer(91, 100, 'o')}% RA"
        return f"{temperature} {dice.integer(58, 118, 'h')} {pressure} {breathing}"

    def drug_item(self, drug: str, *label: str | int) -> Item:
        """Choose how a drug is called: generic, brand or synonym."""
        brands = self.known.drugs[drug].brands if drug in self.known.drugs else ()
        synonyms = self.known.concepts[drug].synonyms
        dice = self.dice.about("drug name", drug, *label)
        generic = synonyms[0] if self.known.concepts[drug].kind == "combination" and synonyms else drug
        share = dice.integer(1, 100, "kind")
        if brands and share > 66:
            return Item(drug, dice.pick(brands, "brand"))
        if synonyms and share > 56:
            return Item(drug, dice.pick(synonyms, "synonym"))
        return Item(drug, generic)

    def drugs(self, names: list[str], *label: str | int) -> list[Item]:
        """Return items of the drugs that the note may name."""
        return [self.drug_item(name, *label) for name in names if name not in self.silent_drugs]

    def visible(self, *roles: str) -> list[Problem]:
        """Return the problems of the roles that the note names."""
        return [
            problem
            for problem in self.admission.problems
            if problem.role in roles and problem.name not in self.silent_problems
        ]

    def values(self, **more: list[Item]) -> Values:
        """Return the words of this patient with the concepts of one sentence."""
        return {**self.words, **more}

    def symptoms(self, problem: str, count: int, *label: str | int) -> list[Item]:
        """Return symptoms of a problem."""
        symptoms = [name for name in self.known.heads("sign_or_symptom_of", problem) if name not in self.absent]
        chosen = self.dice.sample(symptoms, count, "symptom", problem, *label)
        general = {place for name in chosen for place in self.known.ancestors(name)}
        return [Item(name) for name in chosen if name not in general]

    @cached_property
    def had(self) -> set[str]:
        """The patient's problems and everything that they are a kind of."""
        return set(self.problems) | {place for name in self.problems for place in self.known.ancestors(name)}

    def is_kind(self, name: str) -> bool:
        """Tell whether a concept is a kind of one of the patient's problems."""
        return not self.problems.keys().isdisjoint(self.known.ancestors(name))

    def unrelated(self, names: Iterable[str], *others: Collection[str]) -> list[str]:
        """Return those of the names that the patient does not have, no kind of what he has, and none of ``others``."""
        free = (name for name in names if name not in self.had and not self.is_kind(name))
        return [name for name in free if not any(name in other for other in others)]

    @cached_property
    def absent(self) -> set[str]:
        """Findings that this note denies: none that its problems could bring, and no kind of one."""
        possible = {name for problem in self.problems for name in self.known.heads("sign_or_symptom_of", problem)}
        possible |= {name for problem in self.problems for name in self.known.heads("manifestation_of", problem)}
        possible |= {place for name in (*possible, *self.problems) for place in self.known.ancestors(name)}
        possible |= {order.problem for order in self.admission.orders} | set(self.problems)
        return set(self.dice.sample(self.unrelated(note_words()["denied"], possible), 14, "denied"))

    @cached_property
    def ruled_out(self) -> dict[str, str]:
        """Diagnostic procedure of this stay -> a disorder that it excluded: none that the patient has or had."""
        excluded: dict[str, str] = {}
        for procedure in self.admission.procedures:
            free = [
                name
                for name in self.unrelated(self.known.tails("diagnoses", procedure))
                if not any(self.known.holds(name, "classified_as", problem) for problem in self.problems)
            ]
            if free and self.dice.chance(0.6, "ruled out", procedure):
                excluded[procedure] = self.dice.pick(free, "which", procedure)
        return excluded

    @cached_property
    def excluded(self) -> set[str]:
        """Disorders that this note denies: none that the patient has, and no kind of one."""
        free = self.unrelated([*note_words()["never"], *note_words()["excluded"]])
        return set(self.dice.sample(free, 8, "excluded"))

    def denied(self, count: int, *label: str | int) -> list[Item]:
        """Return findings to deny."""
        return [Item(name) for name in self.dice.sample(sorted(self.absent), count, "deny", *label)]

    def groups(self, names: Iterable[str], groups_of: Callable[[str], Iterable[str]]) -> dict[str, list[str]]:
        """Return group -> those of the names that are in it."""
        members: dict[str, list[str]] = {}
        for name in names:
            for group in groups_of(name):
                members.setdefault(group, []).append(name)
        return members

    def link(self, heads: list[str], predicate: str, tails: list[str], evidence: str) -> None:
        """Record the relations of a sentence that hold in the world."""
        for head in heads:
            for tail in tails:
                if self.known.holds(head, predicate, tail):
                    self.links.append(Link(head, predicate, tail, evidence.strip()))

    def header(self, key: str) -> None:
        """Begin a section."""
        self.text.header(HEADERS[key], f"{HEADERS[key]}:\n")

    def heading_name(self, name: str) -> None:
        """Write the name of a problem as headings have it: some notes in capitals, most with a capital first letter."""
        surface = self.text.surface(name)
        style = self.dice.integer(1, 10, "heading style")
        if style <= 2:
            surface = surface.upper()
        elif style <= 8 and surface[0].islower():
            surface = surface[0].upper() + surface[1:]
        self.text.mention(Item(name, surface))

    def barred_class(self, order: Order) -> str:
        """Return the class of a drug that a problem forbids."""
        classes = self.known.drugs[order.drug].classes
        return next(name for name in classes if self.known.holds(name, "contraindicated_class_of", order.against))

    def subset_sentence(self, slot: str, members: list[str], kind: str) -> None:
        """Name a set of which two of the concepts are members."""
        sets = self.groups(members, partial(self.known.heads, "subset_includes"))
        for name in self.dice.shuffled(sorted(sets), "subset", kind)[:1]:
            values = self.values(U=[Item(name)], M=[Item(member) for member in sets[name]])
            self.link([name], "subset_includes", sets[name], self.text.sentence(slot, values))

    def diagnostic_sentence(self, slot: str, problems: list[str], *label: str) -> None:
        """Say which procedure showed one of the problems."""
        pairs = [
            (procedure, problem)
            for procedure in self.admission.procedures
            for problem in problems
            if self.known.holds(procedure, "diagnoses", problem)
        ]
        if pairs:
            procedure, problem = self.dice.pick(pairs, "diagnostic", *label)
            sentence = self.text.sentence(slot, self.values(X=[Item(procedure)], P=[Item(problem)]))
            self.link([procedure], "diagnoses", [problem], sentence)
