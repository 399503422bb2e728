"""The spaCy component, by the conventions of spaCy's own tests: found by name, kept on disk, in several processes."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ontoground
from ground import ROOT
from ground.errors import InputError, UsageError
from tests.ontoground.conftest import Demo

spacy = pytest.importorskip("spacy")

TEXT = "Denies chest pain. On lisinopril. Possible pneumonia.\n\nFamily History:\nFather with gout.\n"


@pytest.fixture
def nlp(demo: Demo) -> Iterator[Any]:
    made = spacy.blank("en")
    made.add_pipe("ontoground", config={"workspace": str(demo.workspace)})
    yield made
    for name in ("assertion", "certainty", "section"):
        spacy.tokens.Span.remove_extension(name)


def said(doc: Any) -> list[tuple[str, ...]]:
    return [
        (one.text, one.label_, one.kb_id_, one._.assertion, one._.certainty, one._.section)
        for one in doc.spans["ontoground"]
    ]


def test_the_example_of_the_docs_runs(nlp: Any, demo: Demo) -> None:
    (example,) = re.findall(r"(?ms)^```python\n(import spacy\n.*?)^```", (ROOT / "docs/using.md").read_text())
    names: dict[str, Any] = {}
    exec(example.replace('"work"', repr(str(demo.workspace))), names)
    assert [one.text for one in names["doc"].ents] == ["chest pain", "lisinopril"]


def test_it_says_what_read_text_says(nlp: Any, demo: Demo) -> None:
    doc = nlp(TEXT)
    read = ontoground.read_text(TEXT, demo.workspace).mentions
    keys = ("text", "assertion", "certainty", "section")
    assert [(one[0], *one[3:]) for one in said(doc)] == [tuple(one[key] for key in keys) for one in read]
    assert [one[2] for one in said(doc)] == [one["cuis"][0] for one in read]
    assert [(one.text, one.kb_id_) for one in doc.ents] == [(one[0], one[2]) for one in said(doc)]
    assert {one[1] for one in said(doc)} == {"finding", "drug", "disorder"}
    assert said(nlp("")) == []


def test_a_pipeline_on_disk_and_in_bytes_reads_the_same(nlp: Any, tmp_path: Path) -> None:
    wanted = said(nlp(TEXT))
    assert wanted
    nlp.to_disk(tmp_path / "kept")
    assert said(spacy.load(tmp_path / "kept")(TEXT)) == wanted
    assert "lisinopril" not in "".join(file.read_text() for file in (tmp_path / "kept").glob("*.*"))
    again = spacy.util.load_model_from_config(nlp.config).from_bytes(nlp.to_bytes())
    assert said(again(TEXT)) == wanted
    assert said(spacy.tokens.Doc(nlp.vocab).from_bytes(nlp(TEXT).to_bytes())) == wanted
    assert len(pickle.dumps(nlp.get_pipe("ontoground"))) < 1_000


def test_two_processes_read_the_same(nlp: Any) -> None:
    texts = [TEXT, "No gout.", "Aspirin was given."]
    one, two = ([said(doc) for doc in nlp.pipe(texts, n_process=n)] for n in (1, 2))
    assert one == two and all(one)


def test_entities_that_are_there_stay(demo: Demo, nlp: Any) -> None:
    ruler = nlp.add_pipe("entity_ruler", before="ontoground")
    ruler.add_patterns([{"label": "MINE", "pattern": "lisinopril"}])
    doc = nlp(TEXT)
    assert {one.label_ for one in doc.ents if one.text == "lisinopril"} == {"MINE"}
    assert "drug" in {one.label_ for one in doc.spans["ontoground"]} and len(doc.ents) == len(doc.spans["ontoground"])


def test_tokens_that_hold_two_mentions_are_one_span(nlp: Any) -> None:
    nlp.tokenizer = spacy.tokenizer.Tokenizer(nlp.vocab)
    doc = nlp("HTN/gout was noted.")
    (one,) = doc.spans["ontoground"]
    assert one.text == "HTN/gout" and one._.assertion == "present"


def test_an_attribute_of_another_component_is_left_alone(demo: Demo) -> None:
    spacy.tokens.Span.set_extension("section", getter=lambda _: "theirs")
    try:
        config = {"workspace": str(demo.workspace)}
        with pytest.raises(UsageError, match="section"):
            spacy.blank("en").add_pipe("ontoground", config=config)
        ours = spacy.blank("en")
        ours.add_pipe("ontoground", config={**config, "prefix": "og_"})
        (one,) = ours("On lisinopril.").ents
        assert (one._.section, one._.og_section, one._.og_assertion) == ("theirs", "unknown", "present")
    finally:
        for name in ("section", "assertion", "og_assertion", "og_certainty", "og_section"):
            spacy.tokens.Span.remove_extension(name)


def test_a_failure_goes_to_the_pipelines_handler(tmp_path: Path, nlp: Any) -> None:
    lost = spacy.blank("en")
    lost.add_pipe("ontoground", config={"workspace": str(tmp_path)})
    with pytest.raises(InputError, match="no warehouse"):
        lost(TEXT)
    lost.set_error_handler(spacy.util.ignore_error)
    assert list(lost.pipe([TEXT])) == []


def test_other_peoples_pipelines_take_nothing_of_ours_and_mind_nothing_that_stands_in_our_way(tmp_path: Path) -> None:
    (tmp_path / "training.py").write_text("raise RuntimeError('this is not ontoground')\n")
    program = (
        "import sys, spacy; spacy.blank('en'); print('ontoground' in sys.modules, 'ontoground_spacy' in sys.modules)"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
