"""SumPubMed: articles of BMC journals with their abstracts (Gupta et al. 2021).

Layout: ``text/text_N.txt`` is the article, ``abstract/abstract_N.txt`` its abstract; a folder ``shorter_abstract`` is
not read. Its README calls the abstract the long summary and the other one the final short summary. But the short one is
a choice of the abstract's sentences in another order, with keywords and notices among them: its "however" and "these"
refer to nothing, and not every sentence holds by itself. The summary here is the abstract, without headings and without
what follows its conclusion. All 33,772 articles of the release are in one folder, without the paper's splits, so every
item counts as ``train``.

The source is lower-cased, most numbers and all citations are ``<dig>`` and ``<cit>``, and brackets are gone with what
they held; only the blanks that these leave before a comma or a full stop are taken away.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from builders.medhal.items import SummaryItem
from builders.texts.origin import Origin, Tally
from builders.texts.sources import TextSource
from ground import ROOT
from ground.errors import InputError
from ground.storage.tables import grouped, read_table

__all__ = ["files", "read", "summary_of"]

TEXT, ABSTRACT = "text", "abstract"
NAME = re.compile(r"(text|abstract)_(\d+)\.txt")
COLUMNS = ("kind", "line", "source")
# Each begins with what is rare in a text: it is looked for at every place.
GAPS = ((re.compile(r"  +"), " "), (re.compile(r" (?=[,;.](?:[ \n]|$))(?<=\S )"), ""))


def files(folder: Path) -> list[Path]:
    """Return the articles and abstracts below a folder, by the numbers of their articles."""
    paths = [path for part in (TEXT, ABSTRACT) for path in (folder / part).glob("*.txt") if NAME.fullmatch(path.name)]
    return sorted(paths, key=lambda path: (_number(path), path.name))


def read(folder: Path, source: TextSource, tally: Tally) -> Iterator[SummaryItem]:
    """Yield articles with their abstracts, by number, one at a time.

    Raises:
        InputError: a folder is missing or empty, or a file is no UTF-8.
    """
    numbers = {part: _numbers(folder, part) for part in (TEXT, ABSTRACT)}
    for number in sorted(set(numbers[TEXT]) | set(numbers[ABSTRACT])):
        tally.read[source.source] += 1
        if number not in numbers[TEXT] or number not in numbers[ABSTRACT]:
            tally.drop(source.source, "no_summary" if number in numbers[TEXT] else "no_text")
            continue
        text, abstract = (_content(folder / part / f"{part}_{number}.txt") for part in (TEXT, ABSTRACT))
        summary = summary_of(abstract)
        if not text.strip() or not summary:
            tally.drop(source.source, "no_summary" if text.strip() else "no_text")
            continue
        origin = Origin(source=source.source, inner_id=str(number), document=str(number), split="train")
        yield SummaryItem(origin, text.strip(), summary)


def summary_of(abstract: str) -> str:
    """Return an abstract's running text: no headings, no keywords, no notices.

    >>> summary_of("BACKGROUND\\nstatins lower cholesterol.\\n\\n\\nRESULTS\\nthey did.\\n\\nkeywords\\nstatins\\n")
    'statins lower cholesterol. they did.'
    """
    kept = []
    lines = _lines()
    for line in (line.strip() for line in abstract.splitlines()):
        if line.lower() in lines["tail"]:
            break
        if line and line.lower() not in lines["heading"] and not any(mark in line.lower() for mark in lines["mark"]):
            kept.append(line)
    # Keywords without a heading are run together in a last line, which is no sentence.
    while kept and not kept[-1].endswith((".", "?", "!", ")")):
        kept.pop()
    return " ".join(kept)


def _numbers(folder: Path, part: str) -> frozenset[int]:
    numbers = frozenset(_number(path) for path in (folder / part).glob("*.txt") if NAME.fullmatch(path.name))
    if not numbers:
        raise InputError(
            "no SumPubMed release",
            file=folder,
            found=f"no file {part}/{part}_N.txt",
            expected="text/text_N.txt and abstract/abstract_N.txt",
            do="name the folder that holds both folders of the release",
        )
    return numbers


def _number(path: Path) -> int:
    match = NAME.fullmatch(path.name)
    return int(match.group(2)) if match else -1


def _content(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError("a text is not UTF-8", file=path, expected="UTF-8", do="convert the file to UTF-8") from None
    for gap, left in GAPS:
        text = gap.sub(left, text)
    return text


@cache
def _lines() -> dict[str, frozenset[str]]:
    rows = read_table(ROOT / "builders" / "data" / "sumpubmed_lines.tsv", COLUMNS)
    return {kind: frozenset(lines) for kind, lines in grouped(rows, "kind", "line").items()}
