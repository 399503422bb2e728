"""Each page shows what the workspace of the demo holds, escaped, and changes nothing."""

from __future__ import annotations

import html
import io
import re
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import duckdb
import polars as pl
import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

import ontoground
from ehr.certainty import UNSURE
from ground.storage.sqlfiles import sql_text
from ground.storage.warehouse import connect
from kg.graph import ConceptGraph
from ontoground.pages.marks import pieces
from ontoground.pages.pictures import path_picture
from ontoground.pages.render import reasons_in_words
from ontoground.views.concepts import Phrases, names_like
from ontoground.views.named import named_queries
from ontoground.views.row import changed
from tests.ontoground.conftest import Demo
from tests.ontoground.pages.conftest import Reader

SCRIPT = "<script>alert('x')</script><img src=x onerror=alert(1)>"


def shown(pages: TestClient, path: str, **query: str) -> str:
    answer = pages.get(path, params=query or None)
    assert answer.status_code == 200, answer.text
    return html.unescape(answer.text)


def first_note(pages: TestClient) -> str:
    printed = re.search(r'href="(/note/[\w-]+)"', pages.get("/notes").text)
    assert printed is not None
    return printed[1]


@pytest.mark.parametrize("name", [name for name, _ in named_queries()])
def test_every_named_query_has_a_page(pages: TestClient, name: str) -> None:
    assert f"/query/{name}/csv" in shown(pages, f"/query/{name}")


def test_the_first_page_lists_queries_datasets_and_exact_counts(pages: TestClient, demo: Demo) -> None:
    text = shown(pages, "/")
    assert all(f'href="/query/{name}"' in text for name, _ in named_queries())
    assert "/statements?dataset=medieval" in text
    (n,) = ontoground.open(demo.workspace).sql("select count(*) as n from ground.mention").pl()["n"]
    assert re.search(rf">ground\.mention</td>\s*<td[^>]*>{n:,}</td>", text) and f"{n:,} mentions" in text
    rows = ontoground.open(demo.workspace).statements(quadrant="Q2").collect().height
    assert f"Q2 {rows:,}</a>" in text and "quadrant=Q2" in text


def test_the_box_of_the_first_page_finds_rows_admissions_concepts_codes_and_words(
    pages: TestClient, demo: Demo
) -> None:
    opened = ontoground.open(demo.workspace)
    row = opened.statements(quadrant="Q1").collect().row(0, named=True)
    code, cui = opened.sql(
        "select any_value(code) as code, cui from ground.code_map where method = 'exact' and n_candidates = 1"
        " group by cui having count(*) = 1 order by cui limit 1"
    ).pl().row(0)  # fmt: skip
    for wanted, page in (
        (row["id"], "/statement/medieval/"),
        (str(row["hadm_id"]), "/note/"),
        (row["head_cui"].lower(), f"/concept?q={row['head_cui']}"),
        (code, f"/concept?q={cui}"),
        ("zzz treats", "/statements?words=zzz"),
    ):
        answer = pages.post("/find", data={"wanted": wanted}, follow_redirects=False)
        assert (answer.status_code, answer.headers["location"].startswith(page)) == (303, True), wanted


def test_a_query_is_drawn_and_can_be_taken_along(pages: TestClient, demo: Demo) -> None:
    expected = ontoground.open(demo.workspace).sql("mentions_by_assertion").pl()
    text = shown(pages, "/query/mentions_by_assertion", by="notes")
    assert text.count('class="bar"') == expected.height
    assert pl.read_csv(pages.get("/query/mentions_by_assertion/csv").content).equals(expected)
    sent = pages.get("/query/mentions_by_assertion/parquet").content
    assert pq.read_table(io.BytesIO(sent)).num_rows == expected.height
    assert pages.get("/query/mentions_by_assertion/exe").status_code == 404


