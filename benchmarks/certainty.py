"""How right mentions are by their certainty, on notes with gold: precision against yield.

    python -m benchmarks.certainty WORKSPACE GOLD.jsonl[.gz] ...

The workspace holds the notes of the gold, read (`ontoground notes mentions`). A mention that is called present or
given, in a section of the context, is right if a gold mention that it overlaps is present, or a drug that was given and
ended in the stay; a home drug that was stopped counts as wrong where the gold tells it apart (docs/definitions.md).
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ground.settings import CONTEXT_SECTIONS
from ground.storage.warehouse import connect
from ontoground.cli.render import console, percent, table

__all__ = ["by_certainty", "gold_mentions"]

RIGHT = frozenset({"present", "discontinued"})
PRESENT = """
select note_id, begin_offset, end_offset, certainty from ground.mention
where assertion in ('present', 'given') and list_contains(?, section)
"""


def gold_mentions(files: Sequence[Path]) -> dict[str, list[dict[str, Any]]]:
    """Return the gold mentions of each note."""

    def lines(file: Path) -> Iterator[str]:
        with gzip.open(file, "rt", encoding="utf-8") if file.suffix == ".gz" else file.open(encoding="utf-8") as read:
            yield from read

    notes = (json.loads(line) for file in files for line in lines(file))
    return {note["note_id"]: note["mentions"] for note in notes}


def by_certainty(workspace: Path, gold: dict[str, list[dict[str, Any]]]) -> dict[str, tuple[int, int]]:
    """Return for each certainty how many mentions are called present, and how many of them are right."""
    counts: Counter[str] = Counter()
    right: defaultdict[str, int] = defaultdict(int)
    with connect(workspace / "warehouse.duckdb", read_only=True) as connection:
        rows = connection.execute(PRESENT, [list(CONTEXT_SECTIONS)]).fetchall()
    for note, begin, end, certainty in rows:
        if note in gold:
            said = {
                mention["assertion"]
                for mention in gold[note]
                if begin < mention["end"] and end > mention["start"] and mention.get("in_stay") is not False
            }
            counts[certainty] += 1
            right[certainty] += bool(said & RIGHT)
    return {name: (counts[name], right[name]) for name in ("certain", "corroborated", "unsure") if counts[name]}


def main() -> None:
    """Print the table, from the surest mentions down: what is kept, and how much of it is right."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.certainty", description=__doc__.split("\n")[0])
    options.add_argument("workspace", type=Path)
    options.add_argument("gold", type=Path, nargs="+")
    chosen = options.parse_args()
    counts = by_certainty(chosen.workspace, gold_mentions(chosen.gold))
    whole, kept, good = sum(n for n, _ in counts.values()), 0, 0
    rows = []
    for name, (n, right) in counts.items():
        kept, good = kept + n, good + right
        rows.append((name, n, percent(right / n), percent(kept / whole), percent(good / kept)))
    console().print(table(("certainty", "mentions", "right", "kept down to here", "right of these"), rows))


if __name__ == "__main__":
    main()
