"""The world's content: concepts and facts, read from the data tables and checked against each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

from ground import ROOT
from ground.errors import InputError
from ground.stable import stable_unit
from ground.storage.tables import Row, read_table

__all__ = ["CUI_BASE", "DATA", "Concept", "Drug", "Fact", "Knowledge", "split"]

DATA = ROOT / "openworld" / "data"
CONTENT_SEED = 0
STATED_SHARE = 0.5
"""Share of the members of a class that state the class's indication themselves; the others inherit it."""

CUI_BASE = {
    "disorder": 0,
    "finding": 10_000,
    "procedure": 20_000,
    "term": 30_000,
    "class": 40_000,
    "drug": 50_000,
    "salt": 60_000,
    "brand": 70_000,
    "combination": 80_000,
    "product": 90_000,
}
"""Concepts of a kind have the CUIs C99 + five digits, from this base on."""


@dataclass(frozen=True, slots=True)
class Fact:
    """``head predicate tail``, by name. ``stated`` facts have an edge in MRREL; the others only hold in the world."""

    head: str
    predicate: str
    tail: str
    stated: bool = True


@dataclass(slots=True)
class Concept:
    """One concept. ``name`` is unique in the world; ``codes`` are (SAB, code) pairs of public coding systems."""

    cui: str
    name: str
    kind: str
    types: tuple[str, ...]
    synonyms: tuple[str, ...] = ()
    abbreviations: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    codes: tuple[tuple[str, str], ...] = ()
    course: str = ""


@dataclass(slots=True)
class Drug:
    """How a drug is used: by ingredient or combination name."""

    name: str
    setting: str
    doses: tuple[str, ...]
    unit: str
    route: str
    frequency: str
    brands: tuple[str, ...]
    salts: tuple[str, ...]
    classes: tuple[str, ...]
    ingredients: tuple[str, ...]
    seldom: frozenset[str] = field(default_factory=frozenset)


def split(cell: str) -> tuple[str, ...]:
    """Return the values of a cell."""
    return tuple(value.strip() for value in cell.split(";") if value.strip())


def _parse_dose(doses: str) -> tuple[tuple[str, ...], str, str, str]:
    """``5,10 mg PO DAILY`` -> (("5", "10"), "mg", "PO", "DAILY")."""
    if not doses:
        return (), "", "", ""
    amounts, rest = doses.split(" ", 1)
    words = rest.rsplit(" ", 2)
    return tuple(amounts.split(",")), words[0], words[1], words[2]