def test_the_box_reads_and_only_reads(pages: TestClient) -> None:
    text = pages.post("/sql", data={"sql": "select 40 + 2 as answer, '<b>' as bold"}).text
    assert ">42<" in text and "&lt;b&gt;" in text
    sent = pages.post("/sql", data={"sql": "select 40 + 2 as answer", "format": "csv"})
    assert sent.text == "answer\n42\n"
    refused = pages.post("/sql", data={"sql": "delete from ground.load"})
    assert refused.status_code == 400 and 'role="alert"' in refused.text


def test_a_note_is_shown_whole_with_its_mentions(pages: TestClient, demo: Demo) -> None:
    path = first_note(pages)
    text = pages.get(path).text
    (hadm,) = re.findall(r"<h1>Admission (\d+)</h1>", text)
    assert hadm not in path
    prose = "".join(re.findall(r'(?s)<div class="prose">(.*?)</div></section>', text))
    (note,) = ontoground.open(demo.workspace).note(int(hadm))
    assert html.unescape(re.sub(r"<[^>]+>", "", prose)) == note["text"]
    assert text.count('<dl class="card"') == len(note["mentions"]) > 0
    assert "Codes of the admission" in text


def test_a_note_is_found_by_its_number_without_it_in_the_address(pages: TestClient, demo: Demo) -> None:
    hadm = ontoground.open(demo.workspace).sql("select max(hadm_id) as hadm from ground.mention").pl()["hadm"][0]
    answer = pages.post("/notes", data={"hadm": str(hadm)})
    assert f"<h1>Admission {hadm}</h1>" in answer.text and str(hadm) not in str(answer.url)
    assert pages.post("/notes", data={"hadm": "x' or 1"}).status_code == 400


def test_addresses_and_their_anchors_hold_no_identifier(pages: TestClient, demo: Demo) -> None:
    path = first_note(pages)
    (note_id,) = re.findall(r'aria-label="Sections of ([^"]+)"', text := shown(pages, path))
    anchors = re.findall(r'(?:href="#|id=")([sm]\d[^"]*)"', text)
    assert anchors and len(anchors) > 2 and all(re.fullmatch(r"[sm]\d+-0", anchor) for anchor in anchors)
    assert not any(part in path for part in note_id.split("-")[:1])


@pytest.mark.parametrize(
    "path", ["/concept?q=%00", "/statements?first=²", f"/statements?first={'9' * 20}", "/statements?first=-1"]
)
def test_what_no_page_can_be_asked_is_refused(pages: TestClient, path: str) -> None:
    assert pages.get(path).status_code == 400


def test_identifiers_have_no_commas(pages: TestClient) -> None:
    text = pages.post("/sql", data={"sql": "select 21027282 as hadm_id, 21027282 as n"}).text
    assert ">21027282</td>" in text and ">21,027,282</td>" in text


def test_what_stands_in_a_note_is_never_run(reader: Reader, demo_copy: Callable[[], Path]) -> None:
    workspace = demo_copy()
    connection = connect(workspace / "warehouse.duckdb")
    connection.execute("update mimiciv_note.discharge set text = ? || text", [SCRIPT])
    connection.execute("update ground.mention set text = ?", [SCRIPT])
    connection.execute("update kg.concept set name = ?", [SCRIPT])
    connection.close()
    pages = reader(workspace)
    text = pages.get(first_note(pages)).text
    assert "<script>alert" not in text and "<img src=x" not in text and html.escape(SCRIPT)[:20] in text
    listed = pages.get("/query/common_concepts").text
    assert "<script>alert" not in listed and "&lt;script&gt;" in listed


def test_statements_are_chosen_and_told(pages: TestClient, demo: Demo) -> None:
    expected = ontoground.open(demo.workspace).statements(quadrant="Q3").sort("id").collect()
    text = shown(pages, "/statements", quadrant="Q3")
    assert f"{expected.height:,} rows" in text and expected["statement"][0] in text
    keys = re.findall(r'href="(/statement/medieval/[\w-]+)"', text)
    assert len(keys) == min(expected.height, 50)
    row = shown(pages, keys[0])
    assert expected["statement"][0] in row and "false because" in row and "<mark>" in row
    assert expected["id"][0] not in keys[0]


