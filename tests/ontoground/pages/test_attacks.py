"""What somebody could try who has no token, a reader's token, or a page of his own in the same browser: all in vain."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from ground.storage.workspace import Workspace
from ontoground.pages.app import application
from ontoground.pages.guard import STEERING
from tests.ontoground.conftest import Demo
from tests.ontoground.pages.conftest import OWN, PORT, TOKEN

COOKIE = f"ontoground_{PORT}"
READERS = "a-readers-token"
START = "from ontoground.cli.main import main; main()"


@pytest.fixture
def nobody(demo: Demo) -> TestClient:
    """A browser without a cookie, that does not follow."""
    app = application(Workspace.existing(demo.workspace), {TOKEN: STEERING, READERS: "ann"}, PORT)
    return TestClient(app, base_url=OWN, follow_redirects=False)


@pytest.mark.parametrize(
    ("path", "cookie"),
    [
        ("/", ""),
        ("/notes", ""),
        ("/nothing", ""),
        ("/start", ""),
        ("/notes", TOKEN[:-1]),
        ("/notes", TOKEN.upper()),
        ("/notes", f"{TOKEN}%00"),
        ("/notes", f"{TOKEN} "[::-1]),
        ("/notes", f'"{TOKEN}x"'),
        (f"/notes?token={TOKEN}", ""),
        (f"/start?token={TOKEN}x", ""),
        ("/start?token=", ""),
        (f"/start?TOKEN={TOKEN}", ""),
        (f"/start/?token={TOKEN}", ""),
        ("/static/page.js", ""),
        ("/suggest?q=hyper", ""),
        ("/query/loads/csv", ""),
        ("/review", ""),
    ],
)
def test_nothing_opens_without_the_token_as_it_is(nobody: TestClient, path: str, cookie: str) -> None:
    answer = nobody.get(path, headers={"cookie": f"{COOKIE}={cookie}"} if cookie else {})
    assert answer.status_code == 403 and "set-cookie" not in answer.headers and "<" not in answer.text


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/statements",
        "/reviewed",
        "/review/../statements",
        "/review/%2e%2e/statements",
        "/review/..%2fstatements",
        "//statements",
        "/static/../notes",
        "/static/%2e%2e/%2e%2e/app.py",
        "/static/..%5c..%5capp.py",
        "/static//etc/passwd",
        "/review/verdicts.csv",
        "/review/i00000000000",
        "/REVIEW/../sql",
    ],
)
def test_a_readers_token_opens_no_other_page(nobody: TestClient, path: str) -> None:
    answer = nobody.get(path, headers={"cookie": f"{COOKIE}={READERS}"})
    assert answer.status_code in (307, 403, 404)
    assert not re.search(r"quadrant|hadm|root:|import ", answer.text)
    assert "//" not in answer.headers.get("location", "").removeprefix(OWN)


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.test"},
        {"origin": "null"},
        {"origin": f"http://127.0.0.1:{PORT + 1}"},
        {"origin": ""},
        {},
        {"origin": f"{OWN}.evil.test"},
        {"origin": OWN.replace("http", "https")},
        {"origin": OWN, "sec-fetch-site": "cross-site"},
        {"origin": OWN, "sec-fetch-site": "same-site"},
        {"origin": "http://evil.test", "x-forwarded-host": f"127.0.0.1:{PORT}"},
        {"origin": OWN, "host": "evil.test"},
        {"origin": "http://evil.test", "host": "evil.test"},
        {"origin": OWN, "host": f"127.0.0.1:{PORT}@evil.test"},
        {"origin": OWN, "host": f"0.0.0.0:{PORT}"},
        {"origin": "http://evil.test", "content-type": "text/plain"},
        {"referer": f"{OWN}/sql"},
    ],
)
def test_another_site_can_send_no_form(nobody: TestClient, headers: dict[str, str]) -> None:
    cookie = {"cookie": f"{COOKIE}={TOKEN}"}
    answer = nobody.post("/sql", content="sql=select+4242", headers={**cookie, **headers})
    assert answer.status_code in (403, 421) and "4242" not in answer.text
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(
    "query",
    [
        "select 1; drop table kg.edge",
        "attach '/x.duckdb' as x",
        "copy kg.edge to '/stolen.csv'",
        "install httpfs",
        "load httpfs",
        "set enable_external_access = true",
        "select * from read_text('/etc/passwd')",
        "select * from read_csv('/etc/passwd')",
        "select * from '/etc/passwd'",
        "select * from glob('/*')",
        "select * from read_parquet('http://evil.test/x.parquet')",
        "select getenv('HOME')",
        "create table x as select 1",
        "export database '/x'",
        "call pragma_version()",
    ],
)
def test_the_box_reaches_no_file_no_machine_and_changes_nothing(pages: TestClient, query: str) -> None:
    answer = pages.post("/sql", data={"sql": query})
    assert answer.status_code == 400 and "root:" not in answer.text


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{7*7}}", "';drop--"])
@pytest.mark.parametrize("path", ["/concept?q=", "/relation?tail=x&head=", "/statements?words=", "/query/loads?by="])
def test_what_an_address_says_is_text(pages: TestClient, path: str, text: str) -> None:
    answer = pages.get(path + text)
    assert answer.status_code in (200, 400, 404)
    assert "<script>alert" not in answer.text and "<img src=x" not in answer.text and ">49<" not in answer.text


@pytest.mark.parametrize(
    "path", ["/note/1", "/note/95000001", "/statement/medieval/1", "/runs/..%2f..%2f", "/picture/%2fetc%2fpasswd"]
)
def test_keys_are_guessed_by_nobody(pages: TestClient, path: str) -> None:
    assert pages.get(path).status_code == 404


@pytest.fixture(scope="module")
def port(demo: Demo) -> Iterator[int]:
    command = [sys.executable, "-c", START, "explore", "--no-browser", "--workspace", str(demo.workspace)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as running:
        assert running.stderr is not None
        yield int(re.findall(r":(\d+)/start", running.stderr.readline())[0])
        running.kill()


@pytest.mark.parametrize(
    "sent",
    [
        b"GET /notes HTTP/1.1\r\nHost: a\r\nHost: 127.0.0.1:PORT\r\n\r\n",
        b"GET http://127.0.0.1:PORT/notes HTTP/1.1\r\nHost: evil.test\r\n\r\n",
        b"POST /sql HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"0\r\n\r\nGET /notes HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n",
        b"GET /notes\x00 HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n",
        pytest.param(b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n", id="long"),
        b"GET /notes HTTP/1.0\r\n\r\n",
        b"GET /notes HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n",
        b"CONNECT evil.test:80 HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n",
    ],
)
def test_requests_out_of_shape_are_refused(port: int, sent: bytes) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=20) as made:
        answer = b""
        # Some are cut off in the middle.
        with suppress(OSError):
            made.sendall(sent.replace(b"PORT", str(port).encode()))
            made.shutdown(socket.SHUT_WR)
            answer = made.makefile("rb").read()
    statuses = re.findall(rb"HTTP/1\.1 (\d+)", answer)
    assert b"<html" not in answer and all(status in (b"400", b"403", b"404", b"421", b"431") for status in statuses)


def test_the_server_listens_to_this_machine_alone(port: int) -> None:
    listening = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    own = {line[1].partition(":")[0] for line in listening if line[1].endswith(f":{port:04X}") and line[3] == "0A"}
    assert own == {"0100007F"}
