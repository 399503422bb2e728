"""MedNLI and NLI4CT layouts, and hypotheses of one premise as pairs."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from builders.medhal.items import NliItem
from builders.medhal.sources import mednli, nli4ct
from builders.medhal.transform.nli import nli_pairs
from builders.texts.origin import Origin, Tally
from builders.texts.sources import text_sources
from ground.errors import InputError
from ground.settings import MedhalSettings

MEDNLI, NLI4CT = text_sources()["mednli"], text_sources()["nli4ct"]
TRIAL = {
    "Clinical Trial ID": "NCT00000001",
    "Intervention": ["INTERVENTION 1: ", "  Drug A", "  10 mg a day"],
    "Eligibility": ["Inclusion Criteria:", "  Adults", "Exclusion Criteria:", "  Pregnancy"],
    "Results": ["Outcome Measurement: ", "  Response"],
    "Adverse Events": ["Adverse Events 1:", "  Total: 3/20 (15.00%)", "  Nausea 2/20 (10.00%)"],
}


def nli_line(name: str, premise: str, hypothesis: str, label: str) -> dict[str, str]:
    return {
        "sentence1": premise,
        "sentence2": hypothesis,
        "gold_label": label,
        "pairID": name,
        "sentence1_parse": "(ROOT)",
    }


def mednli_folder(folder: Path, lines: Mapping[str, list[dict[str, Any]]]) -> Path:
    folder.mkdir()
    for name, rows in lines.items():
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def test_mednli_is_read_by_split_and_neutral_hypotheses_are_counted(tmp_path: Path) -> None:
    premise = "Labs were notable for Cr 1.7 (baseline 0.5)."
    train = [
        nli_line("a", premise, "Patient has elevated Cr", "entailment"),
        nli_line("b", premise, "Patient has normal Cr", "contradiction"),
        nli_line("c", premise, "Patient has diabetes", "neutral"),
        nli_line("d", premise, "Patient is unwell", "-"),
        nli_line("e", " ", "Patient is unwell", "entailment"),
        {"pairID": "f"},
    ]
    test = [nli_line("g", "Pain free.", "Patient has pain", "contradiction")]
    folder = mednli_folder(tmp_path / "mednli", {"mli_train_v1.jsonl": train, "mli_test_v1.jsonl": test})
    tally = Tally()
    items = list(mednli.read(folder, MEDNLI, tally))
    assert [(item.origin.inner_id, item.origin.split, item.entailed) for item in items] == [
        ("a", "train", True),
        ("b", "train", False),
        ("g", "test", False),
    ]
    assert items[0].origin.document == items[1].origin.document != items[2].origin.document
    assert {reason: n for (_, reason), n in tally.dropped.items()} == {"neutral": 1, "no_label": 1, "malformed_row": 2}
    assert tally.read["mednli"] == 7
    assert [path.name for path in mednli.files(folder)] == ["mli_train_v1.jsonl", "mli_test_v1.jsonl"]


def nli4ct_folder(folder: Path, statements: Mapping[str, Any], name: str = "train.json") -> Path:
    (folder / "CT json").mkdir(parents=True)
    (folder / name).write_text(json.dumps(statements))
    for trial in ("NCT00000001", "NCT00000002"):
        (folder / "CT json" / f"{trial}.json").write_text(json.dumps({**TRIAL, "Clinical Trial ID": trial}))
    return folder


def statement(text: str, label: str | None = "Entailment", **more: Any) -> dict[str, Any]:
    row = {"Type": "Single", "Section_id": "Adverse Events", "Primary_id": "NCT00000001", "Statement": text, **more}
    return row if label is None else {**row, "Label": label, "Primary_evidence_index": [1]}


def test_nli4ct_premises_are_sections_and_both_trials_are_marked_in_comparisons(tmp_path: Path) -> None:
    rows = {
        "u1": statement("Three patients had adverse events."),
        "u2": statement(
            "Both trials exclude pregnancy.", Type="Comparison", Section_id="Eligibility", Secondary_id="NCT00000002"
        ),
    }
    folder = nli4ct_folder(tmp_path / "nli4ct", rows)
    single, comparison = nli4ct.read(folder, NLI4CT, Tally())
    assert single.premise.splitlines() == ["Primary trial, Adverse Events:", *TRIAL["Adverse Events"]]
    assert single.entailed and single.origin == Origin("nli4ct", "u1", "NCT00000001", "train")
    assert comparison.premise.count("  Pregnancy") == 2
    assert comparison.premise.index("Primary trial, Eligibility:") < comparison.premise.index(
        "Secondary trial, Eligibility:"
    )
    assert len(nli4ct.files(folder)) == 3


def test_nli4ct_rows_that_cannot_be_used_are_counted(tmp_path: Path) -> None:
    rows = {
        "no label": statement("x", label=None),
        "no report": statement("x", Primary_id="NCT9"),
        "outside": statement("x", Primary_id="../train"),
        "no second": statement("x", Type="Comparison"),
        "no section": statement("x", Section_id="Sponsors"),
        "no text": statement(" "),
        "no row": 3,
        "good": statement("x", label="Contradiction"),
    }
    tally = Tally()
    items = list(nli4ct.read(nli4ct_folder(tmp_path / "nli4ct", rows, "dev.json"), NLI4CT, tally))
    assert [(item.origin.inner_id, item.entailed, item.origin.split) for item in items] == [
        ("good", False, "validation")
    ]
    assert {reason: n for (_, reason), n in tally.dropped.items()} == {
        "no_label": 1,
        "no_report": 3,
        "malformed_row": 3,
    }


def test_nli4ct_of_another_layout_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no NLI4CT"):
        list(nli4ct.read(tmp_path, NLI4CT, Tally()))
    folder = nli4ct_folder(tmp_path / "nli4ct", {"u": statement("x")})
    (folder / "CT json" / "NCT00000001.json").write_text('{"Summary": []}')
    with pytest.raises(InputError, match="another layout"):
        list(nli4ct.read(folder, NLI4CT, Tally()))
    (folder / "train.json").write_text("[1")
    with pytest.raises(InputError, match="not JSON"):
        list(nli4ct.read(folder, NLI4CT, Tally()))


def item(name: str, premise: str, entailed: bool, text: str | None = None, split: str = "train") -> NliItem:
    origin = Origin("mednli", name, premise, "train" if split == "train" else "test")
    return NliItem(origin, premise, text or f"hypothesis {name}", entailed)


ITEMS = [
    item("a", "p", True),
    item("b", "p", False),
    item("c", "q", True),
    item("d", "r", False),
    item("e", "s", True),
    item("f", "s", True),
    item("g", "s", False),
    item("h", "s", False),
    item("i", "t", True, split="train"),
    item("j", "t", False, split="test"),
    item("k", "u", True, "The same."),
    item("l", "u", False, "the  same."),
]


def test_hypotheses_of_one_premise_become_pairs_as_they_are() -> None:
    tally = Tally()
    pairs = list(nli_pairs(ITEMS, MedhalSettings(), tally))
    assert sorted(pair.context or "" for pair in pairs) == ["p", "s", "s"]
    first = next(pair for pair in pairs if pair.context == "p")
    assert first.origin.inner_id == "a+b" and first.guidance is None
    for claim, text, label in ((first.factual, "hypothesis a", True), (first.wrong, "hypothesis b", False)):
        assert (claim.statement, claim.factual, claim.explanation) == (text, label, None)
        assert not claim.synthetic and claim.rule == "source"
    assert {reason: n for (_, reason), n in tally.dropped.items()} == {"no_partner": 4, "same_statement": 2}
    assert 2 * len(pairs) + sum(tally.dropped.values()) == len(ITEMS)


def test_no_hypothesis_is_used_twice() -> None:
    pairs = list(nli_pairs(ITEMS, MedhalSettings(), Tally()))
    used = [name for pair in pairs for name in pair.origin.inner_id.split("+")]
    assert len(used) == len(set(used)) == 2 * len(pairs)


def test_pairs_do_not_depend_on_the_order_of_items() -> None:
    pairs = list(nli_pairs(ITEMS, MedhalSettings(), Tally()))
    shuffled = list(ITEMS)
    for seed in range(5):
        random.Random(seed).shuffle(shuffled)
        assert list(nli_pairs(shuffled, MedhalSettings(), Tally())) == pairs
