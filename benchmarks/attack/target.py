"""What is attacked: a small open world, a finished workspace of it, and the program as users call it."""

from __future__ import annotations

import csv
import gzip
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ground.storage.files import private_directory
from openworld import World, render

__all__ = ["LONGEST", "SECRET", "Outcome", "Target", "Tries", "Try", "open_to_others", "target_in"]

Try = Callable[[], "str | None"]
Tries = Iterator[tuple[str, Try]]
# Planted in what is read: it must stand in nothing that is said.
SECRET = "zebra-4711"
PATIENTS = 4
# No measure of speed: what takes longer hangs, also on a machine with much else to do.
LONGEST = 900.0
# What is tried is the way, not how well the balance comes out.
SETTINGS = "[build]\nbalance_trials = 1\nbalance_rounds = 1\n"
FORESEEN = (0, 1, 2, 3, 4)


@dataclass(frozen=True)
class Outcome:
    """How one call of the program ended; ``code`` is negative where a signal ended it."""

    code: int
    out: str
    messages: str


@dataclass(frozen=True)
class Target:
    """The world and the finished workspace; ``share`` of all tries are made."""

    folder: Path
    share: float
    seed: int = 7

    @property
    def world(self) -> World:
        """The open world."""
        return World(self.folder / "world")

    @property
    def work(self) -> Path:
        """The finished workspace."""
        return self.folder / "work"

    def sources(self) -> list[str]:
        """Return the options of ``run`` that name the world."""
        return [
            *("--mimic", str(self.world.mimic)),
            *("--umls", str(self.world.meta)),
            *("--rxnorm", str(self.world.rxnorm)),
        ]

    def some(self, number: int) -> int:
        """Return how many of a number of random tries are made."""
        return max(1, round(number * self.share))

    def scratch(self, name: str) -> Path:
        """Return an empty folder of a try."""
        folder = self.folder / "tries" / name
        shutil.rmtree(folder, ignore_errors=True)
        return private_directory(folder)

    def copy(self, name: str) -> Path:
        """Return a copy of the finished workspace."""
        return Path(shutil.copytree(self.work, self.scratch(name) / "work"))

    @cached_property
    def identifiers(self) -> tuple[str, ...]:
        """Identifiers of the world's patients and admissions: no message shows one."""
        with gzip.open(self.world.mimic / "hosp" / "admissions.csv.gz", "rt", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        return tuple(sorted({row[name] for row in rows for name in ("subject_id", "hadm_id")}))

    def call(self, *arguments: str, folder: Path | None = None, before: Sequence[str] = ()) -> Outcome:
        """Call the program, as users do."""
        command = [*before, sys.executable, "-m", "ontoground", *arguments]
        try:
            done = subprocess.run(
                command, cwd=folder or self.folder, capture_output=True, check=False, timeout=LONGEST, env=environment()
            )
        except subprocess.TimeoutExpired:
            return Outcome(-1, "", f"still running after {LONGEST:g} s")
        return Outcome(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))

    def bad_manners(self, outcome: Outcome) -> str | None:
        """Return what an answer to bad input has that it must not have, whatever it was asked."""
        printed = outcome.out + outcome.messages
        if outcome.code not in FORESEEN:
            return f"exit code {outcome.code}: {last_line(outcome.messages)}"
        if "Traceback" in printed:
            return "a traceback"
        if SECRET in printed or any(name in outcome.messages for name in self.identifiers):
            return "a value of a patient in what was said"
        if outcome.code and not outcome.messages.strip() and '"error"' not in outcome.out:
            return f"exit code {outcome.code} without a word"
        return None


def environment() -> dict[str, str]:
    """Return the environment of a call: modules of this checkout, nothing of the network's."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ONTOGROUND_")}
    root = str(Path(__file__).resolve().parents[2])
    return kept | {"PYTHONPATH": root, "OMP_NUM_THREADS": "1"}


def last_line(text: str) -> str:
    """Return the last line of a text, cut."""
    return (text.strip().splitlines() or ["nothing said"])[-1][:200]


def open_to_others(folder: Path) -> list[str]:
    """Return the files and folders below a folder that others than their owner may read or enter."""
    paths = [path for path in (folder, *folder.rglob("*")) if not path.is_symlink()]
    return sorted(str(path.relative_to(folder)) for path in paths if path.exists() and path.stat().st_mode & 0o077)


def target_in(folder: Path, share: float) -> Target:
    """Render the world and run the flow on it, unless that was done before."""
    target = Target(folder, share)
    finished = folder / "finished"
    if not finished.exists():
        for left in (target.world.folder, target.work):
            shutil.rmtree(left, ignore_errors=True)
        render(target.world.folder, PATIENTS, target.seed)
        private_directory(target.work).joinpath("ontoground.toml").write_text(SETTINGS)
        done = target.call("run", *target.sources(), "--workspace", str(target.work))
        if done.code:
            raise RuntimeError(f"the flow does not even run undisturbed: {last_line(done.messages)}")
        finished.write_text("")
    return target
