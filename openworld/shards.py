"""The world's patients written as MIMIC-IV files, with the truth beside them: in shards, by one process or several."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, Any

from ground.flow.executor import Serial
from ground.flow.executors import Processes
from openworld.gold import gold_note
from openworld.hospital import COLUMNS, Hospital, Stay, stay_of
from openworld.notes import write_note
from openworld.patients import plan_patient
from openworld.variety import knowledge
from openworld.volume import STORY, Volume
from openworld.world import Knowledge

__all__ = ["write_hospital"]

PATIENTS_PER_SHARD = 250
TRUTH = "truth/notes"

Shard = dict[str, list[str]]
"""File -> its rows for some patients, as they stand in the file."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What shards are made of."""

    seed: int
    volume: Volume = STORY
    concepts: int = 0


class _Rows(list[str]):
    """Rows as a csv writer writes them."""

    write = list.append


class _Tables:
    """The rows of a shard as text."""

    def __init__(self) -> None:
        self._rows = {name: _Rows() for name in (*COLUMNS, TRUTH)}
        self._writers = {name: csv.writer(self._rows[name], lineterminator="\n") for name in COLUMNS}

    def put(self, name: str, *rows: tuple[Any, ...]) -> None:
        """Add rows to a table."""
        self._writers[name].writerows(rows)

    def put_truth(self, line: dict[str, Any]) -> None:
        """Add a line to the truth."""
        self._rows[TRUTH].append(json.dumps(line, ensure_ascii=False) + "\n")

    def shard(self) -> Shard:
        """Return what was added."""
        return {name: list(rows) for name, rows in self._rows.items()}


class ShardMaker:
    """Makes the rows of patients; they follow from the plan and each patient's number alone."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._hospital = Hospital(knowledge(plan.concepts), plan.volume)

    def make(self, patients: range) -> Shard:
        """Return the rows of some patients."""
        plan, hospital, tables = self._plan, self._hospital, _Tables()
        for index in patients:
            patient = plan_patient(hospital.known, plan.seed, index, plan.volume)
            tables.put("hosp/patients", hospital.patient_row(patient))
            for admission in patient.admissions:
                stay = stay_of(patient, admission)
                tables.put("hosp/admissions", hospital.admission_row(stay))
                tables.put("hosp/diagnoses_icd", *hospital.diagnosis_rows(stay))
                tables.put("hosp/procedures_icd", *hospital.procedure_rows(stay))
                tables.put("hosp/prescriptions", *hospital.prescription_rows(stay))
                if admission.has_note:
                    _put_note(tables, hospital, stay, index < plan.volume.truth_of)
        return tables.shard()


def _put_note(tables: _Tables, hospital: Hospital, stay: Stay, truth: bool) -> None:
    number = stay.admission.number + 1
    note_id = f"{stay.patient.subject_id}-DS-{number}"
    note = write_note(hospital.known, stay.patient, stay.admission, hospital.volume)
    day = stay.discharged.replace(hour=0, minute=0).isoformat(" ")
    stored = (stay.discharged + timedelta(hours=20)).isoformat(" ")
    tables.put("note/discharge", (note_id, *stay.key, "DS", number, day, stored, note.text))
    if truth:
        tables.put_truth(gold_note(hospital.known, note_id, stay.key, note, hospital.cui_of_name))


def _titles(known: Knowledge) -> Shard:
    hospital, tables = Hospital(known), _Tables()
    tables.put("hosp/d_icd_diagnoses", *hospital.title_rows(False))
    tables.put("hosp/d_icd_procedures", *hospital.title_rows(True))
    return tables.shard()


def _shards(plan: Plan, patients: int, workers: int) -> Iterator[Shard]:
    """Yield shards in order; no more than two a worker are in memory."""
    ranges = [range(at, min(at + PATIENTS_PER_SHARD, patients)) for at in range(0, patients, PATIENTS_PER_SHARD)]
    executor = Serial() if workers == 1 or len(ranges) < 2 else Processes(workers)
    yield from executor.in_order(partial(ShardMaker, plan), ShardMaker.make, ranges)


@contextmanager
def _open_gzip(path: Path) -> Iterator[IO[str]]:
    """Open a gzip file for text whose bytes depend on the rows alone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        path.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6) as packed,
        io.TextIOWrapper(packed, encoding="utf-8", newline="") as text,
    ):
        yield text


def write_hospital(
    mimic: Path, truth: Path, patients: int, seed: int, volume: Volume = STORY, workers: int = 1, concepts: int = 0
) -> dict[str, int]:
    """Write all tables and notes.jsonl.gz, and return rows of each; the number of workers changes no byte."""
    counts = dict.fromkeys((*COLUMNS, TRUTH), 0)
    with ExitStack() as stack:
        files = {name: stack.enter_context(_open_gzip(mimic / f"{name}.csv.gz")) for name in COLUMNS}
        for name, columns in COLUMNS.items():
            files[name].write(f"{columns}\n")
        files[TRUTH] = stack.enter_context(_open_gzip(truth / "notes.jsonl.gz"))
        for shard in chain([_titles(knowledge(concepts))], _shards(Plan(seed, volume, concepts), patients, workers)):
            for name, rows in shard.items():
                files[name].writelines(rows)
                counts[name] += len(rows)
    return counts
