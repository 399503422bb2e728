"""Blind review over HTTP: who is shown what, what a form and a script are told, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from ground.settings import StewardSettings
from ground.storage.files import private_directory
from ground.storage.workspace import Workspace
from ontoground.pages.app import application
from ontoground.pages.guard import STEERING
from stewardship.history.log import History
from stewardship.sheets.review import Answered, Review, open_review
from tests.ontoground.pages.conftest import OWN, PORT
from tests.stewardship.sheets.world import statements, written

TOKENS = {"steers": STEERING, "of-ann": "ann", "of-bob": "bob"}
NOTHING = Answered().version


@pytest.fixture
def review(tmp_path: Path) -> Review:
    benchmark = statements(private_directory(tmp_path / "work"))
    pairs = [(f"s{2 * number:03d}", reader) for number in range(12) for reader in ("ann", "bob")]
    written(benchmark, pairs, "sample-1", kind="sample", drawn="balanced")
    return open_review(benchmark, "sample-1", StewardSettings())


def browser(review: Review, token: str) -> TestClient:
    workspace = Workspace.create(review.benchmark.folder.parents[1])
    app = application(workspace, TOKENS, PORT, under_review=review)
    client = TestClient(app, base_url=OWN, headers={"origin": OWN})
    client.get("/start", params={"token": token})
    return client


def first(client: TestClient) -> str:
    return str(re.findall(r'href="(/review/i\w+)"', client.get("/review").text)[0])


def test_a_reader_has_rows_and_no_other_page(review: Review) -> None:
    ann = browser(review, "of-ann")
    assert "Your rows, ann" in ann.get("/").text or ann.get("/review").status_code == 200
    for path in ("/", "/statements", "/sql", "/notes", "/runs", "/reviews", "/review/../statements", "/static/../sql"):
        assert ann.get(path).status_code in (403, 404), path
    assert ann.get("/review/verdicts.csv").status_code == 403
    assert ann.get("/static/page.css").status_code == 200


def test_a_row_of_another_reader_is_none(review: Review) -> None:
    ann, bob = browser(review, "of-ann"), browser(review, "of-bob")
    path = first(bob)
    assert bob.get(path).status_code == 200 and ann.get(path).status_code == 404
    answers = {"answer": "Q1", "version": NOTHING, "reader": "bob"}
    assert ann.post(path, data=answers).status_code in (404, 422)
    assert not review.benchmark.history.latest("physician")


def test_what_reaches_a_browser_tells_no_label(review: Review) -> None:
    bob = browser(review, "of-bob")
    bob.post(first(bob), data={"answer": "Q3", "reason": "SEEN", "version": NOTHING})
    ann = browser(review, "of-ann")
    paths = re.findall(r'href="(/review/i\w+)"', ann.get("/review").text)
    sent = "".join(ann.get(path).text for path in dict.fromkeys(paths))
    assert "relation-" not in sent and "SEEN" not in sent and not re.search(r"\bs0\d\d\b", sent) and "bob" not in sent
    assert "checked" not in sent


def test_a_page_tells_what_counts_and_speaks_of_no_spreadsheet(review: Review) -> None:
    ann = browser(review, "of-ann")
    for path in ("/review", first(ann)):
        page = ann.get(path).text
        assert "something that is one of it" in page and "stopped or is held" in page and "past history" in page, path
        assert not re.search(r"\bcell\b|column|Excel|page Answers|[Ww]rite N/A", page), path


def test_a_form_goes_on_to_the_next_open_row_and_a_script_is_told(review: Review) -> None:
    ann = browser(review, "of-ann")
    path = first(ann)
    answer = ann.post(path, data={"answer": "Q2", "reason": "r", "comment": "a\r\nb", "version": NOTHING})
    assert answer.status_code == 200 and answer.url.path != path and "Row 2 of 12" in answer.text
    kept = ann.get(path).text
    assert re.search(r'value="Q2" required checked', kept) and ">a\nb</textarea>" in kept
    lines = ann.post(answer.url.path, data={"answer": "Q1", "version": NOTHING}, headers={"accept": "application/json"})
    assert lines.json()["done"] == 2 and lines.json()["of"] == 12
    behind = ann.post(path, data={"answer": "Q1", "version": NOTHING}, headers={"accept": "application/json"})
    assert behind.status_code == 409 and "answered elsewhere" in behind.json()["error"]
    wrong = ann.post(path, data={"answer": "Q7", "version": NOTHING})
    assert wrong.status_code == 422 and "NOT KEPT" in wrong.text and 'role="alert">' in wrong.text
    values = [event.value for event in History(review.benchmark.folder).events if event.status == "rated"]
    assert values == ["Q2", "Q1"]


def test_what_is_written_in_rows_and_comments_is_text(review: Review) -> None:
    ann = browser(review, "of-ann")
    path = first(ann)
    ann.post(
        path, data={"answer": "Q2", "comment": "</textarea><script>x</script>", "reason": '"><u>', "version": NOTHING}
    )
    assert "<script>x" not in ann.get(path).text and '"><u>' not in ann.get(path).text
    table = browser(review, "steers").get("/review/verdicts.csv").text
    assert ",ann" in table and "<script>" in table
    ann.post(path, data={"answer": "Q2", "comment": "=1+1", "version": ann_version(ann, path)})
    assert ",'=1+1," in browser(review, "steers").get("/review/verdicts.csv").text


def ann_version(client: TestClient, path: str) -> str:
    return str(re.findall(r'name="version" value="(\w+)"', client.get(path).text)[0])


def test_who_steers_sees_how_far_readers_are_and_answers_nothing(review: Review) -> None:
    ann, steers = browser(review, "of-ann"), browser(review, "steers")
    path = first(ann)
    ann.post(path, data={"answer": "Q2", "version": NOTHING})
    board = steers.get("/review").text
    assert re.search(r"<td>ann</td><td class=\"n\">1</td><td class=\"n\">12</td>", board)
    assert "below 10 nothing is said" in board
    assert 'href="/review">Readers of sample-1' in steers.get("/").text
    assert steers.get(path).status_code == 403
    assert steers.post(path, data={"answer": "Q1", "version": NOTHING}).status_code == 403


def test_without_a_batch_there_is_no_review(pages: TestClient) -> None:
    answer = pages.get("/review")
    assert answer.status_code == 404 and "--review BATCH" in answer.text