def test_a_true_statement_shows_its_path(pages: TestClient) -> None:
    text = shown(pages, "/statements", quadrant="Q2", split="train")
    row = shown(pages, re.findall(r'href="(/statement/medieval/[\w-]+)"', text)[0])
    assert '<ol class="path"' in row and "true because" in row and "the note nowhere speaks of" in row


def test_a_row_leads_to_its_mention_and_a_mention_to_its_rows(pages: TestClient, reader: Reader, demo: Demo) -> None:
    listed = shown(pages, "/statements", quadrant="Q1")
    link = re.findall(r'href="(/statement/medieval/[\w-]+)"', listed)[0]
    places = re.findall(r'href="(/note/[\w-]+)#(o[\d-]+)"', shown(pages, link))
    note = shown(pages, places[0][0])
    assert len(places) == 2 and all(note.count(f'id="{place}"') == 1 for _, place in places)
    assert link in note
    # A server that was started again knows the addresses of the first.
    assert reader(demo.workspace).get(link).status_code == 200
    assert pages.get("/statement/medieval/nobody").status_code == 404


def test_ends_are_called_as_the_statement_calls_them(demo: Demo) -> None:
    row = ontoground.open(demo.workspace).statements(quadrant="Q1", hops=1).collect().row(0, named=True)
    graph = ConceptGraph.open(demo.workspace / "graph")
    phrases = Phrases.of_row(graph, {**row, "head_name": "its own name"})
    assert phrases.edge(row["path"][0]).startswith("its own name ") != (row["path"][0]["head_cui"] != row["head_cui"])
    assert phrases.name(row["tail_cui"]) == row["tail_name"]


def test_a_query_is_turned_over_and_chosen_by_its_words(pages: TestClient, demo: Demo) -> None:
    expected = ontoground.open(demo.workspace).sql("unmapped_codes").pl()
    seen, query = 0, "/query/unmapped_codes"
    while query:
        text = shown(pages, query)
        seen += text.count("<tr>") - 1
        further = re.findall(r'rel="next" href="([^"]+)"', text)
        query = f"/query/unmapped_codes{html.unescape(further[0])}" if further else ""
    assert seen == expected.height > 0
    chosen = shown(pages, "/query/unmapped_codes", vocabulary="NDC")
    n = expected.filter(pl.col("vocabulary") == "NDC").height
    assert f"{n} rows" in chosen and '<option value="NDC" selected>' in chosen


def test_rows_can_be_turned_over(pages: TestClient, demo: Demo) -> None:
    total = ontoground.open(demo.workspace).statements().collect().height
    seen, query = 0, "/statements"
    while query:
        text = shown(pages, query)
        seen += len(re.findall(r'href="/statement/medieval/', text))
        further = re.findall(r'rel="next" href="([^"]+)"', text)
        query = f"/statements{further[0]}" if further else ""
    assert seen == total


def test_a_dataset_that_is_not_there_is_called_that(pages: TestClient) -> None:
    answer = pages.get("/statements", params={"dataset": "medval"})
    assert answer.status_code == 400 and "ontoground build medval" in answer.text
    assert pages.get("/statements", params={"dataset": "../../etc"}).status_code == 400


def test_a_concept_and_a_relation(pages: TestClient, demo: Demo) -> None:
    card = ontoground.open(demo.workspace).concept("hypertension")
    text = shown(pages, "/concept", q="hypertension")
    assert card["cui"] in text and all(f"{one['words']} …" in text for one in card["neighbours"])
    assert pages.get("/concept", params={"q": "no such thing"}).status_code == 404
    assert [card["cui"], "hypertension"] in [
        [cui, name.lower()] for cui, name in pages.get("/suggest?q=hyperten").json()
    ]
    relation = shown(pages, "/relation", head="lisinopril", tail="hypertension")
    assert (
        '<ol class="path"' in relation
        and ontoground.open(demo.workspace).relations("lisinopril", "hypertension")[0]["sentence"] in relation
    )


