"""The pages name what exists: links, files, verbs with their options, settings, modules, tables and columns."""

from __future__ import annotations

import ast
import doctest
import re
import shlex
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from itertools import chain, product
from pathlib import PurePosixPath
from typing import Any

import pytest

from ground import ROOT
from ontoground.cli.runs import run_settings
from training.runs.settings import (
    ClassifierSettings,
    CorfuSettings,
    EncoderSettings,
    GrpoSettings,
    MedhalSettings,
    MedvalSettings,
)

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
FOLDERS = (*PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"], "sql", "benchmarks", "docs", "tests")
PAGES = {
    path.relative_to(ROOT).as_posix(): path
    for path in (ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md")), *sorted(ROOT.glob("*/README.md")))
    if path.parent == ROOT or path.relative_to(ROOT).parts[0] in FOLDERS
}
OURS = {".py", ".sql", ".tsv"}
"""Files of these kinds are in the repository; others may be written or read by a program that names them."""
TEXTS = OURS | {".csv", ".json", ".jsonl", ".txt"}
KINDS = TEXTS | {".toml", ".md", ".parquet", ".xlsx", ".duckdb"}

# The user's own files and folders in examples.
INVENTED = {"y_new_and_sampled_MD_evals.xlsx", "round1.xlsx", "round1.csv", "round1.key.csv", "mimiciv-2"}

SETTINGS_OF: dict[str, tuple[Any, ...]] = {
    "classifier": (ClassifierSettings, EncoderSettings),
    "corfu": (CorfuSettings,),
    "medhal": (MedhalSettings,),
    "medval": (MedvalSettings,),
    "grpo": (GrpoSettings,),
}
"""What the verbs of ``train`` are set by; a model decides which, where there are several."""
OF_OTHER_PROGRAMS = {"--hub", "--head", "--multi_gpu"}
"""Options that stand before the verb, or that messages name of ray and accelerate."""

COMMAND = re.compile(r"(?:^|\s)ontoground (?=\S)((?:[^\n\\|>]|\\\n)*)", re.MULTILINE)
OPTION = re.compile(r"(?<![\w-])--?[a-z][\w-]*")
CITED = re.compile(rf"(?<![\w/.{{}}*-])((?:{'|'.join(FOLDERS)})/[\w/.-]+\.(?:py|sql|tsv|md))((?:#[\w-]+)?)")

each_page = pytest.mark.parametrize("page", PAGES)


def blocks_of(text: str) -> list[tuple[str, str]]:
    """Return (language, text) of the code blocks, fenced or indented."""
    fenced = re.findall(r"(?ms)^ *```(\w*)\n(.*?)^ *```", text)
    return fenced + [("", found) for found in re.findall(r"(?m)(?<=\n\n)((?:^ {4}.*\n|^\n)+)", text)]


def quoted_in(text: str) -> list[str]:
    """Return what stands between backticks outside of code blocks."""
    return [" ".join(one.split()) for one in re.findall(r"`([^`]+)`", re.sub(r"(?ms)^ *```.*?^ *```", "", text))]


@cache
def sources() -> dict[str, str]:
    """Return every text of the repository that is no page, by its path."""
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in TEXTS]
    files += [ROOT / "Makefile", ROOT / "pyproject.toml", *ROOT.glob("*.py")]
    return {path.relative_to(ROOT).as_posix(): path.read_text() for path in files if path.name != "test_docs.py"}


@cache
def words() -> frozenset[str]:
    """Return the words of the sources and of their paths, names with dots whole and in parts; of tests their names."""
    text = "\n".join(chain.from_iterable(one for one in sources().items() if not one[0].startswith("tests/")))
    tests = re.findall(r"def (test_\w+)", "\n".join(sources().values()))
    return frozenset(chain(tests, re.findall(r"\w+", text), re.findall(r"[\w-]+(?:[.-][\w-]+)+", text)))


@cache
def paths() -> frozenset[str]:
    """Return the files and folders of the repository, with every end of their paths."""
    files = [PurePosixPath(name) for name in (*sources(), *PAGES)]
    whole = {path.parts for file in files for path in (file, *file.parents)}
    return frozenset("/".join(parts[n:]) for parts in whole for n in range(len(parts)))


@cache
def verbs() -> dict[str, frozenset[str]]:
    """Return each verb's options, as ``docs/cli.md`` takes them from the code."""
    parts = PAGES["docs/cli.md"].read_text().split("\n### ontoground ")[1:]
    return {part.partition("\n")[0]: frozenset(OPTION.findall(part)) for part in parts}


@cache
def settings() -> frozenset[str]:
    """Return the keys of all settings, with their section, as ``docs/settings.md`` takes them from the code."""
    keys: set[str] = set()
    for part in re.split(r"(?m)^#+ ", PAGES["docs/settings.md"].read_text()):
        named = re.findall(r"(?m)^\| `([\w.]+)` \|", part)
        section = re.search(r"\[(\w+)\]", part.partition("\n")[0])
        keys |= {f"{section[1]}.{key}" for key in named} if section else {*named}
    return frozenset(keys)


def anchors_of(page: str) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(r"(?m)^#+ (.+)$", PAGES[page].read_text())
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def leads_nowhere(path: str, anchor: str) -> bool:
    """Tell whether a file of the repository, or a heading of it, is not there."""
    return not (ROOT / path).exists() or (bool(anchor) and anchor.removeprefix("#") not in anchors_of(path))


@each_page
def test_links_lead_to_files_and_headings(page: str) -> None:
    place = PAGES[page]
    links = re.findall(r"\]\(([^):#\s]*)(#[\w-]+)?\)", place.read_text())
    targets = [((place.parent / (path or place.name)).resolve().relative_to(ROOT), anchor) for path, anchor in links]
    assert [target for target in targets if leads_nowhere(target[0].as_posix(), target[1])] == []


def test_references_in_code_and_sql_lead_to_files_and_headings() -> None:
    cited = [(name, *found) for name, text in sources().items() if name[:5] != "tests" for found in CITED.findall(text)]
    assert len(cited) > 100
    assert [one for one in cited if leads_nowhere(*one[1:])] == []


def expanded(path: str) -> Iterator[str]:
    """Yield the paths that ``{a,b}`` stands for."""
    parts = re.split("[{}]", path)
    return map("".join, product(*(part.split(",") if n % 2 else [part] for n, part in enumerate(parts))))


def is_known_file(path: str) -> bool:
    """Tell whether a path is one of the repository, or its last part is a name that a program uses."""
    # Words in capitals stand for any name, as stars do.
    pattern = re.sub(r"\b[A-Z]{2,}\b", "*", path.rstrip("/"))
    name = pattern.rpartition("/")[2]
    if path.rstrip("/") in paths() or name in INVENTED:
        return True
    if path.startswith(tuple(f"{folder}/" for folder in FOLDERS)) or PurePosixPath(name).suffix in OURS:
        return any(PurePosixPath(file).match(pattern) for file in paths())
    return name in words() or all(part in words() for part in re.findall(r"[a-z]\w*", name))


def is_path(text: str) -> bool:
    """Tell whether quoted text is a file or a folder."""
    return bool(re.fullmatch(r"[\w.{},*/-]+", text)) and ("/" in text or PurePosixPath(text).suffix in KINDS)


@each_page
def test_files_exist(page: str) -> None:
    named = [path for one in quoted_in(PAGES[page].read_text()) if is_path(one) for path in expanded(one)]
    assert [path for path in named if not is_known_file(path)] == []


def is_command(line: str) -> bool:
    """Tell whether what follows ``ontoground`` is a verb, or the beginning of several, with options that it has."""
    given = shlex.split(line.split(" #", maxsplit=1)[0].replace("\\\n", " "))
    given = given[given[0] == "--hub" :]  # stands before any verb
    before = " ".join(given[: next((n for n, word in enumerate(given) if word[0] == "-"), len(given))])
    found = [verb for verb in verbs() if f"{before} ".startswith(f"{verb} ") or f"{verb} ".startswith(f"{before} ")]
    options = frozenset[str]().union(*(verbs()[verb] for verb in found))
    keys = [word.partition("=")[0] for n, word in enumerate(given) if n and given[n - 1] == "--set"]
    if found == ["steward calculators"]:
        keys = []  # features of patients
    return bool(found) and {*OPTION.findall(" ".join(given))} <= options and settings().issuperset(keys)


@each_page
def test_commands_are_verbs_with_their_options(page: str) -> None:
    text = PAGES[page].read_text()
    shown = chain((block for language, block in blocks_of(text) if language != "toml"), quoted_in(text))
    if page != "docs/cli.md":
        assert [line for block in shown for line in COMMAND.findall(block) if not is_command(line)] == []


def test_examples_of_help_are_verbs_with_their_options_and_settings() -> None:
    page = PAGES["docs/cli.md"].read_text()
    shown = [line for block in re.findall(r"Example:\n(.*?)```", page, re.DOTALL) for line in COMMAND.findall(block)]
    assert len(shown) > len(verbs())
    assert [line for line in shown if not is_command(line)] == []


@pytest.mark.parametrize("verb", sorted(SETTINGS_OF), ids=lambda verb: f"train {verb}")
def test_settings_that_help_names_are_known_to_every_model_of_the_verb(verb: str) -> None:
    page = PAGES["docs/cli.md"].read_text()
    (said,) = re.findall(rf"### ontoground train {verb}\n(.*?)\n### ", page, re.DOTALL)
    named = re.findall(r"(?:--set |as\s+)'?([a-z_.]+=[^\s']+)", said)
    assert named
    for model, override in product(SETTINGS_OF[verb], named):
        assert run_settings(model, None, [override]) is not None


def messages() -> Iterator[tuple[str, str]]:
    """Yield (file, text) of what the rooms may say: every text in their code that is no docstring."""
    for name, text in sources().items():
        if name.endswith(".py") and not name.startswith(("tests/", "benchmarks/")):
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Call | ast.Return | ast.Assign | ast.JoinedStr):
                    values = [one.value for one in ast.walk(node) if isinstance(one, ast.Constant)]
                    yield from ((name, one) for one in values if isinstance(one, str))


