"""The world's patients as rows of MIMIC-IV's hosp tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from ground.storage.tables import read_table
from openworld.dice import Dice
from openworld.patients import MAX_ORDERS, Admission, Order, Patient
from openworld.products import Product, catalogue
from openworld.volume import STORY, Volume
from openworld.world import DATA, Knowledge

__all__ = ["COLUMNS", "Hospital", "Stay", "stay_of"]

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
ICD9_SHARE = 0.45
CODED = 0.9
LAST_PHARMACY = 99


@dataclass(slots=True)
class Stay:
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


def stay_of(patient: Patient, admission: Admission) -> Stay:
    """Return an admission with its dates."""
    dice = patient.dice.about("stay", admission.number)
    start = datetime(patient.year + admission.number, 1, 1) + timedelta(minutes=dice.integer(0, 500_000, "start"))
    end = start + timedelta(days=admission.days, minutes=dice.integer(0, 600, "end"))
    version = 9 if patient.dice.chance(ICD9_SHARE, "version") else 10
    return Stay(patient, admission, start, end, version, dice)


class Hospital:
    """Rows of every table."""

    def __init__(self, known: Knowledge, volume: Volume = STORY) -> None:
        self.known = known
        self.volume = volume
        self.products = catalogue(known)
        self.others = read_table(DATA / "other_codes.tsv", ("icd_code", "icd_version", "title", "source"))

    def patient_row(self, patient: Patient) -> tuple[Any, ...]:
        """Return the row of patients."""
        group = patient.dice.pick(("2008 - 2010", "2011 - 2013", "2014 - 2016", "2017 - 2019"), "group")
        return patient.subject_id, patient.sex, min(patient.age, 91), patient.year, group, ""

    def admission_row(self, stay: Stay) -> tuple[Any, ...]:
        """Return the row of admissions."""
        dice = stay.dice
        return (
            *(*stay.key, stay.admitted.isoformat(" "), stay.discharged.isoformat(" "), ""),
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

    def diagnosis_rows(self, stay: Stay) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of diagnoses_icd: coded problems, some codes that no concept carries."""
        codes: dict[str, None] = {}
        for problem in stay.admission.problems:
            code = self._code(problem.name, stay.version, False)
            if code and stay.dice.chance(CODED, "coded", problem.name):
                codes[code] = None
        free = [row["icd_code"].replace(".", "") for row in self.others if row["icd_version"] == str(stay.version)]
        others = stay.dice.sample(free, stay.dice.integer(*self.volume.other_codes, "others"), "other")
        codes.update(dict.fromkeys(others))
        for number, code in enumerate(codes, 1):
            yield *stay.key, number, code, stay.version

    def procedure_rows(self, stay: Stay) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of procedures_icd."""
        codes = dict.fromkeys(self._code(name, stay.version, True) for name in stay.admission.procedures)
        day = (stay.admitted + timedelta(days=1)).date().isoformat()
        for number, code in enumerate((code for code in codes if code), 1):
            yield *stay.key, number, day, code, stay.version

    def prescription_rows(self, stay: Stay) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of prescriptions: the drugs given in hospital, and fluids that carry them."""
        for number, order in enumerate(stay.admission.orders):
            dice = stay.dice.about("order", order.drug)
            if order.status != "stopped" or dice.chance(0.3, "given first"):
                yield self._prescription(stay, order, number, dice)
                yield from self._further_courses(stay, order, number, dice)
        for course in range(self.volume.courses):
            dice = stay.dice.about("course", course) if course else stay.dice
            if dice.chance(0.6, "carrier"):
                yield self._carrier(stay, dice, LAST_PHARMACY - course)

    def _further_courses(self, stay: Stay, order: Order, number: int, dice: Dice) -> Iterator[tuple[Any, ...]]:
        """Yield the order again with other doses and starts, as many times as the volume says."""
        for course in range(1, dice.integer(1, self.volume.courses, "courses") if self.volume.courses > 1 else 1):
            again = dice.about("course", course)
            changed = replace(order, amount=again.pick(self.known.drugs[order.drug].doses, "amount"))
            yield self._prescription(stay, changed, number + MAX_ORDERS * course, again)

    def _carrier(self, stay: Stay, dice: Dice, number: int) -> tuple[Any, ...]:
        name = dice.pick(("Sterile Water", "Bag", "Iso-Osmotic Dextrose", "Vial"), "which")
        times = (stay.admitted.isoformat(" "), stay.discharged.isoformat(" "))
        drug = ("BASE", name, "", "", "0", "", "", "", "", "", "", "", "IV")
        return *stay.key, self._pharmacy(stay, number), "", "", "", *times, *drug

    @staticmethod
    def _pharmacy(stay: Stay, number: int) -> int:
        return stay.admission.hadm_id * 100 + number

    def _prescription(self, stay: Stay, order: Order, number: int, dice: Dice) -> tuple[Any, ...]:
        drug = self.known.drugs[order.drug]
        choices = [product for product in self.products.orderable(order.drug) if product.amount == order.amount]
        product = dice.pick(choices, "product")
        start = stay.admitted + timedelta(hours=dice.integer(1, 30, "hours"))
        stop = max(stay.discharged, start + timedelta(hours=2))
        return (
            *(*stay.key, self._pharmacy(stay, number), "", "", "", start.isoformat(" "), stop.isoformat(" "), "MAIN"),
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
        titles: dict[tuple[str, int], str] = {}
        for concept in self.known.concepts.values():
            for sab, code in concept.codes:
                if (concept.kind == "procedure") == procedures:
                    version = 9 if sab == "ICD9CM" else 10
                    titles.setdefault((code.replace(".", ""), version), concept.name[0].upper() + concept.name[1:])
        if not procedures:
            for row in self.others:
                titles.setdefault((row["icd_code"].replace(".", ""), int(row["icd_version"])), row["title"])
        return [(code, version, title) for (code, version), title in sorted(titles.items())]

    @cached_property
    def cui_of_name(self) -> dict[str, str]:
        """Lower-case names of brands and salts -> CUI."""
        kinds = ("brand", "salt")
        return {name.lower(): concept.cui for name, concept in self.known.concepts.items() if concept.kind in kinds}