@pytest.mark.parametrize("asked", ["COLD", "colt"])
def test_concepts_of_one_name_are_told_apart(asked: str) -> None:
    with duckdb.connect() as connection:
        connection.execute("""create schema kg; create table kg.name as from (values
            ('C1', 'Cold', 'cold'), ('C2', 'cold', 'cold'), ('C3', 'bold', 'bold')) as name (cui, name, normalized);
            create table kg.concept as from (values ('C1', 'common cold'), ('C2', 'cold temperature'), ('C3', 'bold'))
            as concept (cui, name)""")
        assert names_like(connection, asked) == [("C1", "Cold (common cold)"), ("C2", "cold (cold temperature)")]
        assert not names_like(connection, "(' 😀")


def test_reports_of_runs_are_shown_with_their_pictures(reader: Reader, demo_copy: Callable[[], Path]) -> None:
    workspace = demo_copy()
    folder = workspace / "runs" / "mine" / "report"
    folder.mkdir(parents=True)
    table = "| model | F1 |\n| --- | ---: |\n| <b>x</b> | 0.5 |"
    (folder / "report.md").write_text(f"# Report\n\n{table}\n\n![Risk](figures/risk.png)\n\n![No](../../../x.png)\n")
    (folder / "figures").mkdir()
    (folder / "figures" / "risk.png").write_bytes(b"\x89PNG")
    pages = reader(workspace)
    (path,) = re.findall(r'href="(/runs/[\w-]+)"', pages.get("/runs").text)
    text = pages.get(path).text
    assert "&lt;b&gt;x&lt;/b&gt;" in text and 'data-n="0.5"' in text
    (image,) = re.findall(r'<img src="(/picture/[\w-]+)"', text)
    assert pages.get(image).content == b"\x89PNG"


def test_contradicted_statements_are_chosen_and_told(reader: Reader, denying: Path) -> None:
    pages = reader(denying)
    listed = shown(pages, "/statements", dataset="medieval_contradicted", denied="absent")
    assert ">1 row<" in listed and "contradicted" in listed
    link = re.search(r'href="(/statement/medieval_contradicted/[\w-]+)"', listed)
    assert link is not None
    told = shown(pages, link[1])
    assert "and calls it absent: not supported" in told and "<b>absent</b>" in told
    assert "The same statement of others" in told and told.count("/statement/medieval_contradicted/") == 1


