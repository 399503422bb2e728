"""The verb: a server on this machine alone, that says where it is and ends with Ctrl+C."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPCookieProcessor, OpenerDirector, build_opener, urlopen

import pytest

from ontoground.cli.main import invoke
from tests.ontoground.cli.schemas import checked

START = "from ontoground.cli.main import main; main()"


@pytest.fixture
def server(empty_workspace: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A running server and the address that it printed."""
    arguments = ["explore", "--no-browser", "--json", "--workspace", str(empty_workspace)]
    command = [sys.executable, "-c", START, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        address = running.stderr.readline().removeprefix("open ").strip()
        yield running, address
        running.kill()


def reader() -> OpenerDirector:
    return build_opener(HTTPCookieProcessor(CookieJar()))


def test_the_printed_address_opens_the_pages_and_ctrl_c_ends_them(server: tuple[subprocess.Popen[str], str]) -> None:
    running, address = server
    page = reader().open(address)
    assert page.status == 200 and b"What this workspace covers" in page.read()
    root = address.partition("/start")[0]
    assert root.startswith("http://127.0.0.1:")
    with pytest.raises(HTTPError, match="403"):
        urlopen(root)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 0
    assert checked(out, "explore")["port"] == int(root.rpartition(":")[2])
    assert "GET" not in err and "token" not in out + err


def test_a_browsers_command_line_which_others_can_read_starts_the_pages_once(
    empty_workspace: Path, tmp_path: Path
) -> None:
    given, browser = tmp_path / "given", tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {given}.part && mv {given}.part {given}\n')
    browser.chmod(0o700)
    command = [sys.executable, "-c", START, "explore", "--workspace", str(empty_workspace)]
    environment = {**os.environ, "BROWSER": str(browser)}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as running:
        assert running.stderr is not None
        printed = running.stderr.readline().removeprefix("open ").strip()
        while not given.exists() and running.poll() is None:
            time.sleep(0.05)
        address = given.read_text()
        assert address != printed
        assert b"What this workspace covers" in reader().open(address).read()
        with pytest.raises(HTTPError, match="403"):
            reader().open(address)
        assert reader().open(printed).status == 200
        running.kill()


def test_many_readers_at_once_are_all_answered(server: tuple[subprocess.Popen[str], str]) -> None:
    address = server[1]

    def read(_: int) -> int:
        asked = reader()
        asked.open(address).read()
        return int(asked.open(address.partition("/start")[0] + "/query/loads").status)

    with ThreadPoolExecutor(8) as readers:
        assert list(readers.map(read, range(16))) == [200] * 16


def test_a_page_that_a_stop_interrupts_can_be_asked_for_again(server: tuple[subprocess.Popen[str], str]) -> None:
    running, address = server
    start = urlsplit(address)
    asked, beside = (HTTPConnection(start.netloc) for _ in range(2))
    asked.request("GET", f"{start.path}?{start.query}")
    with asked.getresponse() as answer:
        cookie = str(answer.getheader("set-cookie")).partition(";")[0]
        answer.read()
    own = {"cookie": cookie, "origin": f"http://{start.netloc}", "content-type": "application/x-www-form-urlencoded"}
    asked.request("POST", "/sql", "sql=select+sum(sqrt(i))+from+range(1000000000000)+t(i)", own)
    # What is answered later was read later.
    beside.request("GET", "/static/page.css", headers=own)
    beside.getresponse().read()
    running.send_signal(signal.SIGTERM)
    answer = asked.getresponse()
    assert answer.status == 503 and b"the server stops" in answer.read()
    assert running.wait(timeout=60) == 0


def test_a_port_that_is_taken_is_called_that(empty_workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert invoke(["explore", "--no-browser", "--port", port, "--workspace", str(empty_workspace)]) == 2
    assert "this port cannot be used" in capsys.readouterr().err
