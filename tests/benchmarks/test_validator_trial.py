"""Another patient's note is of another case: cases that a set holds twice are no trial of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from benchmarks.validator_trial import HALVES, visits

SAID = (
    "[doctor] what brings you here ?\n[patient] the wheezing wakes me and i cough after exercise .\n",
    "[doctor] which knee hurts ?\n[patient] both since the marathon , climbing stairs makes them swell .\n",
)


def _rows(tmp_path: Path, conversations: Sequence[str]) -> list[str]:
    path = tmp_path / "visits.jsonl"
    cases = [
        {"id": f"v{place}", "conversation": said, "note": "Note.", "note_again": "Again.", "unsafe": "Wrong.",
         "error_kind": "dose"}
        for place, said in enumerate(conversations)
    ]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, cases)), encoding="utf-8")
    return [one.row for half in HALVES for one in visits(path, half)]


def test_another_patients_note_is_of_another_case(tmp_path: Path) -> None:
    others = "visits, another patient"
    assert others in _rows(tmp_path, SAID * 4)
    same = _rows(tmp_path, [SAID[0], f"{SAID[0]}[doctor] okay .\n"] * 4)
    assert others not in same
    assert "visits, clean" in same
