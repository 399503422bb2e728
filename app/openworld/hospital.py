"""The world's patients as MIMIC-IV tables (hosp, note) with the truth beside them, written patient by patient."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from app.openworld.dice import Dice
from app.openworld.notes import Note, write_note
from app.openworld.notetext import Mention
from app.openworld.patients import Admission, Order, Patient, plan_patient
from app.openworld.products import Product, catalogue
from app.openworld.world import DATA, Knowledge
from ontoground.tables import read_table

__all__ = ["COLUMNS", "gold_note", "write_hospital"]

COLUMNS = {
    "hosp/patients": "subject_id,gender,anchor_age,anchor_year,anchor_year_group,dod",
    "hosp/admissions": (
        "subject_id,hadm_id,admittime,dischtime,deathtime,admission_type,admit_provider_id,admission_location,"
        "discharge_location,insurance,language,marital_status,race,edregtime,edouttime,hospital_expire_flag"
    ),
    "hosp/diagnoses_icd": "subject_id,hadm_id,seq_num,icd_code,icd_version",
    "hosp/procedures_icd": "subject_id,hadm_id,seq_num,chartdate,icd_code,icd_version",
    "hosp/prescriptions": (
        "subject_id,hadm_id,pharmacy_id,poe_id,poe_seq,order_provider_id,starttime,stoptime,drug_type,drug,"
        "formulary_drug_cd,gsn,ndc,prod_strength,form_rx,dose_val_rx,dose_unit_rx,form_val_disp,form_unit_disp,"
        "doses_per_24_hrs,route"
    ),
    "hosp/d_icd_diagnoses": "icd_code,icd_version,long_title",
    "hosp/d_icd_procedures": "icd_code,icd_version,long_title",
    "note/discharge": "note_id,subject_id,hadm_id,note_type,note_seq,charttime,storetime,text",
}
TYPE_OF_KIND = {"disorder": "disorder", "finding": "finding", "procedure": "procedure"}
TYPE_OF_TERM = {"T121": "drug", "T184": "finding", "T033": "finding", "T060": "procedure", "T061": "procedure"}
ICD9_SHARE = 0.45
CODED = 0.9
STAMP = "%Y-%m-%d %H:%M:%S"


@contextmanager
def open_gzip(path: Path) -> Iterator[IO[str]]:
    """Open a gzip file for text whose bytes depend on the text alone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        path.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6) as packed,
        io.TextIOWrapper(packed, encoding="utf-8", newline="") as text,
    ):
        yield text


@dataclass(slots=True)
class _Stay:
    """An admission with its dates and dice."""

    patient: Patient
    admission: Admission
    admitted: datetime
    discharged: datetime
    version: int
    dice: Dice

    @property
    def key(self) -> tuple[int, int]:
        """Subject and admission."""
        return self.patient.subject_id, self.admission.hadm_id


def _stay(patient: Patient, admission: Admission) -> _Stay:
    dice = patient.dice.about("stay", admission.number)
    start = datetime(patient.year + admission.number, 1, 1) + timedelta(minutes=dice.integer(0, 500_000, "start"))
    end = start + timedelta(days=admission.days, minutes=dice.integer(0, 600, "end"))
    version = 9 if patient.dice.chance(ICD9_SHARE, "version") else 10
    return _Stay(patient, admission, start, end, version, dice)


