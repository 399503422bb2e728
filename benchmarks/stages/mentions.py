"""Mentions with assertion: our reader beside PhraseMatcher + ConText and QuickUMLS, with the same names.

All get ``--names`` names of the workspace's lexicon, those that the notes could name among them, or all, filled up with
invented ones; and the same notes, each with the spans that readers (or the writer of an invented note) marked. Speed is
bytes of text a CPU second, after loading. Recall: marked spans that a found one overlaps; precision: found spans that
overlap a marked one. The other readers need an environment of their own: ``--environment`` names it, and it is made
where it is not there.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benchmarks.command import parser, run
from benchmarks.measures import Check, Measure, Result, at_least
from benchmarks.measuring import Done, Inputs, Watch, run_apart, save
from benchmarks.tables import print_result
from benchmarks.yardsticks.scoring import score
from benchmarks.yardsticks.task import AssertedSpan, Note, Reader, clocked, read_notes
from ground.errors import InputError, UsageError
from ground.storage.files import private_directory
from ground.storage.workspace import Workspace

__all__ = ["Options", "checks", "environment", "main", "measure", "measured", "ours", "prepare"]

ROOT = Path(__file__).resolve().parents[2]
REQUIREMENTS = ROOT / "benchmarks" / "yardsticks" / "requirements.txt"
ENVIRONMENT = ROOT / "work" / "yardsticks"
NAMES = 1_500_000
NOTES = 400
LEAST, MOST = 3.0, 60.0
TIMES_FASTER = 10.0
MEGABYTES_PER_SECOND = 2.0
# A yardstick that takes longer, or more memory, has no figures.
LIMIT_SECONDS = 3_600.0
LIMIT_BYTES = 10 * 2**30


@dataclass(frozen=True, slots=True)
class Yardstick:
    """Another reader: its title, and its module in ``benchmarks.yardsticks``."""

    title: str
    module: str


# Ours reads more than it judges: signs of an examination, titles of studies, words with several senses.
UNCLEAR = "unclear"
YARDSTICKS = (Yardstick("PhraseMatcher + ConText", "phrase_context"), Yardstick("QuickUMLS", "quickumls_reader"))


@dataclass(frozen=True, slots=True)
class Options:
    """What is measured, with which names and notes.

    Attributes:
        warehouse: DuckDB file with ``kg.name``, ``kg.concept`` and ``kg.edge``; read only.
        notes: CSV of discharge summaries (note_id, text), plain or gzip.
        gold: JSON lines with note_id and mentions (start, end, assertion); only these notes are read.
        folder: an empty folder for names, notes and indices.
        environment: virtual environment of the other readers; None leaves them out.
        names: names of the lexicon.
        note_limit: notes that are read at most.
        least, most: CPU seconds of reading, for each reader.
    """

    warehouse: Path
    notes: Path
    gold: Path
    folder: Path
    environment: Path | None = None
    names: int = NAMES
    note_limit: int = NOTES
    least: float = LEAST
    most: float = MOST

    def answer(self, reader: str) -> Path:
        """Return the file in which a reader leaves its spans and figures."""
        return self.folder / f"{reader}.json"


def measure(inputs: Inputs) -> Result:
    """Read the notes of a world with our reader and, where their environment is there, with the others."""
    notes = sorted((inputs.world.mimic / "note").glob("discharge.csv*"))
    if not notes:
        raise InputError("the world has no notes", file=inputs.world.mimic / "note")
    gold = inputs.world.truth / "notes.jsonl.gz"
    warehouse = Workspace.existing(inputs.workspace).warehouse
    there = ENVIRONMENT if _python(ENVIRONMENT).exists() else None
    return measured(Options(warehouse, notes[0], gold, inputs.scratch("mentions"), there))


def measured(options: Options, *, alone: bool = False) -> Result:
    """Measure all readers side by side and compare what they find with the marked spans."""
    lexicon = run_apart(prepare, options, name="lexicon")
    measures = [_scored(run_apart(ours, options), options, "ours")]
    for yardstick in () if alone else YARDSTICKS:
        if options.environment is None:
            measures.append(Measure(yardstick.title, failed="its environment is not there: see --environment"))
            continue
        other = run_apart(
            theirs,
            options,
            yardstick,
            options.environment,
            name=yardstick.title,
            may_fail=True,
            limit_seconds=LIMIT_SECONDS,
            limit_bytes=LIMIT_BYTES,
        )
        measures.append(other if other.failed else _scored(other, options, yardstick.module))
    remark = (
        f"{lexicon.rows:,} names; {lexicon.figures['notes']:,.0f} notes; "
        f"lexicon from the warehouse: {lexicon.cpu_seconds:.0f} CPU s, "
        f"{lexicon.peak_bytes / 2**20:,.0f} MiB; "
        "readers go over the notes until some seconds have gone: compare rows/s per core, not seconds"
    )
    return Result("mentions", measures, checks(measures), remark)


def prepare(options: Options) -> Done:
    """Write the lexicon, its names and the notes."""
    from benchmarks.yardsticks.prepare import write_lexicon, write_notes

    notes = write_notes(options.notes, options.gold, options.folder, options.note_limit)
    names = write_lexicon(options.warehouse, options.folder, options.names)
    return Done(names, "names", figures={"notes": float(notes)})


def ours(options: Options) -> Done:
    """Read the notes with the lexicon mapped from disk, as the worker processes of the stage do."""
    from ehr.lexicon import Lexicon
    from ehr.reading import TextReader

    folder = options.folder / "lexicon"
    lexicon = Lexicon.load(folder)

    def make() -> Reader:
        reader = TextReader(lexicon, lexicon.speller)

        def read(note: Note) -> list[AssertedSpan]:
            reading = reader.read(note.text)
            clear = [(mention.begin, mention.end, mention.assertion.value) for mention in reading.mentions]
            return clear + [(mention.begin, mention.end, UNCLEAR) for mention in reading.unclear]

        return read

    figures = clocked(make, read_notes(options.folder), options.answer("ours"), options.least, options.most)
    return _done(figures, [folder])


def theirs(options: Options, yardstick: Yardstick, environment: Path) -> Done:
    """Run another reader's program; it is a child of this process, so that its memory counts."""
    scratch = private_directory(options.folder / yardstick.module)
    out = options.answer(yardstick.module)
    program = [_python(environment), "-m", f"benchmarks.yardsticks.{yardstick.module}"]
    command = [str(part) for part in (*program, options.folder, scratch, out, options.least, options.most)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if ran.returncode:
        lines = ran.stderr.strip().splitlines() or [f"exit code {ran.returncode}"]
        raise InputError(f"{yardstick.title} failed", found=lines[-1])
    return _done(json.loads(out.read_text(encoding="utf-8"))["figures"], [scratch])


def _done(figures: dict[str, float], disk: Sequence[Path]) -> Done:
    speed = {"text, MB per core second": figures["bytes"] / 1e6 / figures["cpu_seconds"]}
    if "load_cpu_seconds" in figures:
        speed["loading, CPU s"] = figures["load_cpu_seconds"]
    watch = Watch(figures["seconds"], figures["cpu_seconds"])
    return Done(int(figures["bytes"]), "bytes of text", watch, disk, speed)


def _scored(measure: Measure, options: Options, reader: str) -> Measure:
    """Add how the reader's spans agree with the marked ones; a reader without assertions has no figure of them."""
    spans = json.loads(options.answer(reader).read_text(encoding="utf-8"))["spans"]
    notes: list[Note] = read_notes(options.folder)
    clear = {note: [span for span in read if span[2] != UNCLEAR] for note, read in spans.items()}
    shares = asdict(score(notes, clear))
    if clear != spans:
        shares["recall_with_unclear"] = score(notes, spans).recall
    if not any(span[2] for read in clear.values() for span in read):
        del shares["assertion"]
    return replace(measure, figures={**measure.figures, **shares})


def checks(measures: Sequence[Measure]) -> list[Check]:
    """Hold our measure, the first, against the targets: bytes a second, times the fastest other, recall of each."""
    mine, *others = measures
    speed = mine.rows_per_core_second
    checks = [at_least("text, MB per core second", speed / 1e6, MEGABYTES_PER_SECOND)]
    ran = [other for other in others if not other.failed]
    if ran:
        fastest = max(ran, key=lambda other: other.rows_per_core_second)
        times = speed / fastest.rows_per_core_second
        checks.append(at_least(f"speed, times that of {fastest.name}, the fastest", times, TIMES_FASTER))
    for other in ran:
        recall = other.figures["recall"]
        checks.append(at_least(f"recall less that of {other.name}", mine.figures["recall"] - recall, 0.0))
        if "recall_with_unclear" in mine.figures:
            difference = round(mine.figures["recall_with_unclear"] - recall, 4)
            checks.append(Check(f"recall with what is left unclear, less that of {other.name}", difference))
    return checks


def _python(environment: Path) -> Path:
    return environment / "bin" / "python"


def environment(folder: Path) -> Path:
    """Return the environment of the other readers; where it is not there it is made, from the package index.

    Raises:
        InputError: it cannot be made.
    """
    if _python(folder).exists():
        return folder
    for command in (
        [sys.executable, "-m", "venv", str(folder)],
        [str(_python(folder)), "-m", "pip", "install", "--quiet", "-r", str(REQUIREMENTS)],
    ):
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        if ran.returncode:
            lines = ran.stderr.strip().splitlines() or [f"exit code {ran.returncode}"]
            raise InputError("the environment of the other readers cannot be made", file=folder, found=lines[-1])
    return folder


def _arguments(values: list[str]) -> argparse.Namespace:
    options = parser(
        "stages.mentions",
        __doc__ or "",
        "python -m benchmarks.stages.mentions --workspace work/demo --notes note/discharge.csv.gz --gold gold.jsonl.gz",
    )
    options.add_argument("--workspace", type=Path, required=True, help="its graph is built; only read")
    options.add_argument("--notes", type=Path, required=True, help="CSV of discharge summaries, plain or gzip")
    options.add_argument(
        "--gold", type=Path, required=True, help="JSON lines: note_id, mentions (start, end, assertion)"
    )
    options.add_argument(
        "--environment", type=Path, default=ENVIRONMENT, help=f"default: {ENVIRONMENT.relative_to(ROOT)}"
    )
    options.add_argument("--alone", action="store_true", help="our reader only")
    options.add_argument("--names", type=int, default=NAMES, help="names of the lexicon")
    options.add_argument("--note-limit", type=int, default=NOTES, help="notes that are read, at most")
    options.add_argument("--most", type=float, default=MOST, help="CPU seconds of reading for each reader")
    options.add_argument("--save", metavar="NAME", help="write benchmarks/results/NAME.json")
    return options.parse_args(values)


def main(values: list[str]) -> int:
    """Measure and print one table; the exit code is 1 where a check is not kept."""
    arguments = _arguments(values)
    if min(arguments.names, arguments.note_limit) < 1 or arguments.most <= 0:
        raise UsageError("names, notes and seconds are positive")
    for path in (arguments.notes, arguments.gold):
        if not path.is_file():
            raise InputError("there is no such file", file=path)
    there = None if arguments.alone else environment(arguments.environment.absolute())
    with tempfile.TemporaryDirectory(prefix="ontoground-bench-") as folder:
        options = Options(
            Workspace.existing(arguments.workspace).warehouse.absolute(),
            arguments.notes.absolute(),
            arguments.gold.absolute(),
            private_directory(Path(folder)),
            there,
            arguments.names,
            arguments.note_limit,
            min(LEAST, arguments.most),
            arguments.most,
        )
        result = measured(options, alone=arguments.alone)
    print_result(result)
    if arguments.save:
        save(arguments.save, [result], {"names": arguments.names})
    return 0 if result.met else 1


if __name__ == "__main__":
    run(main)