class Knowledge:
    """All concepts and facts of the open world.

    Attributes:
        concepts: name -> concept.
        drugs: name -> use, for ingredients that are given by themselves and for combinations.
        facts: every fact, stated or inherited from a drug class, without duplicates.
        bases: invented kind (`openworld.variety`) -> the concept of the tables in whose place it stands.
    """

    def __init__(self, data: Path = DATA, widen: Callable[[Knowledge], None] = lambda _known: None) -> None:
        """Read the tables; ``widen`` adds to them before the facts that follow are drawn."""
        self.data = data
        self.bases: dict[str, str] = {}
        self.concepts: dict[str, Concept] = {}
        self.drugs: dict[str, Drug] = {}
        self.is_stated: dict[tuple[str, str, str], bool] = {}
        self._counts = dict.fromkeys(CUI_BASE, 0)
        # Asked again and again for every patient.
        self.usual_drugs = cache(self._usual_drugs)
        self.barring = cache(self._barring)
        self.ancestors = cache(self._ancestors)
        self.kin = cache(self._kin)
        self._read_conditions()
        self._read_terms()
        self._read_classes()
        self._read_drugs()
        self._read_combinations()
        self._read_relations()
        widen(self)
        self._check()
        self._add_hierarchy()
        self._leave_open()

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        """Every fact, in order of head, predicate, tail."""
        return tuple(Fact(*key, stated) for key, stated in sorted(self.is_stated.items()))

    @cached_property
    def by_predicate(self) -> dict[str, list[Fact]]:
        """Predicate -> its facts."""
        facts: dict[str, list[Fact]] = {}
        for fact in self.facts:
            facts.setdefault(fact.predicate, []).append(fact)
        return facts

    @cached_property
    def members(self) -> dict[str, tuple[str, ...]]:
        """Drug class -> its member drugs, direct or through a narrower class."""
        drugs_of: dict[str, set[str]] = {}
        for concept in self.concepts.values():
            if concept.kind == "drug":
                for parent in self.ancestors(concept.name):
                    drugs_of.setdefault(parent, set()).add(concept.name)
        return {name: tuple(sorted(drugs)) for name, drugs in sorted(drugs_of.items())}

    def heads(self, predicate: str, tail: str) -> tuple[str, ...]:
        """Return all heads of a predicate for one tail."""
        return self._index.get((predicate, tail, "heads"), ())

    def tails(self, predicate: str, head: str) -> tuple[str, ...]:
        """Return all tails of a predicate for one head."""
        return self._index.get((predicate, head, "tails"), ())

    @cached_property
    def _index(self) -> dict[tuple[str, str, str], tuple[str, ...]]:
        index: dict[tuple[str, str, str], list[str]] = {}
        for fact in self.facts:
            index.setdefault((fact.predicate, fact.tail, "heads"), []).append(fact.head)
            index.setdefault((fact.predicate, fact.head, "tails"), []).append(fact.tail)
        return {key: tuple(values) for key, values in index.items()}

    def _usual_drugs(self, problem: str) -> tuple[Drug, ...]:
        """Return the drugs that treat a problem, without those that are seldom given for it."""
        drugs = (self.drugs[name] for name in self.heads("treats", problem) if name in self.drugs)
        return tuple(drug for drug in drugs if problem not in drug.seldom)

    def _barring(self, drug: str) -> frozenset[str]:
        """Return the problems in which a drug or one of its ingredients is contraindicated."""
        parts = (drug, *self.drugs[drug].ingredients)
        return frozenset(tail for part in parts for tail in self.tails("contraindicated_with", part))

    def _ancestors(self, name: str) -> tuple[str, ...]:
        """Return all ancestors along is_a, nearest first, without the concept itself."""
        above: dict[str, None] = {}
        queue = list(self.concepts[name].parents)
        while queue:
            parent = queue.pop(0)
            if parent not in above:
                above[parent] = None
                queue.extend(self.concepts[parent].parents)
        return tuple(above)

    @cached_property
    def kinds(self) -> dict[str, list[str]]:
        """Concept of the tables -> invented kinds that stand in its place, the most frequent first."""
        kinds: dict[str, list[str]] = {}
        for name, base in self.bases.items():
            kinds.setdefault(base, []).append(name)
        return kinds

    @cached_property
    def ranks(self) -> dict[str, int]:
        """Invented kind -> its place among those of its base, from 1 on."""
        return {name: rank for names in self.kinds.values() for rank, name in enumerate(names, 1)}

    def _kin(self, name: str) -> tuple[str, ...]:
        """Return the disorders, no classes, that share a parent with a concept, the concept among them, in order."""
        kin = {child for parent in self.concepts[name].parents for child in self._children.get(parent, ())}
        return tuple(sorted(kin, key=self._order.__getitem__))

    @cached_property
    def _children(self) -> dict[str, list[str]]:
        children: dict[str, list[str]] = {}
        for concept in self.concepts.values():
            if concept.kind == "disorder" and concept.course != "class":
                for parent in concept.parents:
                    children.setdefault(parent, []).append(concept.name)
        return children

    @cached_property
    def _order(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.concepts)}

    def holds(self, head: str, predicate: str, tail: str) -> bool:
        """Return whether a fact holds, stated or inherited."""
        return (head, predicate, tail) in self.is_stated

    def surfaces(self, name: str) -> Iterator[str]:
        """Yield the names by which a note may call a concept: its name, synonyms and abbreviations."""
        concept = self.concepts[name]
        yield concept.name
        yield from concept.synonyms
        yield from concept.abbreviations

    def add(self, name: str, kind: str, types: tuple[str, ...], **more: tuple[str, ...]) -> Concept:
        """Add a concept under the next CUI of its kind.

        Raises:
            InputError: the name is taken.
        """
        if name in self.concepts:
            raise InputError("two concepts of the open world have one name", file=self.data, found=name)
        self._counts[kind] += 1
        cui = f"C99{CUI_BASE[kind] + self._counts[kind]:05d}"
        self.concepts[name] = Concept(cui, name, kind, types, **more)  # type: ignore[arg-type]
        return self.concepts[name]

    def state(self, head: str, predicate: str, tail: str, stated: bool = True) -> None:
        """Record a fact; one that is stated anywhere counts as stated."""
        self.is_stated[head, predicate, tail] = self.is_stated.get((head, predicate, tail), False) or stated

    def _table(self, name: str, *columns: str) -> list[Row]:
        return read_table(self.data / f"{name}.tsv", (*columns, "source"))

    def _read_conditions(self) -> None:
        names = ("name", "synonyms", "abbreviations", "parents")
        for row in self._table("disorders", *names, "icd10", "icd9", "course", "type"):
            concept = self._condition(
                row, "disorder", (row["type"],), ("ICD10CM", row["icd10"]), ("ICD9CM", row["icd9"])
            )
            concept.course = row["course"]
        for row in self._table("findings", *names, "icd10", "icd9"):
            self._condition(row, "finding", ("T184",), ("ICD10CM", row["icd10"]), ("ICD9CM", row["icd9"]))
        for row in self._table("procedures", *names, "icd10pcs", "icd9", "kind", "diagnoses"):
            types = ("T060",) if row["kind"] == "dx" else ("T061",)
            concept = self._condition(row, "procedure", types, ("ICD10PCS", row["icd10pcs"]), ("ICD9CM", row["icd9"]))
            concept.course = row["kind"]
            for tail in split(row["diagnoses"]):
                self.state(row["name"], "diagnoses", tail)

    def _condition(self, row: dict[str, str], kind: str, types: tuple[str, ...], *codes: tuple[str, str]) -> Concept:
        concept = self.add(row["name"], kind, types, synonyms=split(row["synonyms"]), parents=split(row["parents"]))
        concept.abbreviations = split(row["abbreviations"])
        concept.codes = tuple((sab, code) for sab, code in codes if code)
        return concept

    def _read_terms(self) -> None:
        for row in self._table("terms", "name", "synonyms", "abbreviations", "type"):
            concept = self.add(row["name"], "term", (row["type"],), synonyms=split(row["synonyms"]))
            concept.abbreviations = split(row["abbreviations"])

    def _read_classes(self) -> None:
        effects = ("treats", "prevents", "contraindicated")
        for row in self._table("drug_classes", "name", "synonyms", "parents", *effects):
            self.add(row["name"], "class", ("T121",), synonyms=split(row["synonyms"]), parents=split(row["parents"]))
            self._effects(row["name"], row, "contraindicated")
            for tail in split(row["contraindicated"]):
                self.state(row["name"], "contraindicated_class_of", tail)

    def _read_drugs(self) -> None:
        columns = ("classes", "brands", "salts", "setting", "doses", "treats", "prevents", "contraindicated", "causes")
        for row in self._table("drugs", "name", "synonyms", *columns):
            classes = split(row["classes"])
            name = row["name"]
            self.add(name, "drug", ("T109", "T121"), synonyms=split(row["synonyms"]), parents=classes)
            for salt in split(row["salts"]):
                self.add(salt, "salt", ("T109", "T121"))
                self.state(salt, "form_of", name)
            self.add_brands(name, split(row["brands"]))
            self._effects(name, row, "contraindicated")
            # What a drug may do is open-ended: known to the world, not stated in the release.
            for tail in split(row["causes"]):
                self.state(name, "causes", tail, stated=False)
            if row["setting"] != "X":
                self._use(name, row, split(row["salts"]), classes, (name,))

    def _read_combinations(self) -> None:
        columns = ("ingredients", "brands", "setting", "doses", "treats", "prevents")
        for row in self._table("combinations", "name", "synonyms", *columns):
            ingredients = split(row["ingredients"])
            self.add(row["name"], "combination", ("T109", "T121"), synonyms=split(row["synonyms"]))
            for ingredient in ingredients:
                self.state(ingredient, "combination_part", row["name"])
            self.add_brands(row["name"], split(row["brands"]))
            self._effects(row["name"], row, "")
            classes = tuple(
                dict.fromkeys(parent for ingredient in ingredients for parent in self.concepts[ingredient].parents)
            )
            self._use(row["name"], row, (), classes, ingredients)

    def add_brands(self, name: str, brands: tuple[str, ...]) -> None:
        """Add the brands of a drug."""
        for brand in brands:
            self.add(brand, "brand", ("T109", "T121"))
            self.state(brand, "tradename_of", name)

    def _use(
        self, name: str, row: dict[str, str], salts: tuple[str, ...], classes: tuple[str, ...], parts: tuple[str, ...]
    ) -> None:
        seldom = frozenset(tail[1:] for tail in split(row["treats"]) if tail.startswith("~"))
        amounts, unit, route, frequency = _parse_dose(row["doses"])
        self.drugs[name] = Drug(
            name, row["setting"], amounts, unit, route, frequency, split(row["brands"]), salts, classes, parts, seldom
        )

    def _effects(self, name: str, row: dict[str, str], contraindicated: str) -> None:
        for column, predicate in (
            ("treats", "treats"),
            ("prevents", "prevents"),
            (contraindicated, "contraindicated_with"),
        ):
            for tail in split(row[column]) if column else ():
                self.state(name, predicate, tail.removeprefix("~"))

    def _read_relations(self) -> None:
        for row in self._table("relations", "heads", "predicate", "tails"):
            for head in split(row["heads"]):
                for tail in split(row["tails"]):
                    self.state(head, row["predicate"], tail)

    def _add_hierarchy(self) -> None:
        for concept in list(self.concepts.values()):
            for parent in concept.parents:
                self.state(concept.name, "is_a", parent)
        for concept in list(self.concepts.values()):
            if concept.kind in ("disorder", "procedure", "drug") and concept.course != "class":
                self._classify(concept)
        inherited = [
            (member, predicate, tail)
            for (head, predicate, tail) in list(self.is_stated)
            if predicate in ("treats", "prevents", "contraindicated_with") and head in self.members
            for member in self.members[head]
        ]
        for member, predicate, tail in inherited:
            self.state(
                member, predicate, tail, stated=stable_unit(CONTENT_SEED, member, predicate, tail) < STATED_SHARE
            )

    def _leave_open(self) -> None:
        """State one edge only of the concepts that have a relation with almost anything; the rest holds too."""
        for row in self._table("open_ended", "predicate", "name"):
            predicate, name = row["predicate"], row["name"]
            self._known((name,), "open_ended")
            facts = sorted(key for key in self.is_stated if key[1] == predicate and name in (key[0], key[2]))
            for key in facts[1:]:
                self.is_stated[key] = False

    def _classify(self, concept: Concept) -> None:
        """State the classes of a concept: those that lie below the broad areas, and for drugs at most two steps up."""
        near = {*concept.parents, *(above for parent in concept.parents for above in self.concepts[parent].parents)}
        for above in self.ancestors(concept.name):
            known = self.concepts[above]
            broad = not known.parents or (concept.kind == "drug" and not self.concepts[known.parents[0]].parents)
            if not broad and concept.kind == "drug" and above in near:
                self.state(concept.name, "has_pharmacologic_class", above)
            if not broad and concept.kind != "drug" and known.course == "class":
                self.state(concept.name, "classified_as", above)
            if concept.kind == "drug" and above in concept.parents:
                self.state(concept.name, "has_pharmacologic_class", above)

    def _check(self) -> None:
        for concept in self.concepts.values():
            self._known(concept.parents, concept.name)
        for head, predicate, tail in self.is_stated:
            self._known((head, tail), f"{head} {predicate} {tail}")

    def _known(self, names: tuple[str, ...], where: str) -> None:
        missing = [name for name in names if name not in self.concepts]
        if missing:
            raise InputError(
                "the open world's tables name an unknown concept", file=self.data, found=f"{missing} in {where}"
            )
