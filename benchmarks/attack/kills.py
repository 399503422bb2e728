"""Verbs are killed at random moments; called again until they end, they give what an undisturbed run gives."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from time import monotonic

from benchmarks.attack.target import LONGEST, SETTINGS, Target, Tries, environment, last_line, open_to_others
from ground.storage.warehouse import open_database

__all__ = ["digest", "tables", "tries"]

SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


@dataclass(frozen=True)
class Victim:
    """A verb that is killed, how many times in all and before it is left alone, and whether in an empty workspace."""

    name: str
    arguments: tuple[str, ...]
    kills: int
    in_a_row: int
    fresh: bool


def victims(target: Target) -> list[Victim]:
    """Return what is killed: loads and the whole flow in an empty workspace, the others in a finished one."""
    mimic, meta = str(target.world.mimic), str(target.world.meta)
    return [
        Victim("load mimic", ("load", "mimic", mimic), 50, 5, True),
        Victim("load umls", ("load", "umls", meta), 50, 5, True),
        Victim("run", ("run", *target.sources()), 60, 6, True),
        Victim(
            "sql --output",
            ("sql", "-c", "from mimiciv_note.discharge order by all", "--format", "csv", "-o"),
            20,
            5,
            False,
        ),
        Victim("graph export", ("graph", "export", "--format", "kgx", "-o"), 20, 5, False),
    ]


def tries(target: Target) -> Tries:
    """Yield a try for each row of kills of each verb."""
    for victim in victims(target):
        lasts = cache(partial(_lasts, target, victim))
        rounds = max(1, round(target.some(victim.kills) / victim.in_a_row))
        kills = min(victim.in_a_row, target.some(victim.kills))
        for number in range(rounds):
            yield f"{victim.name} {number}, {kills} kills", partial(_killed, target, victim, number, kills, lasts)


def _lasts(target: Target, victim: Victim) -> float:
    """Return how many seconds a verb takes here and now, undisturbed: kills fall anywhere within."""
    command, work, _ = _prepared(target, victim, "undisturbed")
    begun = monotonic()
    _kill(command, work.parent, LONGEST, signal.SIGKILL)
    return monotonic() - begun


def _prepared(target: Target, victim: Victim, number: object) -> tuple[list[str], Path, Path]:
    """Return the command of a verb, with a workspace of its own, and the file that it makes where it makes one."""
    name = f"kill-{victim.name.replace(' ', '-')}-{number}"
    work = target.scratch(name) / "work" if victim.fresh else target.copy(name)
    if victim.fresh:
        work.mkdir(mode=0o755)
        (work / "ontoground.toml").write_text(SETTINGS)
    made = work.parent / "made"
    more = [] if victim.fresh else [str(made)]
    return [sys.executable, "-m", "ontoground", *victim.arguments, *more, "--workspace", str(work)], work, made


def _killed(target: Target, victim: Victim, number: int, kills: int, lasts: Callable[[], float]) -> str | None:
    dice = random.Random(f"{victim.name} {number}")
    command, work, made = _prepared(target, victim, number)
    for _ in range(kills):
        _kill(command, work.parent, dice.random() * lasts(), dice.choice(SIGNALS))
        if narrowed := [one for one in open_to_others(work) if one not in (".", "ontoground.toml")]:
            return f"others may read {narrowed[0]} after a kill"
    for _ in range(2):
        done = target.call(*command[3:])
        if done.code:
            return f"does not end after kills: exit code {done.code}, {last_line(done.messages)}"
    return _difference(target, victim, work, made) or _left(work)


def _kill(command: Sequence[str], folder: Path, seconds: float, end: signal.Signals) -> None:
    """Start a verb and end it after so many seconds, unless it ends before; its workers end by themselves."""
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment(), umask=0o022
    ) as process:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.kill(process.pid, end)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()


def _difference(target: Target, victim: Victim, work: Path, made: Path) -> str | None:
    if not victim.fresh:
        undisturbed = target.folder / f"made-{victim.name.replace(' ', '-')}"
        if not undisturbed.exists():
            target.call(*victim.arguments, str(undisturbed), "--workspace", str(target.work))
        return None if digest(made) == digest(undisturbed) else "the file is another one"
    expected, found = tables(target.work), tables(work)
    if different := [name for name, rows in found.items() if rows != expected[name]]:
        return f"{different[0]} has other rows"
    if victim.name == "run":
        if missing := expected.keys() - found.keys():
            return f"{min(missing)} is missing"
        for name in ("datasets/medieval/data", "datasets/medieval/statements.parquet", "graph"):
            if digest(work / name, leave="manifest.json") != digest(target.work / name, leave="manifest.json"):
                return f"{name} is another one"
    return None


def digest(path: Path, leave: str = "") -> str:
    """Return a digest of a file, or of all files below a folder with their names, without those of one name."""
    digest = hashlib.sha256()
    for file in [path] if path.is_file() else sorted(path.rglob("*")):
        if file.is_file() and file.name != leave:
            digest.update(file.relative_to(path).as_posix().encode() + file.read_bytes())
    return digest.hexdigest()


def tables(work: Path) -> dict[str, tuple[int, int]]:
    """Return number and digest of the rows of every table of the sources and of what was read of them."""
    with open_database(work / "warehouse.duckdb", read_only=True) as connection:
        names = connection.execute(
            "select table_schema || '.' || table_name from information_schema.tables "
            "where table_schema in ('mimiciv_hosp', 'mimiciv_note', 'umls', 'rxnorm', 'kg') "
            "or table_name in ('section', 'mention', 'code_map', 'admission_concept')"
        ).fetchall()
        return {
            name: connection.execute(
                f"select count(*), coalesce(bit_xor(hash(t::varchar)), 0) from {name} as t"
            ).fetchall()[0]
            for (name,) in sorted(names)
        }


def _left(work: Path) -> str | None:
    left = [path.name for path in work.rglob("*") if path.name.endswith((".part", ".old"))]
    left += [path.name for path in (work / "cache" / "scratch").glob("*")]
    return f"left behind: {left[0]}" if left else None
