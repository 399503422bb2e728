"""`import ontoground`: what a workspace answers, as objects; nothing heavy before it is asked for."""

from __future__ import annotations

import doctest
import html
import re
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import pytest

import ontoground
from ground import ROOT
from ground.errors import InputError, UsageError
from ground.storage.workspace import Workspace
from ontoground import door
from ontoground.door import OpenWorkspace
from ontoground.flow.session import writing
from ontoground.views.predictions import doubts_of
from tests.ontoground.cli.test_contract import HEAVY
from tests.ontoground.conftest import Demo

TEXT = "Denies chest pain. On lisinopril. Possible pneumonia."


@pytest.fixture
def opened(demo: Demo) -> OpenWorkspace:
    return ontoground.open(demo.workspace)


def test_the_import_is_light() -> None:
    program = f"import sys, ontoground; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="opne"):
        ontoground.opne  # noqa: B018


def test_the_example_of_the_docs_runs(demo: Demo) -> None:
    (example,) = re.findall(r"(?ms)^```python\n(import ontoground\n.*?)^```", (ROOT / "docs/using.md").read_text())
    names: dict[str, object] = {}
    exec(example.replace('"work"', repr(str(demo.workspace))), names)
    assert isinstance(names["w"], OpenWorkspace)


def test_the_examples_of_the_docstrings_print_what_they_say(opened: OpenWorkspace) -> None:
    given = {"w": opened, "ontoground": ontoground}
    failed, tried = doctest.testmod(door, extraglobs=given, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0 and tried > 10


def test_named_queries_and_selects_are_tables(opened: OpenWorkspace) -> None:
    named = opened.sql("quadrants_by_predicate")
    frame = named.pl()
    assert len(named) == frame.height == named.arrow().num_rows
    own = opened.sql("select quadrant, count(*) as n from medieval group by all order by all")
    assert own.pl()["n"].sum() == opened.statements().collect().height
    assert "<table" in own._repr_html_()


def test_only_reading_is_allowed(opened: OpenWorkspace) -> None:
    with pytest.raises(UsageError, match="only one statement that reads"):
        opened.sql("delete from ground.load")
    with pytest.raises(UsageError, match="there is no query of this name"):
        opened.sql("no_such_query")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda w: w.read_text(None), "text is of another type"),
        (lambda w: w.sql(None), "query is of another type"),
        (lambda w: w.concept("\0"), "concept has a NUL"),
        (lambda w: w.relations("lisinopril", "\ud800"), "tail has a NUL or half of a character"),
        (lambda w: w.relations("lisinopril", "hypertension", max_hops="x"), "max_hops is of another type"),
        (lambda w: w.note("x"), "hadm_id is of another type"),
        (lambda w: w.note(10**40), "hadm_id is beyond 64 bits"),
        (lambda w: w.assess_all([{"note": "A note."}]), "pair 0 is of another type"),
        (lambda w: w.assess_all([("A note.",)]), "pair 0 is none"),
        (lambda w: w.explain("\0"), "row has a NUL"),
        (lambda w: w.concept("hypertension", limit="x"), "limit is of another type"),
        (lambda w: w.relations("lisinopril", "hypertension", paths=-1), "paths is below 0"),
        (lambda w: w.graph.to_networkx(concepts=5), "concepts is of another type"),
        (lambda w: w.graph.to_networkx(predicates=[1]), r"predicates\[0\] is of another type"),
        (lambda w: w.statements(hadm_id="x"), "hadm_id is never of this kind"),
        (lambda w: w.statements(path=object()), "path is never of this kind"),
        (lambda w: w.sql("select 1 as a, 2 as a").pl(), "Polars has no frame of these columns"),
        (lambda w: w.sql("select interval 1 year as a").pl(), "Polars has no frame of these columns"),
        (lambda w: ontoground.open(cast(Any, 5)), "folder is of another type"),
        (lambda w: w.predict(None, "A note.", "A statement."), "model is of another type"),
    ],
)
def test_arguments_that_are_none_are_refused(
    opened: OpenWorkspace, call: Callable[[Any], object], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        call(opened)


def test_several_threads_ask_one_workspace(opened: OpenWorkspace) -> None:
    calls = [lambda: len(opened.sql("select count(*) from kg.edge")), lambda: len(opened.concept("lisinopril"))]
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda call: call(), calls * 4))
    assert set(answers[::2]) == {1} and len(set(answers[1::2])) == 1