def test_what_messages_advise_exists() -> None:
    said = {(name, text) for name, text in messages()}
    options = frozenset[str]().union(*verbs().values()) | OF_OTHER_PROGRAMS
    programs = {"openworld/__main__.py", "stewardship/tools/python.py"}  # with options of their own
    named = {(name, one) for name, text in said for one in re.findall(r"(?<![\w-])--[a-z][\w-]+", text)}
    assert len(named) > 100
    assert {(name, one) for name, one in named if one not in options and name not in programs} == set()
    keys = {(name, key) for name, text in said for key in re.findall(r"\b(?:set|raise|lower) (\w+\.\w+)", text)}
    assert len(keys) > 10
    assert {(name, key) for name, key in keys if key not in settings()} == set()
    quoted = {(name, line) for name, text in said for line in re.findall(r"`ontoground (\w[^`{]+)`", text)}
    assert {(name, line) for name, line in quoted if not is_command(line)} == set()


@each_page
def test_options_modules_and_targets_exist(page: str) -> None:
    text = PAGES[page].read_text()
    shown = "\n".join(chain((block for _, block in blocks_of(text)), quoted_in(text)))
    known = frozenset[str]().union(*verbs().values(), re.findall(r'"(--[\w-]+)"', "".join(sources().values())))
    options = {option for one in quoted_in(text) if one[:2] == "--" for option in OPTION.findall(one)}
    modules = re.findall(r"python -m ([\w.]+)", shown)
    targets = re.findall(r"(?m)^ *make ([a-z]{2,})\b", shown)
    assert options - known == set()
    assert [one for one in modules if not is_name(one)] == []
    assert [one for one in targets if f"\n{one}:" not in sources()["Makefile"]] == []


def flat(table: dict[str, Any], before: str = "") -> Iterator[str]:
    """Yield the keys of a TOML table, with those of the tables in it."""
    for key, value in table.items():
        yield from flat(value, f"{before}{key}.") if isinstance(value, dict) and value else [f"{before}{key}"]


@each_page
def test_settings_exist(page: str) -> None:
    text = PAGES[page].read_text()
    shown = chain.from_iterable(flat(tomllib.loads(block)) for language, block in blocks_of(text) if language == "toml")
    sections = {key.partition(".")[0] for key in settings() if "." in key}
    named = [
        one
        for one in re.findall(r"(?<=`)[a-z_]+\.[a-z_]+(?=[ `])", text)
        if one.split(".")[0] in sections and not is_path(one)
    ]
    assert [key for key in (*shown, *named) if key not in settings()] == []


def is_name(name: str) -> bool:
    """Tell whether a name is a setting, a word of the sources, a table or column, a module's, or another package's."""
    first, *rest = re.sub(r"\.[A-Z]+$", "", name).split(".")  # capitals stand for any name
    if name in settings() or (".".join((first, *rest[:1])) in words() and words().issuperset(rest)):
        return True
    for n in range(len(rest) + 1):
        stem = "/".join((first, *rest[: len(rest) - n]))
        for file in (f"{stem}.py", f"{stem}/__init__.py"):
            if file in sources():
                return all(re.search(rf"\b{part}\b", sources()[file]) for part in rest[len(rest) - n :])
    return first not in FOLDERS and bool(re.search(rf"\b{first}\b", sources()["pyproject.toml"]))


@each_page
def test_names_exist(page: str) -> None:
    text = PAGES[page].read_text()
    quoted = [one for one in quoted_in(text) if not is_path(one)]
    named = {name for one in quoted for name in re.findall(r"^[A-Za-z][\w.]*\w(?=\(|$)|\b[a-z]+_\w+\b", one)}
    named |= {name for _, block in blocks_of(text) for name in re.findall(r"\b(?:from|join) ([a-z_]+\.[a-z_]+)", block)}
    assert {name for name in named if not is_name(name)} == set()


EXAMPLES = [
    path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
    for package in PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    for path in sorted((ROOT / package).rglob("*.py"))
    # Those of the Python door need a workspace, and are run with one in its own tests.
    if ">>> " in path.read_text(encoding="utf-8") and path.name != "door.py"
]


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_in_docstrings_hold(name: str) -> None:
    result = doctest.testmod(import_module(name))
    assert result.attempted > 0
    assert result.failed == 0
