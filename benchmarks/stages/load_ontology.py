"""Load ontologies of 100,000 invented classes as OBO and as OWL, and refuse a note of 300 MB on one line.

The world is not read: classes have a name, two synonyms, a cross-reference and a parent each.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable
from pathlib import Path

from benchmarks.measures import Measure, Result, at_most
from benchmarks.measuring import Done, Inputs, run_apart, stopwatch
from benchmarks.stages.loading import loaded
from ground.errors import InputError

__all__ = ["measure", "refused"]

CLASSES = 100_000
LINE_MB = 300
OBO_SECONDS, OWL_SECONDS, LINE_SECONDS = 60, 120, 120
OWL_HEAD = (
    '<?xml version="1.0"?>\n<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
    'xmlns:owl="http://www.w3.org/2002/07/owl#" xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#" '
    'xmlns:obo="http://www.geneontology.org/formats/oboInOwl#">\n'
    '<owl:Ontology rdf:about="http://purl.obolibrary.org/obo/big.owl"/>\n'
)
DOID = "http://purl.obolibrary.org/obo/DOID_"
NOTES = (
    "note_id,subject_id,hadm_id,note_type,note_seq,charttime,storetime,text\n10-DS-1,10,1,DS,1,2180-01-01,2180-01-01,"
)


def _obo(number: int) -> str:
    parent = f"is_a: DOID:{number // 2}\n" if number > 1 else ""
    return (
        f'[Term]\nid: DOID:{number}\nname: invented disease {number}\nsynonym: "disease {number}" EXACT []\n'
        f'synonym: "malady {number}" RELATED []\nxref: UMLS_CUI:C{number + 8_000_000}\n{parent}\n'
    )


def _owl(number: int) -> str:
    parent = f'<rdfs:subClassOf rdf:resource="{DOID}{number // 2}"/>' if number > 1 else ""
    return (
        f'<owl:Class rdf:about="{DOID}{number}">{parent}<rdfs:label>invented disease {number}</rdfs:label>'
        f"<obo:hasExactSynonym>disease {number}</obo:hasExactSynonym><obo:hasRelatedSynonym>malady {number}"
        f"</obo:hasRelatedSynonym><obo:hasDbXref>UMLS_CUI:C{number + 8_000_000}</obo:hasDbXref></owl:Class>\n"
    )


def _written(file: Path, head: str, line: Callable[[int], str], end: str = "") -> Path:
    file.write_text(f"{head}{''.join(map(line, range(1, CLASSES + 1)))}{end}", encoding="utf-8")
    return file


def refused(folder: Path, root: Path) -> Done:
    """Load a folder that is to be refused.

    Raises:
        AssertionError: it is loaded.
    """
    with stopwatch() as watch:
        try:
            loaded("mimic", folder, root)
        except InputError:
            return Done(LINE_MB, "MB of one line, refused", watch)
    raise AssertionError(folder)


def _with_one_line(folder: Path, pieces: Iterable[bytes]) -> Path:
    """Write the tables that a load needs, and a note of one line."""
    for table, header in (
        ("patients", "subject_id,gender,anchor_age,anchor_year"),
        ("admissions", "subject_id,hadm_id,admittime,dischtime"),
        ("diagnoses_icd", "subject_id,hadm_id,seq_num,icd_code,icd_version"),
    ):
        (folder / "hosp").mkdir(parents=True, exist_ok=True)
        (folder / "hosp" / f"{table}.csv").write_text(f"{header}\n")
    (folder / "note").mkdir()
    with gzip.open(folder / "note" / "discharge.csv.gz", "wb", 1) as file:
        file.writelines(pieces)
    return folder


def measure(inputs: Inputs) -> Result:
    """Write the files, and load each."""
    folder = inputs.scratch("load_ontology")
    obo = _written(folder / "big.obo", "format-version: 1.2\nontology: big\n\n", _obo)
    owl = _written(folder / "big.owl", OWL_HEAD, _owl, "</rdf:RDF>\n")
    line = _with_one_line(folder / "line", (NOTES.encode(), *[b"a" * 1_000_000] * LINE_MB, b"\n"))
    measures: list[Measure] = [
        run_apart(loaded, "ontology", obo, folder / "obo", name="OBO"),
        run_apart(loaded, "ontology", owl, folder / "owl", name="OWL"),
        run_apart(refused, line, folder / "refused", name="gzipped CSV"),
    ]
    limits = (OBO_SECONDS, OWL_SECONDS, LINE_SECONDS)
    checks = [
        at_most(f"{measure.name}, CPU seconds", measure.cpu_seconds, limit)
        for measure, limit in zip(measures, limits, strict=True)
    ]
    return Result("load ontology", measures, checks)
