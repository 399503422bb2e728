"""Discharge summaries of the world's patients, in MIMIC's layout, with the truth about every mention."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from app.openworld.notetext import Item, Mention, NoteText, Values, phrases
from app.openworld.patients import Admission, Order, Patient, Problem
from app.openworld.world import Knowledge

__all__ = ["HEADERS", "Link", "Note", "write_note"]

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
FAMILY = (
    "coronary artery disease",
    "type 2 diabetes mellitus",
    "breast cancer",
    "colon cancer",
    "ischemic stroke",
    "hypertension",
    "lung cancer",
    "Alzheimer disease",
    "rheumatoid arthritis",
    "asthma",
    "glaucoma",
    "Parkinson disease",
)
PAST = (
    "deep vein thrombosis",
    "pneumonia",
    "pancreatitis",
    "nephrolithiasis",
    "cellulitis",
    "urinary tract infection",
    "diverticulitis",
    "duodenal ulcer",
    "pericarditis",
    "sinusitis",
    "herpes zoster",
    "gastritis",
    "Lyme disease",
    "hip fracture",
)
PAST_SURGERY = (
    "cholecystectomy",
    "total hip replacement",
    "coronary artery bypass grafting",
    "colonoscopy",
    "pacemaker placement",
)
ALLERGY_CLASSES = ("penicillin antibiotic", "sulfonamide antibiotic", "cephalosporin", "ACE inhibitor", "statin")
REACTIONS = ("rash", "urticaria", "nausea", "anaphylaxis", "cough", "pruritus")
RETURN_FOR = (
    "chest pain",
    "dyspnea",
    "fever",
    "vomiting",
    "dizziness",
    "melena",
    "confusion",
    "headache",
    "syncope",
    "bleeding",
)


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


class _Writer:
    """Writes one note."""

    def __init__(self, known: Knowledge, patient: Patient, admission: Admission) -> None:
        self.known = known
        self.patient = patient
        self.admission = admission
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
        return f"{temperature} {dice.integer(58, 118, 'h')} {pressure} {dice.integer(12, 24, 'r')} {dice.integer(91, 100, 'o')}% RA"

    def drug_item(self, drug: str, *label: str | int) -> Item:
        """Choose how a drug is called: generic, brand or synonym."""
        brands = self.known.drugs[drug].brands if drug in self.known.drugs else ()
        synonyms = self.known.concepts[drug].synonyms
        dice = self.dice.about("drug name", drug, *label)
        plain = synonyms[0] if self.known.concepts[drug].kind == "combination" and synonyms else drug
        share = dice.integer(1, 100, "kind")
        if brands and share > 66:
            return Item(drug, dice.pick(brands, "brand"))
        if synonyms and share > 56:
            return Item(drug, dice.pick(synonyms, "synonym"))
        return Item(drug, plain)

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
        found = [name for name in self.known.heads("sign_or_symptom_of", problem) if name not in self.absent]
        chosen = self.dice.sample(found, count, "symptom", problem, *label)
        general = {place for name in chosen for place in self.known.ancestors(name)}
        return [Item(name) for name in chosen if name not in general]

    @cached_property
    def absent(self) -> set[str]:
        """Findings that this note denies: none that its problems could bring, and no kind of one."""
        possible = {name for problem in self.problems for name in self.known.heads("sign_or_symptom_of", problem)}
        possible |= {name for problem in self.problems for name in self.known.heads("manifestation_of", problem)}
        possible |= {place for name in (*possible, *self.problems) for place in self.known.ancestors(name)}
        possible |= {order.problem for order in self.admission.orders} | set(self.problems)
        usual = [
            concept.name
            for concept in self.known.concepts.values()
            if concept.kind == "finding" and concept.name not in possible and concept.name != "pain"
        ]
        usual = [name for name in usual if not set(self.known.ancestors(name)) & set(self.problems)]
        return set(self.dice.sample(usual, 14, "denied"))

    def denied(self, count: int, *label: str | int) -> list[Item]:
        """Return findings to deny."""
        return [Item(name) for name in self.dice.sample(sorted(self.absent), count, "deny", *label)]

    def link(self, heads: list[str], predicate: str, tails: list[str], evidence: str) -> None:
        """Record the relations of a sentence that hold in the world."""
        for head in heads:
            for tail in tails:
                if self.known.holds(head, predicate, tail):
                    self.links.append(Link(head, predicate, tail, evidence.strip()))

    def write(self) -> Note:
        """Write the note."""
        for part in (self.top, self.story, self.history, self.findings, self.course, self.medications, self.end):
            part()
        text = self.text.text()
        named = {mention.concept for mention in self.text.mentions}
        silent = [order.drug for order in self.admission.orders if order.drug not in named]
        silent += [problem.name for problem in self.admission.problems if problem.name not in named]
        return Note(text, self.text.mentions, self.links, silent)

    def header(self, key: str) -> None:
        """Begin a section."""
        self.text.header(HEADERS[key], f"{HEADERS[key]}:\n")

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
        mine = {
            name
            for drug in self.orders
            for part in self.known.drugs[drug].ingredients
            for name in (part, *self.known.ancestors(part))
        }
        free = [name for name in ALLERGY_CLASSES if name not in mine]
        others = [
            name for name in ("codeine", "morphine", "aspirin", "lisinopril", "vancomycin") if name in self.known.drugs
        ]
        free += [name for name in others if name not in mine and not set(self.known.ancestors(name)) & mine]
        if not free or dice.chance(0.5, "no allergy"):
            text.raw(
                f"{dice.pick(('No Known Allergies / Adverse Drug Reactions', 'Patient recorded as having No Known Allergies to Drugs'), 'nka')}\n"
            )
            return
        chosen = dice.sample(free, dice.integer(1, 2, "allergies"), "allergy")
        for number, name in enumerate(chosen):
            if number:
                text.say(" / ")
            text.mention(Item(name), "allergy")
            if dice.chance(0.4, "reaction", name):
                text.say(" (")
                text.mention(
                    Item(dice.pick([one for one in REACTIONS if one not in self.problems], "which", name)), "allergy"
                )
                text.say(")")
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
        for problem in self.dice.shuffled([one.name for one in chronic], "home")[:1]:
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
                values = {"D": [self.drug_item(order.drug, "class")], "G": [Item(barred)], "P": [Item(order.problem)]}
                sentence = self.text.sentence("hpi_class", self.values(**values), order.drug)
                self.link([order.drug], "treats", [order.problem], sentence)
                self.link([order.drug], "has_pharmacologic_class", [barred], sentence)

    def barred_class(self, order: Order) -> str:
        """Return the class of a drug that a problem forbids."""
        classes = self.known.drugs[order.drug].classes
        return next(one for one in classes if self.known.holds(one, "contraindicated_class_of", order.against))

    def subset_sentence(self, slot: str, members: list[str], kind: str) -> None:
        """Name a set of which two of the concepts are members."""
        sets: dict[str, list[str]] = {}
        for name in members:
            for one in self.known.heads("subset_includes", name):
                sets.setdefault(one, []).append(name)
        for one in self.dice.shuffled(sorted(sets), "subset", kind):
            values = self.values(U=[Item(one)], M=[Item(name) for name in sets[one]])
            sentence = self.text.sentence(slot, values)
            self.link([one], "subset_includes", sets[one], sentence)
            return

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
                text.say(marks.format(number))
                self.history_item(problem)
                text.line()
        self.past()
        self.header("social")
        text.template(dice.pick(phrases()["social"], "social"), self.words)
        text.line()
        self.header("family")
        mine = set(self.problems) | {place for name in self.problems for place in self.known.ancestors(name)}
        relatives = dice.sample([name for name in FAMILY if name not in mine], 2, "family")
        text.phrase("family", self.values(F=[Item(relatives[0])], F2=[Item(relatives[1])]))
        text.line()

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
        mine = set(self.problems) | {place for name in self.problems for place in self.known.ancestors(name)}
        over = [name for name in PAST if name not in mine and not set(self.known.ancestors(name)) & set(self.problems)]
        if dice.chance(0.5, "past"):
            text.phrase("pmh_past", self.values(H=[Item(dice.pick(over, "past problem"))]))
            text.line()
        if dice.chance(0.4, "past surgery"):
            operations = [name for name in PAST_SURGERY if name not in self.admission.procedures]
            text.phrase("pmh_surgery", self.values(X=[Item(dice.pick(operations, "operation"))]))
            text.line()

    def findings(self) -> None:
        """Write examination and results."""
        text, dice = self.text, self.dice
        self.header("exam")
        text.raw(f"ADMISSION:\n{self.words['vitals']}\n")
        for line in [one for one in phrases()["exam"] if dice.chance(0.75, "exam", one)]:
            text.raw(f"{line}\n")
        signs = [one for one in self.symptoms(self.visible("principal")[0].name, 2, "signs")]
        if signs:
            text.phrase("exam_sign", self.values(S=signs))
            text.line()
        self.header("results")
        text.raw(f"ADMISSION LABS:\n{self.labs('admission')}\n")
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
        return f"{values}\nNa-{dice.integer(129, 144, 'n')} Cl-{dice.integer(94, 108, 'l')} HCO3-{dice.integer(19, 29, 'b')}"

    def result(self, procedure: str) -> None:
        """Write the result of a diagnostic procedure."""
        if self.known.concepts[procedure].course != "dx":
            return
        shown = [name for name in self.known.tails("diagnoses", procedure) if name in self.problems]
        shown = [name for name in shown if name not in self.silent_problems]
        values = {"X": [Item(procedure)], "N": self.denied(1, "result", procedure)}
        if not shown:
            self.text.phrase("results_plain", self.values(**values), procedure)
        else:
            chosen = self.dice.pick(shown, "shown", procedure)
            sentence = self.text.phrase("results", self.values(**values, P=[Item(chosen)]), procedure)
            self.link([procedure], "diagnoses", [chosen], sentence)
        self.text.line()

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
        self.general_terms()
        text.raw("\nTRANSITIONAL ISSUES:\n")
        self.transitional()

    def heading(self, problem: Problem) -> str:
        """Write the heading of a problem; returns what stands between it and the text."""
        self.text.say("# ")
        self.heading_name(problem.name)
        return self.dice.pick((": ", ": ", "\n"), "heading", problem.name)

    def heading_name(self, name: str) -> None:
        """Write the name of a problem as headings have it: some notes in capitals, most with a capital first letter."""
        surface = self.text.surface(name)
        style = self.dice.integer(1, 10, "heading style")
        if style <= 2:
            surface = surface.upper()
        elif style <= 8 and surface[0].islower():
            surface = surface[0].upper() + surface[1:]
        self.text.mention(Item(name, surface))

    def active(self, problem: Problem) -> None:
        """Write the paragraph of an active problem."""
        text, dice, name = self.text, self.dice.about("active", problem.name), problem.name
        text.say(self.heading(problem))
        symptoms = self.symptoms(name, 2, "course")
        if symptoms and dice.chance(0.7, "open"):
            sentence = text.sentence("course_open", self.values(S=symptoms), name)
            self.link([item.concept for item in symptoms], "sign_or_symptom_of", [name], sentence)
        if dice.chance(0.6, "dx"):
            self.diagnostic_sentence("course_dx", [name], "course", name)
        self.cause(name)
        self.manifestation(name)
        items = self.drugs(problem.drugs, "course")
        if items:
            text.sentence("course_treat", self.values(D=items), name)
            written = [item.concept for item in items]
            self.link(written, "treats", [name], "".join(text._paragraph))
        else:
            text.sentence("course_supportive", self.words, name)
        self.stopped_against(name)
        procedures = [one for one in self.admission.procedures if self.known.concepts[one].course == "tx"]
        if problem.role == "principal" and problem is self.visible("principal")[0]:
            for one in procedures:
                text.sentence("course_procedure", self.values(X=[Item(one)]), one)
        if dice.chance(0.6, "negative"):
            text.sentence("course_neg", self.values(N=self.denied(2, "course", name)), name)
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
        causes = [
            one for one in self.known.heads("causes", name) if one in self.problems and one not in self.silent_problems
        ]
        harmful = [
            one
            for one in self.known.heads("causes", name)
            if one in self.orders and self.orders[one].status == "stopped"
        ]
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
        found = [one for one in self.known.heads("manifestation_of", name) if one in self.problems]
        if not found:
            found = [
                one for one in self.known.heads("manifestation_of", name) if self.known.concepts[one].kind == "finding"
            ]
        found = [one for one in found if one not in self.absent and one not in self.silent_problems]
        if found and self.dice.chance(0.5, "manifestation", name):
            chosen = self.dice.sample(found, 2, "manifestations", name)
            sentence = self.text.sentence("course_manifest", self.values(M=[Item(one) for one in chosen]), name)
            self.link(chosen, "manifestation_of", [name], sentence)

    def possible(self, name: str) -> None:
        """Say that another disorder of the same class is possible."""
        parents = self.known.concepts[name].parents
        kin = [
            concept.name
            for concept in self.known.concepts.values()
            if set(concept.parents) & set(parents) and concept.kind == "disorder" and concept.course != "class"
        ]
        mine = set(self.problems) | {place for one in self.problems for place in self.known.ancestors(one)}
        kin = [one for one in kin if one not in mine and not set(self.known.ancestors(one)) & set(self.problems)]
        if kin:
            self.text.sentence("course_possible", self.values(Q=[Item(self.dice.pick(kin, "possible", name))]), name)

    def chronic(self, problem: Problem) -> None:
        """Write the line of a chronic problem."""
        text = self.text
        text.say("# ")
        self.heading_name(problem.name)
        text.say(": ")
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
                text.say("see above.")
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

    def general_terms(self) -> None:
        """Write sentences that name a class, a set or a whole beside its members."""
        parts = {
            "class": self.drug_classes,
            "group": self.problem_groups,
            "plan": self.values_of,
            "drug set": self.drug_sets,
            "problem set": self.problem_sets,
            "workup": self.parts,
            "companions": self.companions,
            "characteristics": self.characteristics,
        }
        for name in self.dice.shuffled(list(parts), "general terms"):
            if self.dice.chance(0.75, "general", name):
                parts[name]()

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

    def drug_classes(self) -> None:
        """Name a drug class and the patient's drugs of it."""
        groups = self._grouped("has_pharmacologic_class", self._named_drugs())
        for one in self.dice.shuffled(sorted(groups), "class")[:2]:
            values = self.values(G=[Item(one)], D=self.drugs(groups[one], "class"))
            sentence = self.text.phrase("link_class", values, one)
            self.text.line()
            self.link(groups[one], "has_pharmacologic_class", [one], sentence)

    def problem_groups(self) -> None:
        """Name a group of disorders and the patient's problems in it."""
        groups = self._grouped(
            "classified_as", [problem.name for problem in self.visible("principal", "complication", "chronic")]
        )
        for one in self.dice.shuffled(sorted(groups), "group")[:2]:
            values = self.values(K=[Item(one)], P=[Item(name) for name in groups[one]])
            sentence = self.text.phrase("link_group", values, one)
            self.text.line()
            self.link(groups[one], "classified_as", [one], sentence)

    def values_of(self) -> None:
        """Name a treatment plan and the drugs that it consists of."""
        plans: dict[str, list[str]] = {}
        for drug in self._named_drugs():
            for one in self.known.heads("authorized_value", drug):
                plans.setdefault(one, []).append(drug)
        for one in self.dice.shuffled(sorted(plans), "plan")[:3]:
            sentence = self.text.phrase("link_value", self.values(V=[Item(one)], D=self.drugs(plans[one], "plan")), one)
            self.text.line()
            self.link([one], "authorized_value", plans[one], sentence)

    def drug_sets(self) -> None:
        """Name a set of drugs, and the cardiac risk factors."""
        sets: dict[str, list[str]] = {}
        for drug in self._named_drugs():
            for one in self.known.heads("subset_includes", drug):
                sets.setdefault(one, []).append(drug)
        for one in self.dice.shuffled(sorted(sets), "set")[:2]:
            sentence = self.text.phrase("link_set", self.values(U=[Item(one)], D=self.drugs(sets[one], "set")), one)
            self.text.line()
            self.link([one], "subset_includes", sets[one], sentence)

    def problem_sets(self) -> None:
        """Name sets of problems and which of them the patient has."""
        sets: dict[str, list[str]] = {}
        for problem in self.visible("principal", "complication", "chronic"):
            for one in self.known.heads("subset_includes", problem.name):
                if self.known.concepts[one].types != ("T184",):
                    sets.setdefault(one, []).append(problem.name)
        for one in self.dice.shuffled(sorted(sets), "problem set")[:2]:
            slot = "link_risk" if one == "cardiac risk factors" else "link_set_problem"
            values = self.values(U=[Item(one)], M=[Item(name) for name in sets[one]])
            sentence = self.text.phrase(slot, values, one)
            self.text.line()
            self.link([one], "subset_includes", sets[one], sentence)

    def parts(self) -> None:
        """Name a workup and the procedures that are part of it."""
        wholes = self._grouped("part_of", self.admission.procedures)
        for one in self.dice.shuffled(sorted(wholes), "whole")[:3]:
            values = self.values(W=[Item(one)], X=[Item(name) for name in wholes[one]])
            sentence = self.text.phrase("link_part", values, one)
            self.text.line()
            self.link(wholes[one], "part_of", [one], sentence)

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
                sentence = self.text.phrase(slot, self.values(P=[Item(two)], A=[Item(one)]), predicate)
                self.text.line()
                self.link([one], predicate, [two], sentence)

    def characteristics(self) -> None:
        """Name a problem with what defines it."""
        pairs = [
            (problem.name, name)
            for problem in self.visible("principal", "complication", "chronic")
            for name in self.known.heads("defining_characteristic_of", problem.name)
            if name not in self.absent and name not in self.silent_problems
        ]
        for number in range(min(2, len(pairs))):
            problem, found = self.dice.pick(pairs, "characteristic", number)
            sentence = self.text.phrase("link_define", self.values(P=[Item(problem)], S=[Item(found)]))
            self.text.line()
            self.link([found], "defining_characteristic_of", [problem], sentence)

    def transitional(self) -> None:
        """Write what is left to do."""
        text, dice = self.text, self.dice
        for template in dice.sample(phrases()["todo"], 2, "todo"):
            text.template(template, self.words)
            text.line()
        planned = [
            name
            for name in (
                "colonoscopy",
                "spirometry",
                "bone density scan",
                "polysomnography",
                "cardiac stress test",
                "MRI of brain",
            )
        ]
        planned = [name for name in planned if name not in self.admission.procedures]
        if dice.chance(0.5, "plan"):
            text.phrase("todo_plan", self.values(X=[Item(dice.pick(planned, "planned"))]))
            text.line()

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
        text.say(f"{number}. ")
        synonyms = self.known.concepts[order.drug].synonyms
        plain = "-".join(drug.ingredients) if len(drug.ingredients) > 1 and not synonyms else order.drug
        if len(drug.ingredients) > 1 and synonyms:
            plain = synonyms[0]
        title = " ".join(word[0].upper() + word[1:] for word in plain.split(" "))
        if drug.salts and dice.chance(0.25, "salt"):
            salt = dice.pick(drug.salts, "which salt")
            title = " ".join(word[0].upper() + word[1:] for word in salt.split(" "))
        brand = dice.pick(drug.brands, "brand") if drug.brands else ""
        alone = brand and dice.chance(0.2, "brand alone")
        text.mention(Item(order.drug, brand if alone else title))
        if brand and not alone and dice.chance(0.25, "brand too"):
            text.say(" (")
            text.mention(Item(order.drug, brand))
            text.say(")")
        text.say(f" {order.amount} {drug.unit} {drug.route} {drug.frequency}")
        if order.as_needed:
            reason = self.reason(order)
            text.say(":PRN ")
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
        text.say(dice.pick(phrases()["condition"], "condition"))
        text.line()
        self.header("instructions")
        principal = self.visible("principal")[0]
        written = self.drugs(principal.drugs[:2], "instructions")
        alarm = [name for name in RETURN_FOR if name not in self.problems]
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


def write_note(known: Knowledge, patient: Patient, admission: Admission) -> Note:
    """Write the discharge summary of an admission; it follows from (seed, patient, admission) alone."""
    return _Writer(known, patient, admission).write()
