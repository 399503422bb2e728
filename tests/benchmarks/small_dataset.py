"""A workspace of a few concepts, one note and a few samples, written by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ground.contracts.rows import MEDIEVAL_SCHEMA
from ground.storage.workspace import Workspace
from tests.kg.graphs import Release, rel

ADMISSION = 95000001
NOTE_ID = "90000001-DS-1"
NOTE = "Hospital course:\r\n# Hypertension: started Zestril ___.\r\nStatus épilepticus: none.\n"
CONCEPTS = {
    "C0000001": "CHEM lisinopril",
    "C0000002": "CHEM Zestril",
    "C0000003": "DISO hypertension",
    "C0000004": "DISO vascular disease",
    "C0000005": "DISO gout",
    "C0000006": "CHEM colchicine",
    "C0000007": "DISO renal hypertension",
}
RELATIONS = [
    rel("C0000001", "may_treat", "C0000003"),
    rel("C0000006", "may_treat", "C0000005"),
    rel("C0000002", "tradename_of", "C0000001", sab="RXNORM"),
    rel("C0000003", "isa", "C0000004", sab="DO"),
    rel("C0000007", "isa", "C0000003", sab="DO"),
]


def sample(number: int, quadrant: str, head: str, predicate: str, tail: str, **more: object) -> dict[str, Any]:
    """Return a row of a dataset; ends are given by their CUIs."""
    names = {cui: text.split(" ", 1)[1] for cui, text in CONCEPTS.items()}
    edge = {"head_cui": head, "predicate": predicate, "rela": "may_treat", "tail_cui": tail, "sab": "NDFRT", "rui": "R"}
    is_true = quadrant in ("Q1", "Q2")
    return {
        **{"id": f"sample-{number}", "group_id": f"group-{number}", "subject_id": 90000001, "hadm_id": ADMISSION},
        **{"context": NOTE, "statement": f"{names[head]} {predicate} {names[tail]}.", "quadrant": quadrant},
        **{"is_true": is_true, "is_supported": quadrant in ("Q1", "Q3"), "predicate": predicate},
        **{"head_cui": head, "head_name": names[head], "tail_cui": tail, "tail_name": names[tail], "hops": 1},
        **{"tier": "stated" if is_true else None, "support_level": "stated", "path": [edge] if is_true else []},
        **{"support_spans": [], "replaced_end": "none", "replaced_cui": None, "distance": None, "why_false": None},
        **{"split": "train", "fact_split": "train", "given": "none", "fold": 0, **more},
    }


def workspace_with(folder: Path, samples: list[dict[str, Any]]) -> Workspace:
    """Build a workspace of these samples: warehouse with the note and the concepts, graph, dataset."""
    workspace = Workspace.create(folder)
    release = Release(workspace.root, CONCEPTS, RELATIONS)
    release.build()
    release.connection.execute("create table mimiciv_note.discharge (note_id varchar, hadm_id bigint, text varchar)")
    release.connection.execute("insert into mimiciv_note.discharge values (?, ?, ?)", [NOTE_ID, ADMISSION, NOTE])
    release.connection.close()
    data = workspace.dataset("medieval") / "data"
    data.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(samples, MEDIEVAL_SCHEMA), data / "train-00000-of-00001.parquet")
    return workspace
