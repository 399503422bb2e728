"""``explain`` and ``notes read``: a row of any dataset, and any text, told in words."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ontoground
from tests.ontoground.cli.schemas import answer_to
from tests.ontoground.conftest import Demo

NOTE = "Past Medical History:\nDenies chest pain. Has hypertension.\n"


@pytest.mark.parametrize("quadrant", ["Q1", "Q2", "Q3", "Q4"])
def test_a_row_is_told_with_its_words_in_the_note(quadrant: str, demo: Demo) -> None:
    w = ontoground.open(demo.workspace)
    row = w.statements(quadrant=quadrant).sort("id").head(1).collect().to_dicts()[0]
    place = ("--workspace", str(demo.workspace))
    payload = answer_to("explain", row["id"], *place, "--json").payload("explain")
    assert (payload["says"], payload["label"], payload["dataset"]) == (row["statement"], quadrant, "medieval")
    assert payload["why"][1].startswith("true because" if quadrant in ("Q1", "Q2") else "false because")
    (note,) = w.note(row["hadm_id"])
    for one, span in zip(payload["evidence"], row["support_spans"], strict=True):
        assert one["before"] + one["text"] + one["after"] in note["text"] and one["text"] == span["text"]
        assert len(one["before"]) > 100
        assert one["assertion"] in ("present", "given") and one["certainty"] in ("certain", "corroborated")
    assert {one["id"] for one in payload["group"]} >= {row["id"]} and len(payload["group"]) >= 4
    assert w.explain(row["id"])["why"] == payload["why"]
    text = answer_to("explain", row["id"], *place).out
    assert row["statement"] in " ".join(text.split()) and "(this row)" in text
    assert all(f"[[{one['text']}]]" in text for one in payload["evidence"])
    assert ("a note links the ends" in text) == (quadrant in ("Q3", "Q4"))


def test_a_contradicted_row_is_told_with_what_denies_it(denying: Path) -> None:
    place = ("--workspace", str(denying))
    payload = answer_to("explain", "1-0-h-denied-Q2", *place, "--json").payload("explain")
    assert (payload["dataset"], payload["label"]) == ("medieval_contradicted", "Q2")
    assert "and calls it absent: not supported" in payload["why"][-1]
    assert payload["evidence"][-1]["assertion"] == "absent" and payload["evidence"][-1]["before"]
    assert [one["label"] for one in payload["group"]] == ["Q2", "Q1"]
    w = ontoground.open(denying)
    assert w.statements("medieval_contradicted", support_level="contradicted").collect().height == 1
    assert w.sql("select count(*) as n from medieval_contradicted").pl()["n"].item() == 2
    # The copy is a row of the default configuration, and is told as such.
    assert w.explain(payload["group"][1]["id"])["dataset"] == "medieval"


def test_any_text_is_read(demo: Demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, page = tmp_path / "note.txt", tmp_path / "note.html"
    file.write_text(NOTE)
    place = ("--workspace", str(demo.workspace))
    payload = answer_to("notes", "read", str(file), *place, "--json").payload("notes-read")
    told = {one["text"]: one["assertion"] for one in payload["note"]["mentions"]}
    assert told["chest pain"] == "absent" and told["hypertension"] == "present"
    assert all(re.match(r"C\d{7} \S", one["concepts"]) for one in payload["note"]["mentions"])
    text = answer_to("notes", "read", str(file), *place, "--html", str(page)).out
    assert "chest pain" in text and "absent" in text and "marked:" not in text
    html = page.read_text()
    assert 'class="mention absent' in html and "<script" not in html and "http" not in html
    assert "href=" not in html  # It has no cards for links to lead to.
    pairs = tmp_path / "pairs.jsonl"
    statements = ("Hypertension may be treated by lisinopril.", "Hypertension is common.")
    pairs.write_text("".join(json.dumps({"statement": one, "note": NOTE}) + "\n" for one in statements))
    answers = answer_to("assess", "--statements", pairs, *place, "--json").payload("assess")["statements"]
    assert [answer["quadrant"] for answer in answers] == ["Q1", None] or answers[0]["is_true"]
    if path := answers[0]["path"]:
        shown = answer_to("assess", "--statements", str(pairs), *place).out
        assert f"      {path[0]['words']} [{path[0]['sab']}" in shown
    (tmp_path / "two.csv").write_text("note,statement\nFever.,Aspirin treats fever.\n,Aspirin treats gout.\n")
    answer = answer_to("assess", "--statements", str(tmp_path / "two.csv"), *place)
    assert answer.code == 3 and "a statement has no note" in answer.err and "the first is row 2" in answer.err
    assert "read in it: 'Fever'" in answer_to("assess", "--note", file, "--statement", "Fever.", *place).out
    for arguments, words in (((), "nothing to assess"), (("--statement", "Fever."), "a statement has no note")):
        assert words in answer_to("assess", *arguments, *place).err
    monkeypatch.setattr(sys, "stdin", io.StringIO(NOTE))
    assert "hypertension" in answer_to("notes", "read", "-", *place).out
    file.write_bytes(b"\xff\xfe\x00")
    for path, words in ((tmp_path, "this is a folder"), (file, "not text in UTF-8")):
        refused = answer_to("notes", "read", path, *place)
        assert refused.code == 3 and words in refused.err


def test_a_name_that_the_locale_cannot_write_is_called_that(tmp_path: Path) -> None:
    folder = tmp_path / "d\u00e9mo"
    folder.mkdir(mode=0o700)
    (folder / "warehouse.duckdb").touch()
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-m", "ontoground", "sql", "loads", "--workspace", str(folder)]
    run = subprocess.run(command, env={**os.environ, **plain}, capture_output=True, check=False)
    assert run.returncode == 3 and b"LC_ALL=C.UTF-8" in run.stderr and b"Traceback" not in run.stderr
