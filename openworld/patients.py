"""Patients of the world: who is admitted with what, and which drugs and procedures that brings."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from math import log

from ground.storage.tables import read_table
from openworld.dice import Dice
from openworld.volume import STORY, Volume
from openworld.world import DATA, Knowledge, split

__all__ = [
    "FIRST_HADM",
    "FIRST_SUBJECT",
    "Admission",
    "Order",
    "Patient",
    "Problem",
    "Profile",
    "plan_patient",
    "profiles",
]

FIRST_SUBJECT = 90_000_001
FIRST_HADM = 95_000_001
MAX_PROBLEMS = 14
MAX_ORDERS = 16
MAX_FORBIDDEN = 3
TWO_ADMISSIONS = 0.15


@dataclass(frozen=True, slots=True)
class Profile:
    """A kind of admission."""

    name: str
    service: str
    weight: float
    ages: tuple[int, int]
    sex: str
    principals: tuple[str, ...]
    complications: tuple[str, ...]
    comorbidities: tuple[str, ...]
    procedures: tuple[str, ...]


@dataclass(slots=True)
class Order:
    """A drug of an admission. ``status``: continued, new, inpatient or stopped."""

    drug: str
    problem: str
    amount: str
    status: str
    as_needed: bool
    against: str = ""
    """The problem for which a home drug was stopped because it is contraindicated."""


@dataclass(slots=True)
class Problem:
    """A disorder or finding of an admission. ``role``: principal, complication or chronic."""

    name: str
    role: str
    drugs: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Admission:
    """One hospital stay."""

    hadm_id: int
    number: int
    age: int
    days: int
    profile: Profile
    problems: list[Problem]
    orders: list[Order]
    procedures: list[str]
    has_note: bool


@dataclass(slots=True)
class Patient:
    """One patient: everything follows from (seed, index)."""

    subject_id: int
    index: int
    sex: str
    age: int
    year: int
    dice: Dice
    admissions: list[Admission]


@dataclass(frozen=True, slots=True)
class Limits:
    """Who can have a problem, which problems exclude each other, which need another one."""

    sex: dict[str, str]
    min_age: dict[str, int]
    group: dict[str, str]
    requires: dict[str, tuple[str, ...]]


@lru_cache(maxsize=1)
def profiles() -> tuple[Profile, ...]:
    """Return the kinds of admission."""
    lists = ("principals", "complications", "comorbidities", "procedures")
    rows = read_table(
        DATA / "profiles.tsv", ("name", "service", "weight", "min_age", "max_age", "sex", *lists, "source")
    )
    return tuple(
        Profile(
            row["name"],
            row["service"],
            float(row["weight"]),
            (int(row["min_age"]), int(row["max_age"])),
            row["sex"],
            *(split(row[name]) for name in lists),
        )
        for row in rows
    )


@lru_cache(maxsize=1)
def common() -> tuple[tuple[str, float], ...]:
    """Return (problem, share of admissions) of comorbidities that anyone may have."""
    rows = read_table(DATA / "common.tsv", ("name", "percent", "source"))
    return tuple((row["name"], float(row["percent"]) / 100) for row in rows)


@lru_cache(maxsize=1)
def limits() -> Limits:
    """Return the limits."""
    rows = read_table(DATA / "limits.tsv", ("name", "sex", "min_age", "group", "source"))
    needs = read_table(DATA / "requires.tsv", ("name", "one_of", "source"))
    return Limits(
        {row["name"]: row["sex"] for row in rows if row["sex"]},
        {row["name"]: int(row["min_age"]) for row in rows if row["min_age"]},
        {row["name"]: row["group"] for row in rows if row["group"]},
        {row["name"]: split(row["one_of"]) for row in needs},
    )


class _Planner:
    """Plans one admission."""

    def __init__(self, known: Knowledge, patient: Patient, number: int, profile: Profile) -> None:
        self.known = known
        self.dice = patient.dice.about("admission", number)
        self.lasting = patient.dice.about("lasting")
        """Dice of what stays the same from one admission of a patient to the next."""
        self.sex = patient.sex
        self.age = patient.age + number
        self.profile = profile
        self.problems: dict[str, Problem] = {}
        self.orders: dict[str, Order] = {}
        self.bases: set[str] = set()
        """The problems as the tables name them."""
        self._placed = 0
        self._places: set[str] = set()

    def can_have(self, name: str) -> bool:
        """Return whether a problem fits the patient and the problems so far."""
        rules = limits()
        if name in self.bases or len(self.problems) >= MAX_PROBLEMS:
            return False
        if rules.sex.get(name, self.sex) != self.sex or rules.min_age.get(name, 0) > self.age:
            return False
        group = rules.group.get(name)
        if group and any(rules.group.get(other) == group for other in self.bases):
            return False
        needs = rules.requires.get(name)
        return not needs or any(other in self.bases for other in needs)

    def add(self, names: list[str], role: str, most: int) -> None:
        """Add at most ``most`` of the problems that fit."""
        added = 0
        for base in names:
            if added < most and self.can_have(base):
                name = self._kind_of(base, self.lasting if role == "chronic" else self.dice)
                self.problems[name] = Problem(name, role)
                self.bases.add(base)
                added += 1

    def _kind_of(self, base: str, dice: Dice) -> str:
        """Return the concept itself, or an invented kind of it: the further down the list, the more seldom."""
        kinds = self.known.kinds.get(base)
        if not kinds:
            return base
        return dice.weighted([(name, 1 / rank) for rank, name in enumerate([base, *kinds], 1)], "kind", base)

    def choose_problems(self) -> None:
        """Choose principal problems, comorbidities and complications."""
        dice, profile = self.dice, self.profile
        for name in profile.principals:
            self._add_needed(name)
            self.add([name], "principal", 1)
        lasting = self.lasting
        usual = lasting.shuffled(profile.comorbidities, "comorbidity")
        self.add(usual, "chronic", lasting.integer(3, 5, "comorbidities"))
        anyone = [name for name, share in common() if lasting.chance(share * 0.8, "common", name)]
        self.add(lasting.shuffled(anyone, "common order"), "chronic", 5)
        complications = dice.shuffled(profile.complications, "complication")
        self.add(complications, "complication", dice.integer(1, 3, "complications"))

    def _add_needed(self, name: str) -> None:
        """Add one of the problems without which a principal problem makes no sense."""
        needs = limits().requires.get(name, ())
        if needs and not any(other in self.bases for other in needs):
            fitting = [other for other in needs if other in (*self.profile.principals, *self.profile.comorbidities)]
            self.add(
                fitting or list(needs),
                "principal" if fitting and fitting[0] in self.profile.principals else "chronic",
                1,
            )

    def candidates(self, problem: Problem) -> list[str]:
        """Return the drugs that treat a problem, fit its setting and are not contraindicated in this patient."""
        settings = "HBP" if problem.role == "chronic" else "ABHP"
        fitting = [
            drug.name
            for drug in self.known.usual_drugs(problem.name)
            if drug.setting in settings and self.known.barring(drug.name).isdisjoint(self.places)
        ]
        if problem.role != "chronic" and self.known.concepts[problem.name].course == "acute":
            fitting = [name for name in fitting if self.known.drugs[name].setting in "AB"] or fitting
        dice = self.lasting if problem.role == "chronic" else self.dice
        return self._seldom_last(dice.shuffled(fitting, "drug", problem.name), dice, problem.name)

    def _seldom_last(self, drugs: list[str], dice: Dice, problem: str) -> list[str]:
        """Return the drugs with the invented ones later, the more so the further down their list they are."""
        if not self.known.bases:
            return drugs
        ranks = self.known.ranks
        return sorted(drugs, key=lambda name: (1 + ranks.get(name, 0)) * -log(dice.share("seldom", problem, name)))

    @property
    def places(self) -> set[str]:
        """The problems and everything that they are a kind of."""
        if len(self.problems) != self._placed:
            self._placed = len(self.problems)
            self._places = {place for name in self.problems for place in (name, *self.known.ancestors(name))}
        return self._places

    def _duplicate(self, drug: str) -> bool:
        """Return whether the patient has a drug of the same class, or the same ingredient, already."""
        drug_use = self.known.drugs[drug]
        for other in self.orders:
            theirs = self.known.drugs[other]
            if set(drug_use.ingredients) & set(theirs.ingredients) or drug_use.classes[0] == theirs.classes[0]:
                return True
        return False

    def choose_drugs(self) -> None:
        """Choose up to three drugs for each problem; one that the patient has already may serve again."""
        for problem in self.problems.values():
            dice = self.lasting if problem.role == "chronic" else self.dice
            wanted = dice.weighted(((1, 0.55), (2, 0.33), (3, 0.07), (0, 0.05)), "wanted", problem.name)
            for name in self.candidates(problem):
                if len(problem.drugs) >= wanted:
                    break
                if name in self.orders:
                    problem.drugs.append(name)
                elif len(self.orders) < MAX_ORDERS and not self._duplicate(name):
                    self.orders[name] = self._order(name, problem)
                    problem.drugs.append(name)

    def _order(self, name: str, problem: Problem) -> Order:
        drug = self.known.drugs[name]
        dice = self.dice.about("order", name)
        if problem.role == "chronic":
            status = "continued" if dice.chance(0.93, "status") else "new"
        elif drug.setting == "A":
            status = "inpatient"
        elif self.known.concepts[problem.name].course == "chronic" and dice.chance(0.6, "status"):
            status = "continued"
        else:
            status = "new"
        return Order(name, problem.name, dice.pick(drug.doses, "amount"), status, drug.setting == "P")

    def stop_a_contraindicated_drug(self) -> None:
        """Let a home drug for a chronic problem be stopped because a problem of this stay forbids its class."""
        pairs = [
            (name, problem, against)
            for problem in self.problems.values()
            if problem.role == "chronic" and len(self.orders) < MAX_ORDERS
            for name in self.known.heads("treats", problem.name)
            if name in self.known.drugs and self.known.drugs[name].setting in "HP"
            for against in self._forbidding(name)
        ]
        for number in range(MAX_FORBIDDEN):
            free = [pair for pair in pairs if pair[0] not in self.orders and not self._duplicate(pair[0])]
            if free and len(self.orders) < MAX_ORDERS and self.dice.chance(0.7, "forbid", number):
                name, problem, against = self.dice.pick(free, "forbidden", number)
                order = self._order(name, problem)
                order.status, order.against = "stopped", against
                self.orders[name] = order
                problem.drugs.append(name)

    def _forbidding(self, drug: str) -> list[str]:
        """Return active problems that a class of the drug is contraindicated in."""
        active = [problem.name for problem in self.problems.values() if problem.role != "chronic"]
        classes = self.known.drugs[drug].classes
        return [
            name
            for name in active
            for drug_class in classes
            if self.known.holds(drug_class, "contraindicated_class_of", name)
        ]

    def stop_a_drug(self) -> None:
        """Let a home drug be stopped now and then: it was taken for a chronic problem, or harms now."""
        home = [name for name, order in self.orders.items() if order.status == "continued"]
        harmful = [name for name in home if any(self.known.holds(name, "causes", other) for other in self.problems)]
        choice = harmful or [name for name in home if self.orders[name].as_needed]
        if choice and self.dice.chance(0.45, "stop"):
            self.orders[self.dice.pick(choice, "stopped")].status = "stopped"

    def choose_procedures(self) -> list[str]:
        """Choose procedures of the profile that fit the problems."""
        chosen = []
        for base in self.dice.shuffled(self.profile.procedures, "procedure"):
            name = self._kind_of(base, self.dice)
            diagnosed = self.known.tails("diagnoses", name)
            if self.known.concepts[name].course != "dx" or any(problem in self.problems for problem in diagnosed):
                chosen.append(name)
        return chosen[: self.dice.integer(2, 5, "procedures")]


def _plan_admission(known: Knowledge, patient: Patient, number: int, profile: Profile, volume: Volume) -> Admission:
    dice = patient.dice.about("admission", number)
    planner = _Planner(known, patient, number, profile)
    planner.choose_problems()
    planner.choose_drugs()
    planner.stop_a_contraindicated_drug()
    planner.stop_a_drug()
    return Admission(
        FIRST_HADM + 2 * patient.index + number,
        number,
        patient.age + number,
        dice.integer(2, 12, "days"),
        profile,
        list(planner.problems.values()),
        list(planner.orders.values()),
        planner.choose_procedures(),
        not dice.chance(volume.without_note, "no note"),
    )


def plan_patient(known: Knowledge, seed: int, index: int, volume: Volume = STORY) -> Patient:
    """Return patient number ``index``: the same whatever the number of patients."""
    dice = Dice(seed, "patient", index)
    profile = dice.weighted(tuple((each, each.weight) for each in profiles()), "profile")
    sex = profile.sex or dice.pick(("F", "M"), "sex")
    age = dice.integer(*profile.ages, "age")
    patient = Patient(FIRST_SUBJECT + index, index, sex, age, dice.integer(2110, 2190, "year"), dice, [])
    count = 2 if dice.chance(TWO_ADMISSIONS, "admissions") else 1
    for number in range(count):
        patient.admissions.append(_plan_admission(known, patient, number, profile, volume))
    return patient
