"""Invented notes in the layout of Augmented Clinical Notes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

KNEE = (
    "A sixteen-year-old girl presented with painless swelling of the left knee for four months. There was no fever. "
    "She was treated with methotrexate 15 mg weekly for juvenile arthritis. A magnetic resonance imaging of the knee "
    "showed synovial thickening. She had mild stiffness in the left knee."
)
CHEST = (
    "The patient is a 56-year-old man, a smoker, who presented with a dry cough of two weeks. A chest X-ray revealed a "
    "shadow in the right upper lobe. He was given amoxicillin 500 mg three times a day for ten days for pneumonia. "
    "Later he had severe burning in the chest."
)
EYE = (
    "A 71 year old woman with Crohn's disease noted blurred vision. She is a non-smoker and weighs 64 kg. "
    "Fundoscopy showed macular edema. She received prednisone 40 mg daily for six weeks because of uveitis. "
    "Her vertigo began three years ago."
)
SKIN = (
    "A 33-year-old man underwent laparoscopic appendectomy. He had moderate itching of the right arm. "
    "Skin biopsy showed eosinophilic infiltrates. He was started on dapsone 100 mg twice daily for dermatitis "
    "herpetiformis. His celiac disease was known."
)


def _entry(**values: str) -> dict[str, str]:
    return {name.replace("_", " "): value for name, value in values.items()}


SUMMARIES: dict[str, dict[str, Any]] = {
    "knee": {
        "visit motivation": "Painless swelling of the left knee",
        "admission": [_entry(reason="None", date="None", duration="None", care_center_details="None")],
        "patient information": {"age": "Sixteen years old", "sex": "Female", "ethnicity": "None"},
        "patient medical history": {"physiological context": "N/A", "allergies": "None"},
        "symptoms": [
            _entry(name_of_symptom="Fever", location="None"),
            _entry(name_of_symptom="Stiffness", intensity_of_symptom="Mild", location="Left knee"),
            _entry(name_of_symptom="Painless swelling of the left knee", time="Past four months"),
        ],
        "diagnosis tests": [
            {"test": "Magnetic resonance imaging of the knee", "result": "Synovial thickening", "condition": "None"}
        ],
        "treatments": [
            _entry(name="Methotrexate", related_condition="Juvenile arthritis", dosage="15 mg", frequency="Weekly")
        ],
        "discharge": {"discharge summary": "She went home. She was well."},
    },
    "chest": {
        "visit motivation": "Dry cough",
        "patient information": {"age": "56", "sex": "Male"},
        "patient medical history": {"smoking status": "Smoker"},
        "symptoms": [
            _entry(name_of_symptom="Dry cough", time="Two weeks"),
            _entry(name_of_symptom="Burning", intensity_of_symptom="Severe", location="Chest"),
        ],
        "diagnosis tests": [
            {"test": "Chest X-ray", "result": "Shadow in the right upper lobe", "condition": "Pneumonia"}
        ],
        "treatments": [_entry(name="Amoxicillin", dosage="500 mg", frequency="Three times a day", duration="Ten days")],
    },
    "eye": {
        "visit motivation": "Blurred vision",
        "patient information": {"age": "71 years old", "sex": "Female", "weight": "64 kg"},
        "patient medical history": {"physiological context": "Crohn's disease", "smoking status": "Non-smoker"},
        "symptoms": [_entry(name_of_symptom="Vertigo", time="Three years ago")],
        "diagnosis tests": [{"test": "Fundoscopy", "result": "Macular edema", "condition": "Uveitis"}],
        "treatments": [_entry(name="Prednisone", dosage="40 mg", frequency="Daily", duration="Six weeks")],
    },
    "skin": {
        "patient information": {"age": "33 years old", "sex": "Male"},
        "patient medical history": {"physiological context": "Celiac disease"},
        "surgeries": [{"Type": "Laparoscopic appendectomy", "reason": "None"}],
        "symptoms": [_entry(name_of_symptom="Itching", intensity_of_symptom="Moderate", location="Right arm")],
        "diagnosis tests": [{"test": "Skin biopsy", "result": "Eosinophilic infiltrates"}],
        "treatments": [
            _entry(
                name="Dapsone", related_condition="Dermatitis herpetiformis", dosage="100 mg", frequency="Twice daily"
            )
        ],
    },
}
NOTES = {"knee": KNEE, "chest": CHEST, "eye": EYE, "skin": SKIN}


def rows_of(names: Iterable[str] = ("knee", "chest", "eye", "skin")) -> list[dict[str, Any]]:
    """Return rows as the source has them."""
    return [
        {
            "idx": name,
            "note": NOTES[name][:80],
            "full_note": NOTES[name],
            "conversation": "Doctor: Hello.",
            "summary": json.dumps(SUMMARIES[name]),
        }
        for name in names
    ]


def write_rows(folder: Path, rows: Iterable[dict[str, Any]]) -> Path:
    """Write a source's file and return its folder."""
    folder.mkdir(exist_ok=True)
    (folder / "augmented_notes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder
