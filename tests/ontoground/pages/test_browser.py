"""The pages in a real browser: Debian's Chromium, driven by Playwright; without a Chromium these tests are skipped.

`ONTOGROUND_NEEDS_BROWSER=1`, as the gate sets it, makes a missing browser a failure.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ground.storage.files import private_directory
from stewardship.history.log import History
from tests.ontoground.conftest import Demo
from tests.stewardship.sheets.world import statements, written

CHROMIUM = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium"))), None)
NEEDED = os.environ.get("ONTOGROUND_NEEDS_BROWSER") == "1"
pytestmark = pytest.mark.skipif(
    CHROMIUM is None and not NEEDED, reason="no Chromium: apt-get install chromium-headless-shell"
)
ARGUMENTS = ("--no-sandbox", "--host-resolver-rules=MAP rebound.test 127.0.0.1")
START = "from ontoground.cli.main import main; main()"
WIDTHS = (360, 1280, 2560)
PAGES = (
    "/", "/query/coverage_by_volume", "/concept?q=hypertension", "/relation?head=lisinopril&tail=hypertension",
    "/notes", "/statements", "/runs", "/sql",
)  # fmt: skip

# WCAG 2's contrast of all text with what lies behind it, names of all fields, one heading, no width beyond the window.
FAULTS = """() => {
  const faults = [];
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return canvas.getImageData(0, 0, 1, 1).data; };
  const light = (c) => { const [r, g, b] = [...c].slice(0, 3).map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const behind = (node) => { for (let at = node; at; at = at.parentElement) {
    const found = rgba(getComputedStyle(at).backgroundColor); if (found[3] > 250) return found; }
    return rgba(getComputedStyle(document.body).backgroundColor); };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !node.checkVisibility() || node.closest("svg, option, select")) continue;
    const [one, other] = [light(rgba(getComputedStyle(node).color)), light(behind(node))];
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (ratio < 4.5) faults.push(`contrast ${ratio.toFixed(2)} of <${node.tagName} class="${node.className}">`);
  }
  for (const field of document.querySelectorAll("input:not([type=hidden]), select, textarea, button")) {
    const named = field.labels?.length || field.getAttribute("aria-label") || field.textContent.trim();
    if (!named) faults.push(`no label: ${field.outerHTML.slice(0, 60)}`);
  }
  for (const shown of document.querySelectorAll("img:not([alt]), svg:not([aria-label], [aria-hidden])"))
    faults.push(`no words: ${shown.tagName}`);
  if (document.querySelectorAll("h1").length !== 1) faults.push("not one h1");
  if (!document.documentElement.lang || !document.title) faults.push("no language or title");
  const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
  if (new Set(ids).size !== ids.length) faults.push("an id twice");
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (wide > 1) faults.push(`${wide} pixels too wide`);
  return [...new Set(faults)];
}"""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    assert CHROMIUM is not None, "a browser is needed: apt-get install chromium-headless-shell"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@dataclass
class Server:
    """A running server: its process, and by reader the address that it printed; "" for who steers."""

    process: subprocess.Popen[str]
    addresses: dict[str, str]

    @property
    def root(self) -> str:
        return self.addresses[""].partition("/start")[0]


def served(workspace: Path, *more: str) -> Server:
    command = [sys.executable, "-c", START, "explore", "--no-browser", "--workspace", str(workspace), *more]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    addresses = {}
    for line in process.stderr:
        if found := re.match(r"(?:open|for (\w+) alone:) (\S+)$", line.strip()):
            addresses[found[1] or ""] = found[2]
        if line.startswith("Ctrl+C"):
            return Server(process, addresses)
    raise AssertionError("the server did not start")


@pytest.fixture(scope="module")
def look(demo: Demo) -> Iterator[Server]:
    """The pages of the demo."""
    server = served(demo.workspace)
    yield server
    server.process.kill()
    server.process.wait()


@dataclass
class Reviewing:
    """A batch under review by ann and bob."""

    workspace: Path
    server: Server

    def said(self) -> list[tuple[str, str | None]]:
        events = History(self.workspace / "stewardship" / "statements").events
        return [(event.by, event.value) for event in events if event.status == "rated"]


@pytest.fixture
def reviewing(tmp_path: Path) -> Iterator[Reviewing]:
    benchmark = statements(private_directory(tmp_path / "work"))
    pairs = [(f"s{2 * number:03d}", reader) for number in range(4) for reader in ("ann", "bob")]
    written(benchmark, pairs, "sample-1", kind="sample", drawn="balanced")
    server = served(tmp_path / "work", "--review", "sample-1")
    yield Reviewing(tmp_path / "work", server)
    server.process.kill()
    server.process.wait()


class Watched:
    """A page of a browser of its own that notes where it asks, and what goes wrong in it."""

    def __init__(self, chromium: Any, **options: Any) -> None:
        self.context = chromium.new_context(**options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(15_000)
        self.asked: list[str] = []
        self.wrong: list[str] = []
        self.context.on("request", lambda request: self.asked.append(request.url))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("console", lambda said: self.wrong.append(said.text) if said.type == "error" else None)

    def shows(self, text: str) -> None:
        self.page.get_by_text(text).first.wait_for()

    def kept(self) -> None:
        self.page.locator("#kept", has_text="kept at").wait_for()

    def faults(self) -> list[str]:
        self.page.wait_for_load_state("load")
        found: list[str] = self.page.evaluate(FAULTS)
        return found

    def begin(self, address: str) -> None:
        self.page.goto(address)
        self.page.get_by_role("link", name="Begin").click()
        self.page.wait_for_url("**/review/i*", wait_until="load")


def test_every_page_is_readable_in_light_dark_narrow_and_wide(chromium: Any, look: Server) -> None:
    faults: list[str] = []
    for scheme, width in (("light", 360), ("dark", 1280), ("light", 2560)):
        watched = Watched(chromium, viewport={"width": width, "height": 900}, color_scheme=scheme)
        page = watched.page
        page.goto(look.addresses[""])
        paths = list(PAGES)
        page.goto(f"{look.root}/notes")
        paths.append(page.locator("td a").first.get_attribute("href"))
        page.goto(f"{look.root}/statements?quadrant=Q2")
        paths.append(page.locator("td a").first.get_attribute("href"))
        for path in paths:
            answer = page.goto(look.root + path)
            assert answer.status == 200
            faults += [f"{path} {scheme} {width}: {one}" for one in watched.faults()]
        assert watched.wrong == []
        assert all(url.startswith(look.root) for url in watched.asked)
        watched.context.close()
    assert faults == []


def test_looking_works_by_mouse_and_by_keyboard(chromium: Any, look: Server) -> None:
    watched = Watched(chromium)
    page = watched.page
    page.goto(look.addresses[""])
    page.goto(f"{look.root}/query/mentions_by_section")
    page.locator("th button").first.click()
    names = page.locator("tbody td:first-child").all_inner_texts()
    assert names == sorted(names, key=str.lower)
    page.goto(f"{look.root}/notes")
    page.locator("td a").first.click()
    page.locator("a.mention").first.click()
    assert page.locator(".card.shown").count() >= 1
    page.locator("#legend input[name=present]").uncheck()
    assert page.locator("a.mention.present:not(.off)").count() == 0
    page.goto(f"{look.root}/sql")
    page.locator("#sql").fill("select 40 + 2 as answer")
    page.keyboard.press("Control+Enter")
    watched.shows("1 row")
    page.goto(f"{look.root}/concept")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.locator("#q").press_sequentially("hyperten")
    page.locator("datalist option").first.wait_for(state="attached")
    assert watched.wrong == []


def test_two_readers_side_by_side_and_a_third_who_decides(chromium: Any, reviewing: Reviewing) -> None:
    ann, bob = Watched(chromium), Watched(chromium)
    for reader, name, key in ((ann, "ann", "1"), (bob, "bob", "3")):
        reader.begin(reviewing.server.addresses[name])
        assert reader.faults() == []
        for number in range(1, 5):
            reader.shows(f"Row {number} of 4")
            reader.page.wait_for_load_state("load")
            reader.page.keyboard.press(key)
            reader.kept()
            reader.page.locator("#reason").fill("123 np")
            reader.page.keyboard.press("Control+Enter")
            reader.page.get_by_text(f"Row {number} of 4").wait_for(state="detached")
        reader.shows("All your rows are answered")
        assert reader.faults() == [] and reader.wrong == []
    values = dict(History(reviewing.workspace / "stewardship" / "statements").latest("physician"))
    assert {event.status for event in values.values()} == {"to_adjudicate"}
    answer = [
        event.evidence.get("reason") for event in History(reviewing.workspace / "stewardship" / "statements").events
    ]
    assert answer.count("123 np") == 8
    steers = Watched(chromium)
    steers.page.goto(reviewing.server.addresses[""])
    steers.page.get_by_role("link", name="Review").click()
    steers.shows("below 10 nothing is said")
    assert steers.faults() == []
    command = ["steward", "sheets", "--adjudicate", "--rater", "cleo", "--workspace", str(reviewing.workspace)]
    subprocess.run([sys.executable, "-c", START, *command], check=True, stdout=subprocess.DEVNULL)
    deciding = served(reviewing.workspace, "--review", "adjudicate-1")
    try:
        cleo = Watched(chromium)
        cleo.begin(deciding.addresses["cleo"])
        assert sorted(cleo.page.locator(".opinions b").all_inner_texts()) in (
            ["reader 1: Q1", "reader 2: Q3"],
            ["reader 1: Q3", "reader 2: Q1"],
        )
        assert "ann" not in re.findall(r"\w+", cleo.page.inner_text("body"))
        cleo.page.get_by_text("the guideline is silent").click()
        cleo.kept()
        cleo.page.reload()
        assert cleo.page.locator("input:checked").get_attribute("value") == "the guideline is silent"
        assert cleo.faults() == [] and cleo.wrong == []
    finally:
        deciding.process.kill()
        deciding.process.wait()


def test_reload_back_two_tabs_and_a_killed_server_lose_nothing(chromium: Any, reviewing: Reviewing) -> None:
    ann = Watched(chromium)
    ann.begin(reviewing.server.addresses["ann"])
    ann.page.keyboard.press("2")
    ann.kept()
    ann.page.reload()
    assert ann.page.locator("input:checked").get_attribute("value") == "Q2"
    tab = ann.context.new_page()
    tab.goto(ann.page.url)
    ann.page.keyboard.press("3")
    ann.kept()
    tab.keyboard.press("4")
    tab.locator("#failed:visible").wait_for()
    assert "answered elsewhere" in tab.inner_text("#failed")
    assert [value for _, value in reviewing.said()] == ["Q2", "Q3"]
    ann.page.keyboard.press("n")
    ann.shows("Row 2 of 4")
    ann.page.go_back(wait_until="load")
    ann.shows("Row 1 of 4")
    assert ann.page.locator("input:checked").get_attribute("value") == "Q3"
    # Keys are letters in a text field.
    ann.page.locator("#comment").click()
    ann.page.keyboard.type("n p 1 2")
    assert ann.page.locator("input:checked").get_attribute("value") == "Q3"
    reviewing.server.process.kill()
    reviewing.server.process.wait()
    ann.page.locator("#reason").click()
    ann.page.locator("#failed:visible").wait_for()
    assert "NOT KEPT" in ann.page.inner_text("#failed")
    assert ann.page.locator("#failed").bounding_box()["y"] < 200
    assert ann.page.input_value("#comment") == "n p 1 2"
    assert [value for _, value in reviewing.said()] == ["Q2", "Q3"]
    again = served(reviewing.workspace, "--review", "sample-1")
    try:
        later = Watched(chromium)
        later.page.goto(again.addresses["ann"])
        later.shows("1 of 4 answered")
    finally:
        again.process.kill()
        again.process.wait()


def test_a_stolen_address_a_foreign_page_and_another_name_get_nothing(chromium: Any, look: Server) -> None:
    owner, thief = Watched(chromium), Watched(chromium)
    owner.page.goto(look.addresses[""])
    owner.page.goto(f"{look.root}/notes")
    owner.page.locator("td a").first.click()
    stolen = owner.page.url
    assert thief.page.goto(stolen).status == 403 and "<h1>" not in thief.page.content()
    foreign = f"<form id=f method=post action='{look.root}/sql'><input name=sql value='select 1'></form>"
    owner.page.route("http://foreign.test/", lambda route: route.fulfill(body=foreign, content_type="text/html"))
    owner.page.goto("http://foreign.test/")
    with owner.page.expect_navigation(url=f"{look.root}/sql") as answer:
        owner.page.evaluate("document.getElementById('f').submit()")
    assert answer.value.status == 403
    owner.page.goto("http://foreign.test/")
    assert owner.page.evaluate(f"fetch('{look.root}/notes').then(() => 'read', () => 'kept')") == "kept"
    # This machine under another name, as a name server can be made to say.
    rebound = f"http://rebound.test:{look.root.rpartition(':')[2]}"
    for path in ("/notes", look.addresses[""].removeprefix(look.root)):
        assert thief.page.goto(rebound + path).status == 421
