"""Pairs from elsewhere: the layouts of published sets, and the validator over them by the command line."""

from __future__ import annotations

import gzip
import json
import shutil
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import polars as pl
import pytest

from builders.medval.pairs import read_pairs
from ground.errors import InputError
from ontoground.cli.main import invoke
from tests.ontoground.cli.schemas import checked

SAID = "The patient has asthma. Continue albuterol."
MEDEC = "Text ID,Text,Error Flag,Corrected Text\n"


def bench(path: Path, *grades: str) -> Path:
    rows = [
        {
            "#": number,
            "id": number,
            "task": "dialogue2note",
            "input": SAID,
            "output": said,
            "physician_risk_grade": grade,
        }
        for number, (grade, said) in enumerate(zip(grades, (SAID, f"{SAID} She has gout."), strict=False))
    ]
    pl.DataFrame(rows).write_csv(path)
    return path


def verifact(folder: Path) -> Path:
    tables = {
        "propositions/propositions": "proposition_id,text,subject_id\na,The patient has asthma.,7\nb,She has gout.,7\n",
        "propositions/human_verdicts": "proposition_id,rater1,human_gt\na,x,Supported\nb,x,Not Addressed\n",
        "reference_ehr/ehr_noteevents": "ROW_ID,SUBJECT_ID,TEXT\n1,7,Asthma since childhood.\n2,7,No wheeze.\n",
    }
    for name, text in tables.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.csv.gz").write_bytes(gzip.compress(text.encode()))
    return folder


def test_medec_is_read_as_it_is_released(tmp_path: Path) -> None:
    file = tmp_path / "medec.csv"
    file.write_text(f"{MEDEC}a,She has gout.,1,She has asthma.\nb,She has asthma.,0,NA\n,,,\n,,,\n")
    first, second = read_pairs(file, "medec")
    assert (first.input, first.output, first.unsafe) == ("She has asthma.", "She has gout.", True)
    assert (second.input, second.output, second.unsafe) == ("She has asthma.", "She has asthma.", False)


def test_medval_bench_has_the_physicians_levels(tmp_path: Path) -> None:
    pairs = list(read_pairs(bench(tmp_path / "bench.csv", "1", "Level 4"), "medval_bench"))
    assert [(one.level, one.unsafe) for one in pairs] == [(1, False), (4, True)]
    with pytest.raises(InputError, match="a risk level is not valid"):
        list(read_pairs(bench(tmp_path / "bad.csv", "7"), "medval_bench"))


def test_a_statement_of_verifact_stands_beside_all_notes_of_its_patient(tmp_path: Path) -> None:
    first, second = read_pairs(verifact(tmp_path), "verifact_bhc")
    assert first.input == second.input == "Asthma since childhood.\n\nNo wheeze."
    assert (first.unsafe, second.unsafe) == (False, True)


def test_a_file_without_its_columns_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text("input,answer\na,b\n")
    with pytest.raises(InputError, match="a column is missing"):
        list(read_pairs(tmp_path / "pairs.csv", "pairs"))


def test_the_validator_judges_files_of_pairs(staged: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text(json.dumps({"input": SAID, "output": f"{SAID} He likes gastrolabes."}) + "\n")
    named = (
        f"bench={bench(tmp_path / 'bench.csv', '1', '4')}:medval_bench",
        f"verifact={verifact(tmp_path / 'verifact')}:verifact_bhc",
        f"mine={tmp_path / 'mine.jsonl'}",
    )
    texts = [word for one in named for word in ("--texts", one)]
    # Other tests hold the workspace itself open.
    options = [
        "--workspace",
        str(shutil.copytree(staged, tmp_path / "work")),
        "--rules",
        "--out",
        str(tmp_path / "out"),
    ]
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = invoke(["evaluate", "medval", *options, *texts, "--json"])
    assert code == 0, err.getvalue()
    judged = {one["name"]: one for one in checked(out.getvalue(), "evaluate-medval")["sources"]}
    for name in ("bench", "verifact"):
        assert judged[name]["unsafe"] == {"pairs": 1, "answered": 1, "called_unsafe": 1}
        assert judged[name]["safe"] == {"pairs": 1, "answered": 1, "called_unsafe": 0}
    assert judged["mine"]["refused"] == {"not_read": 1}
    answers = pl.read_parquet(judged["mine"]["file"])
    assert answers.select("label", "outcome").rows() == [("", "not_read")]