class _Hospital:
    """Rows of every table."""

    def __init__(self, known: Knowledge) -> None:
        self.known = known
        self.products = catalogue(known)
        self.others = read_table(DATA / "other_codes.tsv", ("icd_code", "icd_version", "title", "source"))

    def patient_row(self, patient: Patient) -> tuple[Any, ...]:
        """Return the row of patients."""
        group = patient.dice.pick(("2008 - 2010", "2011 - 2013", "2014 - 2016", "2017 - 2019"), "group")
        return patient.subject_id, patient.sex, min(patient.age, 91), patient.year, group, ""

    def admission_row(self, stay: _Stay) -> tuple[Any, ...]:
        """Return the row of admissions."""
        dice = stay.dice
        return (
            *(*stay.key, stay.admitted.strftime(STAMP), stay.discharged.strftime(STAMP), ""),
            dice.pick(("EW EMER.", "URGENT", "DIRECT EMER.", "OBSERVATION ADMIT"), "type"),
            f"P{dice.integer(10000, 99999, 'provider')}",
            dice.pick(("EMERGENCY ROOM", "PHYSICIAN REFERRAL", "TRANSFER FROM HOSPITAL"), "from"),
            dice.pick(("HOME", "HOME HEALTH CARE", "SKILLED NURSING FACILITY", "REHAB"), "to"),
            dice.pick(("Medicare", "Medicaid", "Other"), "insurance"),
            dice.pick(("ENGLISH", "ENGLISH", "?"), "language"),
            dice.pick(("MARRIED", "SINGLE", "WIDOWED", "DIVORCED", ""), "marital"),
            dice.pick(("WHITE", "BLACK/AFRICAN AMERICAN", "ASIAN", "HISPANIC/LATINO", "UNKNOWN"), "race"),
            "",
            "",
            0,
        )

    def _code(self, name: str, version: int, procedure: bool) -> str:
        wanted = "ICD9CM" if version == 9 else ("ICD10PCS" if procedure else "ICD10CM")
        return next((code.replace(".", "") for sab, code in self.known.concepts[name].codes if sab == wanted), "")

    def diagnosis_rows(self, stay: _Stay) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of diagnoses_icd: coded problems, some codes that no concept carries."""
        codes: dict[str, None] = {}
        for problem in stay.admission.problems:
            code = self._code(problem.name, stay.version, False)
            if code and stay.dice.chance(CODED, "coded", problem.name):
                codes[code] = None
        free = [row["icd_code"].replace(".", "") for row in self.others if row["icd_version"] == str(stay.version)]
        codes.update(dict.fromkeys(stay.dice.sample(free, stay.dice.integer(0, 2, "others"), "other")))
        for number, code in enumerate(codes, 1):
            yield *stay.key, number, code, stay.version

    def procedure_rows(self, stay: _Stay) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of procedures_icd."""
        codes = dict.fromkeys(self._code(name, stay.version, True) for name in stay.admission.procedures)
        day = (stay.admitted + timedelta(days=1)).strftime("%Y-%m-%d")
        for number, code in enumerate((code for code in codes if code), 1):
            yield *stay.key, number, day, code, stay.version

    def prescription_rows(self, stay: _Stay) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of prescriptions: the drugs given in hospital, and fluids that carry them."""
        for number, order in enumerate(stay.admission.orders):
            dice = stay.dice.about("order", order.drug)
            if order.status != "stopped" or dice.chance(0.3, "given first"):
                yield self._prescription(stay, order, number, dice)
        if stay.dice.chance(0.6, "carrier"):
            name = stay.dice.pick(("Sterile Water", "Bag", "Iso-Osmotic Dextrose", "Vial"), "which")
            times = (stay.admitted.strftime(STAMP), stay.discharged.strftime(STAMP))
            yield (
                *stay.key,
                self._pharmacy(stay, 99),
                "",
                "",
                "",
                *times,
                "BASE",
                name,
                "",
                "",
                "0",
                "",
                "",
                "",
                "",
                "",
                "",
                "",
                "IV",
            )

    @staticmethod
    def _pharmacy(stay: _Stay, number: int) -> int:
        return stay.admission.hadm_id * 100 + number

    def _prescription(self, stay: _Stay, order: Order, number: int, dice: Dice) -> tuple[Any, ...]:
        drug = self.known.drugs[order.drug]
        choices = [product for product in self.products.orderable(order.drug) if product.amount == order.amount]
        product = dice.pick(choices, "product")
        start = stay.admitted + timedelta(hours=dice.integer(1, 30, "hours"))
        stop = max(stay.discharged, start + timedelta(hours=2))
        return (
            *(*stay.key, self._pharmacy(stay, number), "", "", "", start.strftime(STAMP), stop.strftime(STAMP), "MAIN"),
            *(self._drug_text(order, dice), self._formulary(order, dice), "", self._ndc(product, dice)),
            *(f"{order.amount} {drug.unit}", "", order.amount, drug.unit, "1", "DOSE", "", drug.route),
        )

    @staticmethod
    def _formulary(order: Order, dice: Dice) -> str:
        letters = "".join(letter for letter in order.drug.upper() if letter.isalpha())[:4]
        return f"{letters}{dice.integer(1, 99, 'formulary')}"

    @staticmethod
    def _ndc(product: Product, dice: Dice) -> str:
        """Return the NDC as the hospital has it: some are lost, some have lost their leading zero."""
        share = dice.integer(1, 100, "ndc")
        if share <= 6:
            return "0" if share <= 3 else ""
        return product.ndc.lstrip("0") if share <= 16 else product.ndc

    def _drug_text(self, order: Order, dice: Dice) -> str:
        """Return the drug as the pharmacy writes it."""
        drug = self.known.drugs[order.drug]
        synonyms = self.known.concepts[order.drug].synonyms
        name = synonyms[0] if len(drug.ingredients) > 1 and synonyms else order.drug
        if drug.salts and dice.chance(0.3, "salt name"):
            name = drug.salts[0]
        title = " ".join(word[0].upper() + word[1:] for word in name.split(" "))
        share = dice.integer(1, 100, "spelling")
        if drug.brands and share <= 15:
            return f"{title} ({drug.brands[0]})"
        if share <= 22:
            return title.upper()
        return f"{title} {order.amount} {drug.unit}" if share <= 27 else title

    def title_rows(self, procedures: bool) -> list[tuple[str, int, str]]:
        """Return the rows of d_icd_diagnoses or d_icd_procedures."""
        found: dict[tuple[str, int], str] = {}
        for concept in self.known.concepts.values():
            for sab, code in concept.codes:
                if (concept.kind == "procedure") == procedures:
                    version = 9 if sab == "ICD9CM" else 10
                    found.setdefault((code.replace(".", ""), version), concept.name[0].upper() + concept.name[1:])
        if not procedures:
            for row in self.others:
                found.setdefault((row["icd_code"].replace(".", ""), int(row["icd_version"])), row["title"])
        return [(code, version, title) for (code, version), title in sorted(found.items())]

    @cached_property
    def cui_of_name(self) -> dict[str, str]:
        """Lower-case names of brands and salts -> CUI."""
        kinds = ("brand", "salt")
        return {name.lower(): concept.cui for name, concept in self.known.concepts.items() if concept.kind in kinds}


def _gold_type(known: Knowledge, concept: str) -> str:
    found = known.concepts[concept]
    if found.kind == "term":
        return TYPE_OF_TERM[found.types[0]]
    return TYPE_OF_KIND.get(found.kind, "drug")


def _gold_mention(known: Knowledge, text: str, mention: Mention, names: dict[str, str]) -> dict[str, Any]:
    written = text[mention.start : mention.end]
    cui = known.concepts[mention.concept].cui
    return {
        "text": written,
        "occurrence": text.count(written, 0, mention.start) + 1,
        "concept": mention.concept,
        "type": _gold_type(known, mention.concept),
        "section": mention.section,
        "assertion": mention.assertion,
        "start": mention.start,
        "end": mention.end,
        "cui": cui,
        "surface_cui": names.get(mention.written.lower(), cui),
    }


def gold_note(
    known: Knowledge, note_id: str, key: tuple[int, int], note: Note, names: dict[str, str]
) -> dict[str, Any]:
    """Return one line of notes.jsonl: mentions with offsets, the links that the note states, coded items it omits."""
    links = list(dict.fromkeys((link.head, link.predicate, link.tail, link.evidence) for link in note.links))
    return {
        "note_id": note_id,
        "subject_id": key[0],
        "hadm_id": key[1],
        "mentions": [_gold_mention(known, note.text, mention, names) for mention in note.mentions],
        "treats": [
            {"drug": head, "disorder": tail, "evidence": evidence}
            for head, predicate, tail, evidence in links
            if predicate == "treats"
        ],
        "links": [
            {
                "head": head,
                "predicate": predicate,
                "tail": tail,
                "head_cui": known.concepts[head].cui,
                "tail_cui": known.concepts[tail].cui,
                "evidence": evidence,
            }
            for head, predicate, tail, evidence in links
        ],
        "code_present_note_silent": note.silent,
    }


def write_hospital(mimic: Path, truth: Path, known: Knowledge, patients: int, seed: int) -> dict[str, int]:
    """Write all tables and notes.jsonl.gz, and return rows of each; patients are made one at a time."""
    hospital = _Hospital(known)
    counts = dict.fromkeys((*COLUMNS, "truth/notes"), 0)
    with ExitStack() as stack:
        writers = {}
        for name, columns in COLUMNS.items():
            stream = stack.enter_context(open_gzip(mimic / f"{name}.csv.gz"))
            writers[name] = csv.writer(stream, lineterminator="\n")
            writers[name].writerow(columns.split(","))
        gold = stack.enter_context(open_gzip(truth / "notes.jsonl.gz"))

        def put(name: str, *rows: tuple[Any, ...]) -> None:
            writers[name].writerows(rows)
            counts[name] += len(rows)

        put("hosp/d_icd_diagnoses", *hospital.title_rows(False))
        put("hosp/d_icd_procedures", *hospital.title_rows(True))
        for index in range(patients):
            patient = plan_patient(known, seed, index)
            put("hosp/patients", hospital.patient_row(patient))
            for admission in patient.admissions:
                stay = _stay(patient, admission)
                put("hosp/admissions", hospital.admission_row(stay))
                put("hosp/diagnoses_icd", *hospital.diagnosis_rows(stay))
                put("hosp/procedures_icd", *hospital.procedure_rows(stay))
                put("hosp/prescriptions", *hospital.prescription_rows(stay))
                if admission.has_note:
                    note_id = f"{patient.subject_id}-DS-{admission.number + 1}"
                    note = write_note(known, patient, admission)
                    day = stay.discharged.replace(hour=0, minute=0)
                    stored = (stay.discharged + timedelta(hours=20)).strftime(STAMP)
                    put(
                        "note/discharge",
                        (note_id, *stay.key, "DS", admission.number + 1, day.strftime(STAMP), stored, note.text),
                    )
                    line = gold_note(known, note_id, stay.key, note, hospital.cui_of_name)
                    gold.write(json.dumps(line, ensure_ascii=False) + "\n")
                    counts["truth/notes"] += 1
    return counts
