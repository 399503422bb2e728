"""Who is refused, and what no answer says."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from ground.storage.workspace import Workspace
from ontoground.pages.app import application
from ontoground.pages.guard import STEERING
from tests.ontoground.pages.conftest import OWN, PORT, TOKEN


@pytest.fixture
def stranger(empty_workspace: Path) -> TestClient:
    return TestClient(application(Workspace.existing(empty_workspace), {TOKEN: STEERING}, PORT), base_url=OWN)


@pytest.fixture
def known(stranger: TestClient) -> TestClient:
    stranger.get("/start", params={"token": TOKEN})
    return stranger


def test_the_token_becomes_a_cookie_that_scripts_and_other_sites_lack(stranger: TestClient) -> None:
    answer = stranger.get("/start", params={"token": TOKEN}, follow_redirects=False)
    cookie = answer.headers["set-cookie"].lower()
    assert answer.status_code == 303 and "httponly" in cookie and "samesite=strict" in cookie
    assert stranger.get("/").status_code == 200


@pytest.mark.parametrize(
    "host", ["example.org", "127.0.0.1", f"127.0.0.1.example.org:{PORT}", f"localhost.:{PORT}", ""]
)
def test_a_foreign_host_is_refused(known: TestClient, host: str) -> None:
    assert known.get("/", headers={"host": host}).status_code == 421
    assert known.get("/start", params={"token": TOKEN}, headers={"host": host}).status_code == 421


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_site_embeds_nothing(known: TestClient, site: str) -> None:
    assert known.get("/", headers={"sec-fetch-site": site}).status_code == 403
    assert known.get("/", headers={"sec-fetch-site": "same-origin"}).status_code == 200


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE"])
def test_other_methods_are_refused(known: TestClient, method: str) -> None:
    assert known.request(method, "/").status_code == 421


@pytest.mark.parametrize("path", ["/", "/nothing", "/static/page.css", "/note/unknown-key", "/query/loads/csv"])
def test_every_answer_keeps_scripts_and_frames_of_others_out(known: TestClient, path: str) -> None:
    headers = known.get(path).headers
    assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
    assert "unsafe" not in headers["content-security-policy"] and "http" not in headers["content-security-policy"]
    assert headers["cache-control"] == "no-store" and headers["x-content-type-options"] == "nosniff"


def test_a_form_has_an_end(known: TestClient) -> None:
    assert known.post("/sql", data={"sql": "x" * 200_000}, headers={"origin": OWN}).status_code == 413


def test_errors_say_where_and_never_what(known: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        answer = known.post("/notes", data={"hadm": "29999999"}, headers={"origin": OWN})
        failed = known.post("/sql", data={"sql": "select cast('Mrs. Example' as integer)"}, headers={"origin": OWN})
    assert "29999999" not in answer.text and "29999999" not in str(answer.url)
    # The box holds what was asked; the message does not repeat the value.
    assert failed.status_code == 400 and "Mrs. Example" not in failed.text.split('role="alert"')[1]
    ours = [one for one in caplog.messages if "Example" in one or "29999999" in one]
    assert ours == []
