"""Roads that check one another share no rules, SQL or word tables; what they share to this day is listed here.

What a road reaches is read off the code: its modules are followed by their imports, and a string of theirs that names a
SQL file or begins the names of several, or names a table in a room's ``data``, counts as reached.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from functools import cache

import pytest

from ground import ROOT
from ground.storage.sqlfiles import sql_root, sql_text

ROOMS = ("builders", "ehr", "kg", "stewardship")
"""Rooms whose code makes or checks labels. ``ground`` is common ground: storage, settings, contracts, hashing."""
SQL = {path.relative_to(sql_root()).with_suffix("").as_posix() for path in sql_root().rglob("*.sql")}
TABLES = {path.relative_to(ROOT).as_posix() for room in ROOMS for path in (ROOT / room / "data").glob("*.tsv")}

RELEASE = {"kg.concept", "kg.edge", "kg.name", "kg.pattern", "kg.predicate", "umls.mrconso", "umls.mrrel"}
# What kg.edge is a view of
NUMBERS = {"kg.edge_code", "kg.evidence_kind", "kg.node", "kg.predicate_code"}
RECORDS = {
    "ehr.discharge_note",
    "ehr.radiology_note",
    "ehr.code_title",
    "ehr.diagnosis",
    "ehr.drug",
    "ehr.procedure",
}
READ = {"ground.mention", "ground.unclear_mention", "ground.admission_concept"}
"""What notes and codes were read as: input of the builder of quadrants and of its judges, so not checked by these."""
SECTIONS = {"ground.section"}
"""They only name the section in which a span lies, for the reviewer."""


@dataclass(frozen=True)
class Roads:
    """Two roads to the same labels.

    Attributes:
        first, second: modules and packages where the roads begin; the second derives what the first made.
        inputs: tables of the warehouse that the second road's SQL may read.
        shared: what is known to be shared, by the beginnings of names, with the reason.
        cut: imports of the second road that are known and not followed, with the reason.
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    inputs: set[str]
    shared: dict[str, str] = field(default_factory=dict)
    cut: dict[tuple[str, str], str] = field(default_factory=dict)


PASSED_ON = "what one passes to the other: records without rules"
GRAPH = "one graph and its walk: the first asks for all facts at once, the second for one pair both ways"
RULES = "builders.medval.rules"
BUILDERS = (
    *("builders.concepts", "builders.medieval", "builders.medhal.facts", "builders.medhal.transform"),
    *("builders.medhal.rules", "builders.medval.rules", "builders.medval.judge", "builders.texts", "ehr"),
)

ROADS = {
    "quadrants, validated": Roads(
        ("builders.medieval", "builders.concepts", "ehr"),
        ("stewardship.second_road",),
        RELEASE | NUMBERS | RECORDS | READ | SECTIONS,
    ),
    "facts, judged": Roads(
        ("builders.medhal.facts", "builders.medhal.transform.facts"),
        ("builders.medhal.judge_graph",),
        RELEASE | NUMBERS | RECORDS | READ,
        shared={
            "builders.medhal.items": PASSED_ON,
            "builders.texts.origin": PASSED_ON,
            "builders.shards": "names of splits, by way of builders.texts.origin",
        },
    ),
    "edits, judged": Roads(
        (f"{RULES}.generator",),
        ("builders.medval.judge",),
        RELEASE,
        shared={
            "builders.medval.items": PASSED_ON,
            "builders.texts.origin": PASSED_ON,
            "builders.shards": "names of splits, by way of builders.texts.origin",
            "builders.medval.reading": "reads the texts for both: mentions, numbers, doses, kin in the graph",
            "builders.medval.quantities": "reads the texts for both: numbers, doses, sides",
            "builders.medval.word_frequencies": "tells everyday words for both",
            "ehr.": "ehr reads the texts for both",
            "ehr/": "ehr reads the texts for both",
            "sql/ehr/": "ehr reads the texts for both",
            "macro small_words": "ehr reads the texts for both",
            "macro word_bag": "ehr reads the texts for both",
            "kg.": GRAPH,
            "kg/": GRAPH,
        },
    ),
    # What notes were read as is no input here. MedHal's judge of facts is no builder: it runs the SQL of this road.
    "labels, recomputed": Roads(BUILDERS, ("stewardship.datasets",), RELEASE | NUMBERS | RECORDS | SECTIONS),
}


