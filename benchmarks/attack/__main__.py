"""Try to break what is promised, and say what held: ``make attack [SIZE=0.1] [FOLDER=...] [SAVE=1]``.

What was tried is kept at once, in a folder of the commit that is attacked: with ``--folder`` an attack that was stopped
goes on where it ended, and another commit is attacked from the beginning. The exit code is 1 where anything did not
hold; ``--save`` writes the table of docs/trust.md.
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from benchmarks.attack import inputs, kills, reach
from benchmarks.attack.target import Target, Tries, target_in
from benchmarks.command import parser, run
from ground import ROOT
from ground.errors import UsageError
from ground.markdown import markdown_table
from ground.storage.files import private_directory, write_text
from ontoground.cli.render import note

__all__ = ["PARTS", "attack", "main", "table"]

PARTS: dict[str, tuple[str, Callable[[Target], Tries]]] = {
    "kills": ("a killed verb, called again, gives the same bytes; nothing is lost, left or readable", kills.tries),
    "inputs": ("malformed input is refused in words, or counted, or changes nothing; no exit 70", inputs.tries),
    "modes": ("files are their owner's only, whatever the umask", reach.modes),
    "connections": ("no verb without an endpoint connects anywhere", reach.connections),
    "gates": ("credentialed text goes to this machine only, whatever is spelled or answered", reach.gates),
    "queries": ("`sql` reads the warehouse and nothing else", reach.queries),
}
PAGE = ROOT / "docs" / "trust.md"
BEGIN, END = "<!-- attack: made by `make attack SAVE=1` -->\n", "<!-- attack: end -->"
Done = dict[str, "str | None"]


def attack(target: Target, parts: Sequence[str]) -> Mapping[str, Done]:
    """Make the tries of some parts that were not made before; return by part and name what did not hold, or None."""
    return {part: _part(target, part) for part in parts}


def _part(target: Target, part: str) -> Done:
    kept = target.folder / f"{part}.jsonl"
    done: Done = dict(map(json.loads, kept.read_text().splitlines())) if kept.exists() else {}
    for name, attempt in PARTS[part][1](target):
        if name in done:
            continue
        done[name] = attempt()
        if done[name]:
            note(f"{part}: {name}: {done[name]}")
        with kept.open("a") as file:
            file.write(json.dumps([name, done[name]]) + "\n")
    note(f"{part}: {len(done)} tries, {sum(map(bool, done.values()))} did not hold")
    return done


@cache
def commit() -> str:
    """Return the commit that is attacked, with ``-dirty`` where its files were changed."""
    asked = ("git", "-C", str(ROOT), "describe", "--always", "--dirty", "--exclude=*")
    return subprocess.run(asked, capture_output=True, check=True, text=True).stdout.strip()


def table(found: Mapping[str, Done], share: float) -> str:
    """Return the table of an attack on this commit."""
    rows = [(part, PARTS[part][0], _number(part, done), sum(map(bool, done.values()))) for part, done in found.items()]
    day = datetime.now(UTC).date()
    title = f"The last attack, {day}, on commit {commit()}, of size {share:g} ({_watched()}):\n\n"
    return title + markdown_table(("part", "what is tried", "tries", "did not hold"), rows, left=2)


def _number(part: str, done: Done) -> str:
    killed = sum(int(number) for name in done for number in re.findall(r", (\d+) kills$", name))
    return f"{len(done)}, of up to {killed} kills" if part == "kills" else str(len(done))


def _watched() -> str:
    return f"connections by {reach.watching()[0]}" if reach.watching() else "connections could not be watched here"


def save(text: str) -> None:
    """Put a table into docs/trust.md."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    write_text(PAGE, f"{before}{BEGIN}\n{text}\n{END}{rest.partition(END)[2]}")


def main(values: list[str]) -> int:
    """Run the program."""
    arguments = parser("attack", __doc__ or "", "python -m benchmarks.attack --size 0.1 --parts inputs gates")
    arguments.add_argument("--size", type=float, default=1.0, help="share of the kills and inputs that are tried")
    arguments.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    arguments.add_argument("--folder", type=Path, help="where it works; one that was stopped goes on there")
    arguments.add_argument("--save", action="store_true", help="write the table of docs/trust.md")
    options = arguments.parse_args(values)
    if not 0 < options.size <= 1:
        raise UsageError("--size is a share", found=str(options.size), expected="more than 0, at most 1")
    with tempfile.TemporaryDirectory() as temporary:
        folder = private_directory((options.folder or Path(temporary)).resolve())
        target = target_in(private_directory(folder / commit()), options.size)
        found = attack(target, options.parts)
    if options.save:
        save(table(found, options.size))
    return 1 if any(any(done.values()) for done in found.values()) else 0


if __name__ == "__main__":
    run(main)