def test_relations_and_concepts_are_those_of_the_graph(opened: OpenWorkspace) -> None:
    found = opened.relations("lisinopril", "hypertension")
    strong = [one for one in found if one["tier"] != "plausible"]
    assert strong and all(one["sentence"] in repr(found) for one in strong)
    assert "(plausible" not in repr(found) and f"and {len(found) - len(strong)} plausible" in repr(found)
    assert {one["path"][0]["head_cui"] for one in found} == {opened.concept("lisinopril")["cui"]}
    card = opened.concept("hypertension")
    assert opened.concept(card["cui"]) == card and card["cui"] in repr(card)


def test_mentions_of_a_note_are_what_stands_there(opened: OpenWorkspace) -> None:
    (hadm,) = opened.sql("select min(hadm_id) as hadm from ground.mention").pl()["hadm"]
    (note,) = opened.note(hadm)
    assert note["mentions"]
    assert all(note["text"][one["begin_offset"] : one["end_offset"]] == one["text"] for one in note["mentions"])


def test_a_notebook_shows_texts_and_paths_as_the_pages_do(opened: OpenWorkspace) -> None:
    read = ontoground.read_text(f"{TEXT} <script>alert(1)</script>", opened)
    frame = str(read._repr_html_())
    page = html.unescape(frame.split('srcdoc="')[1].split('" width', maxsplit=1)[0])
    assert 'sandbox=""' in frame and "<script>alert" not in page and 'class="mention absent' in page
    drawn = html.unescape(str(opened.relations("lisinopril", "hypertension")._repr_html_()))
    assert '<ol class="path"' in drawn
    row = opened.explain(opened.statements(quadrant="Q1").select("id").head(1).collect().item())
    shown = html.unescape(str(row._repr_html_()))
    assert all(f"<mark>{html.escape(span['text'])}</mark>" in shown for span in row["evidence"]) and row["evidence"]
    assert row["says"] in repr(row) and all(line in repr(row) for line in row["why"])


def test_any_text_is_read(opened: OpenWorkspace) -> None:
    read = ontoground.read_text(TEXT, opened)
    said = {one["text"]: one["assertion"] for one in read.mentions}
    assert said["chest pain"] == "absent" and said["lisinopril"] == "present" and said["pneumonia"] == "possible"
    assert ontoground.read_text("", opened).mentions == []
    # A statement relates two concepts; one that names none of the release is answered with a doubt.
    treats = "Lisinopril treats hypertension."
    (sky,), none = doubts_of(opened.workspace, treats, ["The sky is blue.", treats])
    assert "names no concept" in sky and none == []
    assert doubts_of(opened.workspace, "The sky is blue.", [treats]) == [
        ["the context names no concept of the release"]
    ]


def test_statements_are_chosen_by_column(opened: OpenWorkspace) -> None:
    chosen = opened.statements(quadrant=["Q1", "Q3"], is_supported=True).collect()
    assert set(chosen["quadrant"]) == {"Q1", "Q3"}
    with pytest.raises(UsageError, match="quadrant"):
        opened.statements(quadrnat="Q1")
    with pytest.raises(UsageError, match="Q1, Q2, Q3, Q4"):
        opened.statements(quadrant=["Q1", "Q5"])
    with pytest.raises(UsageError, match=r"cures\n.*treats"):
        opened.statements(predicate="cures")
    with pytest.raises(UsageError, match="train"):
        opened.statements(split="dev")
    # What a build may have is no error where this one has none.
    assert opened.statements(predicate="part_of", tier="plausible", fact_split=None).collect().is_empty()
    with pytest.raises(ontoground.InputError, match="not built"):
        opened.statements("medval")
    with pytest.raises(ontoground.UsageError, match=r"found: medhall\n  expected: medieval, medhal"):
        opened.statements("medhall")


def test_nothing_stays_open(opened: OpenWorkspace) -> None:
    opened.sql("loads")
    opened.concept("hypertension")
    with writing(Workspace.existing(opened.workspace.root)) as connection:
        assert connection.execute("select 1").fetchall() == [(1,)]


def test_the_workspace_of_the_verbs_is_opened_where_none_is_named(
    demo: Demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONTOGROUND_WORKSPACE", str(demo.workspace))
    assert ontoground.open().workspace.root == demo.workspace
    monkeypatch.delenv("ONTOGROUND_WORKSPACE")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "work").symlink_to(demo.workspace)
    assert str(ontoground.open().workspace.root) == "work"


def test_a_folder_without_a_warehouse_is_no_workspace(tmp_path: object) -> None:
    with pytest.raises(InputError, match="no warehouse"):
        ontoground.open(str(tmp_path))