@cache
def sources() -> dict[str, ast.Module]:
    """Return the modules of the rooms by name."""
    paths = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in paths]
    return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in zip(names, paths, strict=True)}


def imports(module: str) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(sources()[module]):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    # A package without code of its own is no rule.
    return {name for name in found & sources().keys() if len(sources()[name].body) > 1}


def strings(module: str) -> set[str]:
    """Return the strings of a module, those of its documentation left out."""
    tree = sources()[module]
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    constants = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in said]
    return {node.value for node in constants if isinstance(node.value, str)}


def sql_files(text: str) -> set[str]:
    return {text} if text in SQL else {name for name in SQL if "/" in text and name.startswith(text)}


def reached(starts: tuple[str, ...], cut: dict[tuple[str, str], str]) -> set[str]:
    """Return the modules, SQL files (``sql/...``), macros (``macro ...``) and tables of words that a road reaches."""
    ahead = {name for name in sources() if any(f"{name}.".startswith(f"{start}.") for start in starts)}
    modules: set[str] = set()
    while ahead:
        modules |= ahead
        ahead = {name for one in ahead for name in imports(one) if (one, name) not in cut} - modules
    said = {text for module in modules for text in strings(module)}
    files = {name for text in said for name in sql_files(text)}
    macros = {f"macro {name}" for file in files for name in re.findall(r"\bmacro (\w+)\(", sql_text(file))}
    rooms = {module.split(".")[0] for module in modules}
    names = {name for text in said for name in (text, f"{text}.tsv", f"{text}s.tsv")}
    tables = {table for table in TABLES if table.split("/")[0] in rooms and table.split("/")[-1] in names}
    return modules | {f"sql/{name}" for name in files} | macros | tables


@pytest.mark.parametrize("roads", ROADS.values(), ids=ROADS)
def test_two_roads_share_nothing_but_what_is_listed(roads: Roads) -> None:
    shared = reached(roads.first, {}) & reached(roads.second, roads.cut)
    assert sorted(name for name in shared if not name.startswith(tuple(roads.shared))) == []
    assert [known for known in roads.shared if not any(name.startswith(known) for name in shared)] == []
    assert [edge for edge in roads.cut if edge[1] not in imports(edge[0])] == []


@pytest.mark.parametrize("roads", ROADS.values(), ids=ROADS)
def test_the_second_road_starts_from_the_release_and_the_records(roads: Roads) -> None:
    own = {name.removeprefix("sql/") for name in reached(roads.second, roads.cut) if name.startswith("sql/")}
    own = {name for name in own if not f"sql/{name}".startswith(tuple(roads.shared))}
    texts = [re.sub(r"--.*", "", sql_text(name)) for name in own]
    schemas = r"(?:ground|kg|umls|rxnorm|ehr)\.\w+"
    read = {table for text in texts for table in re.findall(rf"\b(?:from|join) ({schemas})", text)}
    assert sorted(read - roads.inputs) == []
    assert all("-- Second road: shares no rules and no word tables with " in sql_text(name) for name in own)


@pytest.mark.parametrize("roads", ROADS.values(), ids=ROADS)
def test_the_second_road_says_so_at_its_head(roads: Roads) -> None:
    heads = [ast.get_docstring(sources()[start]) or "" for start in roads.second]
    assert all("Second road: shares no rules and no word tables with" in " ".join(head.split()) for head in heads)


def test_the_roads_are_seen() -> None:
    """A road of which nothing is found would share nothing."""
    second = reached(("stewardship.second_road", "builders.medhal.judge_graph", "stewardship.datasets"), {})
    checking = {name for name in SQL if name.startswith("stewardship/")}
    assert {f"sql/{name}" for name in checking} <= second
    assert {"stewardship/data/assertion_cues.tsv", "macro singular", "sql/builders/medhal/record_fact_end"} <= second
    first = reached(("builders", "ehr"), {})
    making = {name for name in SQL if name.startswith(("builders/concepts/", "builders/medieval/", "ehr/"))}
    assert {f"sql/{name}" for name in making} <= first
    words = {table for table in TABLES if table.startswith(("builders/data/edit_", "builders/data/known_use"))}
    assert words | {"builders/data/disputed_facts.tsv", "ehr/data/sections.tsv"} <= first
