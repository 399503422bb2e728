"""An invented benchmark whose labels, features and derivations bear marks that no recomputation may see."""

from __future__ import annotations

import csv
from pathlib import Path

from ontoground.cli.main import invoke

__all__ = ["MARKS", "adopted", "votes_of"]

MARKS = ("424242", "SEENFEATURE", "SEENDERIVATION", "SEENLIMIT")
COLUMNS = ("uid", "label", "context", "question", "features", "derivation", "stratum", "lower")


def adopted(folder: Path, rows: int = 8, licence: str = "open") -> Path:
    """Write the table, take it up, and return the workspace."""
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / "invented.csv"
    with table.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for number in range(1, rows + 1):
            writer.writerow(
                [
                    f"u{number}",
                    f"424242.{number}",
                    f"Patient {number}: sodium 140, chloride {100 + number % 3}, bicarbonate 24 mEq/L.",
                    f"What is the anion gap in mEq/L? ({number})",
                    f"{{'SEENFEATURE{number}': [140, 'mEq/L']}}",
                    f"SEENDERIVATION {number}",
                    "Anion Gap" if number % 2 else "Delta Gap",
                    f"SEENLIMIT{number}",
                ]
            )
    workspace = folder / "work"
    named = [part for name in COLUMNS for part in ("--column", f"{name}={name}")]
    answer = ["--licence", "open", "--why", "invented"] if licence == "open" else []
    adopt = ["steward", "adopt", str(table), *named, *answer, "--workspace", str(workspace), "--json"]
    assert invoke(adopt) == 0
    return workspace


def votes_of(file: str | Path) -> dict[str, dict[str, str]]:
    """Return the table of votes by uid."""
    with Path(file).open(newline="") as lines:
        return {row["uid"]: row for row in csv.DictReader(lines)}