def test_statements_are_read_while_a_verb_writes(reader: Reader, demo_copy: Callable[[], Path]) -> None:
    workspace = demo_copy()
    pages = reader(workspace)
    program = "import sys, duckdb; c = duckdb.connect(sys.argv[1]); print('held', flush=True); sys.stdin.read()"
    file = str(workspace / "warehouse.duckdb")
    with subprocess.Popen(
        [sys.executable, "-c", program, file], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None and writer.stdout.readline() == "held\n"
        listed = shown(pages, "/statements", quadrant="Q1")
        row = shown(pages, re.findall(r'href="(/statement/medieval/[\w-]+)"', listed)[0])
        assert "another program is using this workspace" in row
        assert pages.get("/notes").status_code == 503 and pages.get("/").status_code == 200
        assert pages.post("/sql", data={"sql": "select 1"}).status_code == 503
        writer.communicate()
    assert pages.get("/notes").status_code == 200


def test_a_page_leaves_nothing_open(pages: TestClient, demo: Demo) -> None:
    pages.get("/notes")
    duckdb.connect(str(demo.workspace / "warehouse.duckdb")).close()


class Fields(HTMLParser):
    """Collects what readers of the page by ear need: labels of fields, texts of pictures, one title."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.labelled: set[str] = set()
        self.inside = 0
        self.unlabelled: list[str] = []
        self.titles = 0
        self.inline: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        self.inside += tag == "label"
        self.titles += tag == "h1"
        if tag == "label" and given.get("for"):
            self.labelled.add(str(given["for"]))
        if tag in ("input", "select", "textarea") and given.get("type") != "hidden" and not self.inside:
            self.ids.add(str(given.get("id")))
        if (tag == "img" and not given.get("alt")) or (tag == "svg" and not given.get("aria-label")):
            self.unlabelled.append(tag)
        self.inline += [f"{tag} {name}" for name in given if name == "style" or name.startswith("on")]
        self.inline += [tag] if tag == "style" or (tag == "script" and not given.get("src")) else []

    def handle_endtag(self, tag: str) -> None:
        self.inside -= tag == "label"


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/query/coverage_by_volume",
        "/sql",
        "/notes",
        "note",
        "/statements",
        "/concept?q=hypertension",
        "/relation?head=lisinopril&tail=hypertension",
        "/runs",
        "/nothing",
    ],
)
def test_pages_can_be_used_by_ear_and_run_nothing_inline(pages: TestClient, path: str) -> None:
    text = pages.get(first_note(pages) if path == "note" else path).text
    fields = Fields()
    fields.feed(text)
    assert fields.ids <= fields.labelled and fields.unlabelled == [] and fields.titles == 1 and fields.inline == []
    assert '<html lang="en">' in text and "http://" not in text and "https://" not in text


@pytest.mark.parametrize(
    ("edges", "line"),
    [
        (["ab", "bc", "cd"], "abcd"),
        (["ba", "bc", "dc"], "abcd"),
        # "may be treated by" with a described head: the last edge goes on from the beginning of the line.
        (["ab", "bc", "ad"], "dabc"),
    ],
)
def test_a_path_is_drawn_as_a_line(edges: list[str], line: str) -> None:
    path = [
        {"head_cui": ends[0], "tail_cui": ends[1], "predicate": "is_a", "sab": "X", "rela": "isa", "rui": "R"}
        for ends in edges
    ]
    picture = path_picture(path, str.upper)
    assert "".join(cui for cui, _ in picture.nodes) == line
    pairs = [first + second for first, second in pairwise(line)]
    assert [arrow.back for arrow in picture.arrows] == [pair not in edges for pair in pairs]


def test_overlapping_mentions_are_cut_where_they_meet() -> None:
    mentions = [{"begin_offset": 2, "end_offset": 8}, {"begin_offset": 4, "end_offset": 6}]
    cut = pieces("0123456789", 0, 10, mentions)
    assert [(one.text, one.covers) for one in cut] == [
        ("01", ()),
        ("23", (0,)),
        ("45", (1, 0)),
        ("67", (0,)),
        ("89", ()),
    ]
    assert "".join(one.text for one in pieces("0123456789", 5, 7, mentions)) == "56"


def test_what_changed_is_marked() -> None:
    parts = changed("no fever today", "high fever today")
    assert parts == [("removed", "no"), ("added", "high"), ("same", " fever today")]


@pytest.mark.parametrize(
    ("path", "advice"),
    [
        ("/", "/query/unmapped_codes"),
        ("/notes", "ontoground status"),
        ("/statements", "ontoground build medieval"),
        ("/concept?q=hypertension", "ontoground graph build"),
        ("/relation?head=a&tail=b", "ontoground graph build"),
        ("/query/unmapped_codes", "ontoground graph build"),
        ("/runs", "No report yet"),
    ],
)
def test_an_empty_workspace_says_what_comes_next(reader: Reader, empty_workspace: Path, path: str, advice: str) -> None:
    answer = reader(empty_workspace).get(path)
    assert advice in answer.text and answer.status_code in (200, 400)


def test_every_reason_to_be_unsure_has_its_words() -> None:
    recorded = set(re.findall(r"'(\w+)'", re.findall(r".* as reason", sql_text("ehr/recorded"))[0]))
    assert recorded and reasons_in_words().keys() == {*UNSURE, *recorded}


def test_a_name_that_is_not_whole_leads_on(pages: TestClient) -> None:
    page = pages.get("/concept?q=hyperten")
    assert page.status_code == 404 and 'href="/concept?q=C9900047"' in page.text
