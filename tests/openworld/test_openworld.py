"""The open world: the same seed gives the same bytes, and what it says of itself is so."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ground.errors import UsageError
from openworld import World, render, shards
from openworld.__main__ import main
from openworld.dice import Dice
from openworld.filler import MAX_FILLER, FillerPlan
from openworld.hospital import COLUMNS
from openworld.laboratory import laboratory_lines
from openworld.notetext import WIDTH, wrap
from openworld.patients import FIRST_SUBJECT, limits, plan_patient
from openworld.shards import write_hospital
from openworld.sizes import REAL_BYTES, REAL_SIZES, sizes
from openworld.variety import AMBIGUOUS, ENDINGS, knowledge
from openworld.volume import REAL
from openworld.world import Knowledge

HEADERS = (
    "Name:",
    "Admission Date:",
    "Date of Birth:",
    "Service:",
    "Allergies:",
    "Attending:",
    "Chief Complaint:",
    "Major Surgical or Invasive Procedure:",
    "History of Present Illness:",
    "Past Medical History:",
    "Social History:",
    "Family History:",
    "Physical Exam:",
    "Pertinent Results:",
    "Brief Hospital Course:",
    "Medications on Admission:",
    "Discharge Medications:",
    "Discharge Disposition:",
    "Discharge Diagnosis:",
    "Discharge Condition:",
    "Discharge Instructions:",
    "Followup Instructions:",
)
PREDICATES = {
    "treats",
    "related_to",
    "classified_as",
    "contraindicated_class_of",
    "subset_includes",
    "has_pharmacologic_class",
    "diagnoses",
    "prevents",
    "causes",
    "associated_with",
    "authorized_value",
    "co-occurs_with",
    "defining_characteristic_of",
    "manifestation_of",
    "sign_or_symptom_of",
    "part_of",
}
"""The canonical directions: treats and diagnoses stand for their inverses too."""
PATIENTS = 25


@pytest.fixture(scope="module", params=[0, 3000], ids=["own concepts", "invented kinds too"])
def concepts(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(scope="module")
def world(concepts: int, tmp_path_factory: pytest.TempPathFactory) -> World:
    return render(tmp_path_factory.mktemp("open") / "world", PATIENTS, concepts=concepts)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> World:
    return render(tmp_path_factory.mktemp("own") / "world", 0)


@pytest.fixture(scope="module")
def known(concepts: int) -> Knowledge:
    return knowledge(concepts)


@pytest.fixture(scope="module")
def gold(world: World) -> list[dict[str, Any]]:
    with gzip.open(world.truth / "notes.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@pytest.fixture(scope="module")
def notes(world: World) -> dict[str, str]:
    return {row["note_id"]: row["text"] for row in csv_rows(world.mimic / "note" / "discharge.csv.gz")}


def csv_rows(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def rrf(path: Path) -> Iterator[list[str]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield line.rstrip("\n").split("|")[:-1]


def digests(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_a_world_follows_from_its_arguments_and_a_patient_from_his_number(
    world: World, concepts: int, tmp_path: Path
) -> None:
    few, other = (render(tmp_path / str(seed), 4, seed, concepts=concepts) for seed in (7, 8))
    assert digests(other.folder)["mimic/note/discharge.csv.gz"] != digests(few.folder)["mimic/note/discharge.csv.gz"]
    assert digests(other.meta) == digests(few.meta) == digests(world.meta)
    for name in ("hosp/patients", "hosp/admissions", "hosp/prescriptions", "note/discharge"):
        rows = csv_rows(few.mimic / f"{name}.csv.gz")
        assert rows == csv_rows(world.mimic / f"{name}.csv.gz")[: len(rows)]
        assert {row["subject_id"] for row in rows} == {"90000001", "90000002", "90000003", "90000004"}


def test_mrfiles_and_mrcols_state_what_the_files_are(world: World) -> None:
    files = {row[0]: row for row in rrf(world.meta / "MRFILES.RRF")}
    assert set(files) == {path.name for path in world.meta.glob("*.RRF")}
    columns = {(row[6], row[0]): row for row in rrf(world.meta / "MRCOLS.RRF")}
    for name, (_, _, fmt, cls, rows, size) in files.items():
        path = world.meta / name
        fields = [line.split("|") for line in path.read_text(encoding="utf-8").splitlines()]
        assert path.stat().st_size == int(size)
        assert len(fields) == int(rows)
        assert {len(line) for line in fields} == {int(cls) + 1}
        for place, column in enumerate(fmt.split(",")):
            lengths = [len(line[place]) for line in fields]
            stated = columns[name, column]
            assert [int(stated[3]), int(stated[5])] == [min(lengths), max(lengths)], (name, column)
            assert stated[4] == f"{sum(lengths) / len(lengths):.2f}", (name, column)


def test_every_concept_has_one_preferred_name_and_a_semantic_type(world: World, known: Knowledge) -> None:
    preferred: dict[str, str] = {}
    cuis, auis = set(), []
    for row in rrf(world.meta / "MRCONSO.RRF"):
        cuis.add(row[0])
        auis.append(row[7])
        if (row[1], row[2], row[4], row[6]) == ("ENG", "P", "PF", "Y"):
            assert row[0] not in preferred
            preferred[row[0]] = row[14]
    assert set(preferred) == cuis
    assert len(set(auis)) == len(auis)
    assert {row[0] for row in rrf(world.meta / "MRSTY.RRF")} == cuis
    assert all(re.fullmatch(r"C99\d{5}", cui) for cui in cuis)
    for concept in known.concepts.values():
        assert preferred[concept.cui] == concept.name


def test_every_relation_has_its_inverse_row_and_known_ends(world: World) -> None:
    inverse = {row[1]: row[3] for row in rrf(world.meta / "MRDOC.RRF") if row[0] == "RELA" and row[2] == "rela_inverse"}
    rel_inverse = {row[1]: row[3] for row in rrf(world.meta / "MRDOC.RRF") if row[2] == "rel_inverse"}
    rows = {(row[0], row[3], row[4], row[7], row[10]) for row in rrf(world.meta / "MRREL.RRF")}
    for first, rel, second, rela, sab in rows:
        assert (second, rel_inverse[rel], first, inverse[rela], sab) in rows
    cuis = {row[0] for row in rrf(world.meta / "MRCONSO.RRF")}
    assert {end for row in rows for end in (row[0], row[2])} <= cuis
    sources = {row[3] for row in rrf(world.meta / "MRSAB.RRF")}
    assert {row[4] for row in rows} | {row[11] for row in rrf(world.meta / "MRCONSO.RRF")} <= sources


def test_a_relation_row_reads_second_concept_rela_first_concept(world: World, known: Knowledge) -> None:
    rows = {(row[4], row[7], row[0]) for row in rrf(world.meta / "MRREL.RRF")}
    cui = {name: concept.cui for name, concept in known.concepts.items()}
    assert (cui["lisinopril"], "may_treat", cui["heart failure"]) in rows
    assert (cui["heart failure"], "may_be_treated_by", cui["lisinopril"]) in rows
    assert (cui["Lasix"], "tradename_of", cui["furosemide"]) in rows
    assert (cui["beta blocker"], "contraindicated_class_of", cui["bradycardia"]) in rows
    assert (cui["heart failure"], "may_treat", cui["lisinopril"]) not in rows


def test_rxnorm_repeats_the_bridge_and_carries_ndcs(world: World) -> None:
    bridge = {row[13]: row[14] for row in rrf(world.meta / "MRCONSO.RRF") if row[11] == "RXNORM" and row[12] != "SY"}
    rxnorm = {row[0]: row[14] for row in rrf(world.rxnorm / "RXNCONSO.RRF") if row[12] != "SY"}
    assert rxnorm == bridge
    ndcs = {re.sub("-", "", row[10]) for row in rrf(world.rxnorm / "RXNSAT.RRF") if row[8] == "NDC"}
    assert all(re.fullmatch(r"\d{11}", ndc) for ndc in ndcs)
    ordered = [row["ndc"].zfill(11) for row in csv_rows(world.mimic / "hosp" / "prescriptions.csv.gz")]
    assert 0.6 < sum(ndc in ndcs for ndc in ordered) / len(ordered) < 0.95


def test_the_world_states_every_predicate_of_medieval(known: Knowledge) -> None:
    assert set(known.by_predicate) >= PREDICATES
    kinds = [concept.kind for concept in known.concepts.values()]
    assert kinds.count("drug") >= 250 and kinds.count("disorder") >= 150
    assert kinds.count("procedure") >= 60 and kinds.count("finding") >= 80


def test_no_treatment_is_contraindicated_and_classes_pass_their_facts_on(known: Knowledge) -> None:
    for fact in (*known.by_predicate["treats"], *known.by_predicate["prevents"]):
        for place in (fact.tail, *known.ancestors(fact.tail)):
            assert not known.holds(fact.head, "contraindicated_with", place), fact
    for drug in known.members["ACE inhibitor"]:
        assert known.holds(drug, "treats", "hypertension")
    assert any(not fact.stated for fact in known.by_predicate["treats"])


def test_names_are_unambiguous_and_every_drug_is_of_use(known: Knowledge) -> None:
    called: dict[str, set[str]] = {}
    for name in known.concepts:
        for surface in known.surfaces(name):
            called.setdefault(surface.lower(), set()).add(name)
    # Invented kinds alone share names, kinds of one concept.
    shared = [names for names in called.values() if len(names) > 1]
    assert all(len({known.bases[name] for name in names}) == 1 for names in shared)
    assert bool(shared) == bool(known.bases)
    for name in known.drugs:
        uses = (*known.tails("treats", name), *known.tails("prevents", name))
        assert uses, name


def test_mentions_stand_where_the_truth_says(
    gold: list[dict[str, Any]], notes: dict[str, str], known: Knowledge
) -> None:
    assert len(gold) == len(notes)
    cuis = {concept.cui for concept in known.concepts.values()}
    for note in gold:
        text = notes[note["note_id"]]
        for mention in note["mentions"]:
            assert text[mention["start"] : mention["end"]] == mention["text"]
            before = text.count(mention["text"], 0, mention["start"])
            assert mention["occurrence"] == before + 1
            assert {mention["cui"], mention["surface_cui"]} <= cuis
        for link in note["links"]:
            assert " ".join(link["evidence"].split()) in " ".join(text.split())


def test_what_a_note_links_holds_in_the_world(gold: list[dict[str, Any]], known: Knowledge) -> None:
    links = [link for note in gold for link in note["links"]]
    assert {link["predicate"] for link in links} >= PREDICATES - {"prevents"}
    assert all(known.holds(link["head"], link["predicate"], link["tail"]) for link in links)


def test_a_note_says_nothing_that_the_truth_does_not_know(
    gold: list[dict[str, Any]], notes: dict[str, str], known: Knowledge
) -> None:
    """Every name of the world that stands in a note is part of a marked mention; laboratory values are none."""
    notes = {"values": "\n".join(laboratory_lines(Dice(7, "all"), 3)), **notes}
    gold = [{"note_id": "values", "mentions": []}, *gold]
    names = {
        tuple(re.findall(r"[a-z0-9]+", surface.lower())) for name in known.concepts for surface in known.surfaces(name)
    }
    longest = max(map(len, names))
    for note in gold:
        body = notes[note["note_id"]]
        marked = bytearray(len(body))
        for mention in note["mentions"]:
            marked[mention["start"] : mention["end"]] = b"\1" * (mention["end"] - mention["start"])
        tokens = [(found.start(), found.end(), found[0].lower()) for found in re.finditer(r"[A-Za-z0-9]+", body)]
        for place, (start, _, _) in enumerate(tokens):
            for size in range(1, min(longest, len(tokens) - place) + 1):
                end = tokens[place + size - 1][1]
                if tuple(token[2] for token in tokens[place : place + size]) in names and not all(marked[start:end]):
                    assert body[:start].endswith("Service: ") or any(marked[start:end]), body[start:end]


def test_a_denied_finding_is_not_present_in_the_same_note(gold: list[dict[str, Any]]) -> None:
    for note in gold:
        said: dict[str, set[str]] = {"present": set(), "absent": set()}
        for mention in note["mentions"]:
            if mention["assertion"] in said:
                said[mention["assertion"]].add(mention["concept"])
        assert not said["present"] & said["absent"]


def test_notes_have_the_standard_headers_in_order_and_short_lines(notes: dict[str, str]) -> None:
    for text in notes.values():
        places = [text.index(f"\n{header}") for header in HEADERS]
        assert places == sorted(places)
        assert max(map(len, text.split("\n"))) <= 110
        assert 300 <= len(text.split()) <= 1200


def test_patients_are_plausible(known: Knowledge) -> None:
    rules = limits()
    for index in range(60):
        patient = plan_patient(known, 7, index)
        for admission in patient.admissions:
            names = [problem.name for problem in admission.problems]
            groups = [rules.group[name] for name in names if name in rules.group]
            assert len(groups) == len(set(groups))
            assert all(rules.sex.get(name, patient.sex) == patient.sex for name in names)
            for order in admission.orders:
                assert known.holds(order.drug, "treats", order.problem)
                if not order.against:
                    parts = (order.drug, *known.drugs[order.drug].ingredients)
                    assert not any(known.holds(part, "contraindicated_with", name) for part in parts for name in names)


def test_common_problems_recur_with_different_drugs(known: Knowledge) -> None:
    patients = [plan_patient(known, 7, index) for index in range(120)]
    with_hypertension = [
        {order.drug for order in patient.admissions[0].orders if order.problem == "hypertension"}
        for patient in patients
        if any(problem.name == "hypertension" for problem in patient.admissions[0].problems)
    ]
    assert len(with_hypertension) >= 20
    assert len(set().union(*with_hypertension)) >= 8


def test_tables_have_mimics_columns_and_gaps(world: World, gold: list[dict[str, Any]]) -> None:
    diagnoses = csv_rows(world.mimic / "hosp" / "diagnoses_icd.csv.gz")
    assert list(diagnoses[0]) == ["subject_id", "hadm_id", "seq_num", "icd_code", "icd_version"]
    assert not any("." in row["icd_code"] for row in diagnoses)
    codes = {row[13].replace(".", "") for row in rrf(world.meta / "MRCONSO.RRF") if row[11].startswith("ICD")}
    covered = sum(row["icd_code"] in codes for row in diagnoses) / len(diagnoses)
    assert 0.5 < covered < 0.98
    titles = {
        (row["icd_code"], row["icd_version"]) for row in csv_rows(world.mimic / "hosp" / "d_icd_diagnoses.csv.gz")
    }
    assert {(row["icd_code"], row["icd_version"]) for row in diagnoses} <= titles
    assert any(note["code_present_note_silent"] for note in gold)


def test_filler_concepts_scale_a_release_and_keep_it_sound(tmp_path: Path) -> None:
    own = len(knowledge().concepts)
    world = render(tmp_path / "scaled", 0, filler=FillerPlan(2 * own, names=2, relations=3))
    rows = list(rrf(world.meta / "MRCONSO.RRF"))
    filler = [row for row in rows if row[0] < "C98"]
    assert len({row[0] for row in filler}) == 2 * own
    assert len(filler) == 4 * own
    relations = [row for row in rrf(world.meta / "MRREL.RRF") if row[0] < "C98"]
    assert 0.95 * 12 * own < len(relations) <= 12 * own
    assert len({row[8] for row in relations}) == len(relations)
    stated = {row[0]: int(row[4]) for row in rrf(world.meta / "MRFILES.RRF")}
    assert stated["MRCONSO.RRF"] == len(rows)


def test_the_number_of_workers_changes_no_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_hospital(tmp_path / "alone" / "mimic", tmp_path / "alone" / "truth", 5, 7)
    monkeypatch.setattr(shards, "PATIENTS_PER_SHARD", 2)
    write_hospital(tmp_path / "shared" / "mimic", tmp_path / "shared" / "truth", 5, 7, workers=2)
    alone, written = (digests(tmp_path / folder) for folder in ("alone", "shared"))
    assert written == alone and len(written) == len(COLUMNS) + 1


def test_the_real_volume_has_the_real_proportions_and_the_same_patients(tmp_path: Path) -> None:
    counts = write_hospital(tmp_path / "mimic", tmp_path / "truth", 40, 7, REAL)
    admissions = counts["hosp/admissions"]
    assert 30 < counts["hosp/prescriptions"] / admissions < 45
    assert 10 < counts["hosp/diagnoses_icd"] / admissions < 14
    assert 0.4 < counts["note/discharge"] / admissions < 0.85
    assert counts["truth/notes"] == counts["note/discharge"]
    orders = [row["pharmacy_id"] for row in csv_rows(tmp_path / "mimic" / "hosp" / "prescriptions.csv.gz")]
    assert len(set(orders)) == len(orders)
    texts = [row["text"] for row in csv_rows(tmp_path / "mimic" / "note" / "discharge.csv.gz")]
    assert 8_000 < sum(map(len, texts)) / len(texts) < 12_000
    write_hospital(tmp_path / "small", tmp_path / "of-small", 9, 7)
    mine, small = (csv_rows(tmp_path / folder / "hosp" / "patients.csv.gz") for folder in ("mimic", "small"))
    assert mine[:9] == small


def test_the_truth_of_the_first_patients_alone_is_written_where_asked(tmp_path: Path) -> None:
    counts = write_hospital(tmp_path / "mimic", tmp_path / "truth", 20, 7, replace(REAL, truth_of=8))
    notes = csv_rows(tmp_path / "mimic" / "note" / "discharge.csv.gz")
    first = sum(row["subject_id"] < str(FIRST_SUBJECT + 8) for row in notes)
    assert 0 < first == counts["truth/notes"] < counts["note/discharge"] == len(notes)
    assert len({row["text"].split("Brief Hospital")[1] for row in notes}) == len(notes)


def test_files_that_no_stage_reads_are_as_large_as_in_a_release(tmp_path: Path, own: World) -> None:
    fillers = 5_000
    world = render(tmp_path / "whole", 0, filler=FillerPlan(fillers, whole=True))
    for name, size in REAL_BYTES.items():
        before = own.meta / name
        found = (world.meta / name).stat().st_size - (before.stat().st_size if before.is_file() else 0)
        # Paths to the root are longer where there are more concepts.
        assert found / fillers == pytest.approx(size / sizes(1)[1].concepts, rel=0.4 if name == "MRHIER.RRF" else 0.1)


def test_kinds_share_names_as_often_as_concepts_of_a_release() -> None:
    known = knowledge(6_000)
    held: dict[str, set[str]] = {}
    for concept in known.concepts.values():
        for name in (concept.name, *concept.synonyms):
            held.setdefault(name.lower(), set()).add(concept.cui)
    invented = [one for one in known.concepts.values() if one.kind in ENDINGS and one.name in known.bases]
    shared = [one for one in invented if any(len(held[name.lower()]) > 1 for name in (one.name, *one.synonyms))]
    assert len(shared) / len(invented) == pytest.approx(AMBIGUOUS, rel=0.25)


def test_a_scale_is_that_share_of_the_real_sizes() -> None:
    patients, filler = sizes(0.1)
    assert filler.concepts * filler.names == pytest.approx(REAL_SIZES["MRCONSO.RRF"] / 10, rel=0.05)
    assert filler.concepts * filler.relations * 2 == pytest.approx(REAL_SIZES["MRREL.RRF"] / 10, rel=0.05)
    assert patients * 1.15 * (1 - REAL.without_note) == pytest.approx(REAL_SIZES["note/discharge"] / 10, rel=0.01)
    for wrong in (0.0, 1.01):
        with pytest.raises(UsageError):
            sizes(wrong)


def test_more_concepts_are_said_in_notes_the_first_kinds_most_often(
    concepts: int, known: Knowledge, gold: list[dict[str, Any]]
) -> None:
    said = Counter(name for note in gold for name in {mention["concept"] for mention in note["mentions"]})
    kinds = [(said[name], rank) for name, rank in known.ranks.items()]
    assert bool(kinds) == bool(concepts)
    if concepts:
        assert abs(len(known.concepts) - concepts) < concepts / 50
        often = {first: sum(n for n, rank in kinds if (rank == 1) == first) for first in (True, False)}
        n_first = sum(rank == 1 for _, rank in kinds)
        assert often[True] / n_first > often[False] / (len(kinds) - n_first) > 0


def test_sizes_out_of_range_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="out of range"):
        render(tmp_path / "none", -1)
    with pytest.raises(UsageError, match="too many filler"):
        FillerPlan(MAX_FILLER + 1)
    with pytest.raises(UsageError, match="number of concepts"):
        render(tmp_path / "more", 1, concepts=10)
    assert not (tmp_path / "none").exists()


def test_the_command_prints_the_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "world"), "--patients", "2"]) == 0
    counts = json.loads(capsys.readouterr().out)
    assert counts["hosp/patients"] == 2
    assert main([str(tmp_path / "world"), "--patients", "-2"]) == UsageError.exit_code


@given(seed=st.integers(0, 2**32), names=st.lists(st.text(min_size=1, max_size=5), unique=True, max_size=12))
def test_an_order_by_dice_depends_on_each_value_alone(seed: int, names: list[str]) -> None:
    dice = Dice(seed, "about")
    order = dice.shuffled(names, "label")
    assert sorted(order) == sorted(names)
    assert dice.shuffled(list(reversed(names)), "label") == order
    fewer = names[:-1]
    assert dice.shuffled(fewer, "label") == [name for name in order if name in fewer]


@given(text=st.text(alphabet="ab \n", max_size=400))
def test_wrapping_moves_no_character(text: str) -> None:
    wrapped = wrap(text)
    assert len(wrapped) == len(text)
    assert all(new == old or (old, new) == (" ", "\n") for old, new in zip(text, wrapped, strict=True))
    for line in wrapped.split("\n"):
        assert len(line) <= WIDTH or " " not in line[: WIDTH + 1].lstrip(" ")
