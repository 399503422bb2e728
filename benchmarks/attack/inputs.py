"""Malformed inputs: each is refused in words, or counted, or gives the very same rows; nothing is said of a patient."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.attack.damage import BYTES, PLACES, ROWS
from benchmarks.attack.kills import tables
from benchmarks.attack.target import SECRET, Outcome, Target, Tries, Try

__all__ = ["in_silence", "tries"]

MIMIC = ("hosp/patients", "hosp/admissions", "hosp/diagnoses_icd", "hosp/prescriptions", "note/discharge")
RRF = ("META/MRCONSO", "META/MRREL")
# Which damages leave values that are allowed, though others: what was loaded is not compared. A note's line ends are
# kept as they stand, and are read alike (tests/ehr/test_reading.py).
OTHER_VALUES = (
    "discharge.csv.gz: line ends of Windows",
    "an identifier of a half",
    "an identifier of nothing",
    "an identifier of words",
    "an identifier too large",
    "some bits flipped",
    "a zero byte in a field",
    "a quote that is not closed",
)
TOML = {
    "a key that is none": "[build]\nno_such_key = 1\n",
    "a table that is none": "[nothing]\na = 1\n",
    # A message shows the settings' own words: the user wrote them, and no setting is of a patient.
    "a word for a number": "[build]\nseed = 'many'\n",
    "a seed below nothing": "[build]\nseed = -5\n",
    "no TOML": "build = = 3\n",
    "zero bytes": "\0" * 100,
    "a table twice": "[build]\nseed = 1\n[build]\nseed = 2\n",
    "a list for a table": "build = [1, 2]\n",
    "nested very deep": "a = " + "[" * 20_000 + "]" * 20_000,
    "a memory of nothing": "[run]\nmemory_limit = 'lots'\n",
    "minus three threads": "[run]\nthreads = -3\n",
    "a share of seven": "[load]\nmax_reject_share = 7\n",
    "not a number": "[load]\nmax_reject_share = nan\n",
}


def tries(target: Target) -> Tries:
    """Yield every damage of every file; with a smaller share every so many of them."""
    every = max(1, round(1 / target.share))
    yield from list(_all(target))[::every]


def _all(target: Target) -> Tries:
    for file in MIMIC:
        yield from _of_file(target, target.world.mimic / f"{file}.csv.gz", "mimic", b",")
    for file in RRF:
        yield from _of_file(target, target.world.meta.parent / f"{file}.RRF", "umls", b"|")
    for name, text in TOML.items():
        yield f"ontoground.toml: {name}", partial(_settings, target, name, text)
    yield from _parquets(target)
    yield from _of_workspace(target)
    yield from _tables(target)


def _of_file(target: Target, file: Path, kind: str, mark: bytes) -> Tries:
    for name, change in ROWS.items():
        yield f"{file.name}: {name}", _load(target, file, kind, name, _repacked(file, change(mark)))
    for name, packed in BYTES.items():
        yield f"{file.name}: {name}", _load(target, file, kind, name, partial(_rewrite, change=packed))
    for name, place in PLACES.items():
        yield f"{file.name}: {name}", _load(target, file, kind, name, partial(_replaced, place=place))


def _repacked(file: Path, change: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    if file.suffix == ".gz":
        return lambda path: _rewrite(path, lambda packed: gzip.compress(change(gzip.decompress(packed)), 1))
    return lambda path: _rewrite(path, change)


def _rewrite(path: Path, change: Callable[[bytes], bytes]) -> None:
    path.write_bytes(change(path.read_bytes()))


def _replaced(path: Path, place: Callable[[Path], object]) -> None:
    path.unlink()
    place(path)


def _load(target: Target, file: Path, kind: str, name: str, damage: Callable[[Path], object]) -> Try:
    """Return a try: the release is loaded with one damaged file of it."""

    def attempt() -> str | None:
        source = target.world.mimic if kind == "mimic" else target.world.meta
        folder = target.scratch("load")
        release = Path(shutil.copytree(source, folder / source.name))
        damage(release / file.relative_to(source))
        done = target.call("load", kind, str(release), "--workspace", str(folder / "work"), "--json")
        return target.bad_manners(done) or in_silence(target, folder / "work", done, f"{file.name}: {name}")

    return attempt


def in_silence(target: Target, work: Path, done: Outcome, name: str) -> str | None:
    """Return what was loaded otherwise than from the undamaged release without a word, or an error without a place."""
    if done.code:
        return None if json.loads(done.out)["error"].get("file") or done.code == 2 else "an error that names no file"
    report = json.loads(done.out)
    counted = report["report"]["warnings"] or any(one["rows_rejected"] for one in report["files"])
    if counted or name.endswith(OTHER_VALUES):
        return None
    if "note/discharge" in report["report"]["missing_optional"]:
        return None if name.endswith(": nothing") else "a file that is none was passed over"
    expected = tables(target.work)
    different = [table for table, rows in tables(work).items() if rows != expected[table]]
    return f"{different[0]} has other rows, and nothing says so" if different else None


def _settings(target: Target, name: str, text: str) -> str | None:
    work = target.scratch("settings")
    (work / "ontoground.toml").write_text(text)
    done = target.call("load", "mimic", str(target.world.mimic), "--workspace", str(work))
    return target.bad_manners(done) or (None if done.code else f"{name} was taken")


def _parquets(target: Target) -> Tries:
    note = {"note_id": ["a", "b"], "subject_id": [1, 2], "hadm_id": [10, 11], "text": ["x", "y"]}
    columns: dict[str, dict[str, pa.Array]] = {
        "text of lists": {"text": pa.array([[SECRET], []])},
        "text of numbers": {"text": pa.array([1.5, 2])},
        "text of bytes": {"text": pa.array([b"\xff" + SECRET.encode(), b""], pa.binary())},
        "text of records": {"text": pa.array([{"a": SECRET}, {"a": "b"}])},
        "an identifier of a half": {"hadm_id": pa.array([95000001.5, 1])},
        "an identifier of words": {"hadm_id": pa.array([SECRET, "1"])},
        "a float of 32 bits": {"hadm_id": pa.array([95000000.0, 1.0], pa.float32())},
        "truth for an identifier": {"hadm_id": pa.array([True, False])},
        "a key twice": {"note_id": pa.array(["a", "a"])},
        "a key of nothing": {"note_id": pa.array(["a", None])},
        "a time of a zone": {"charttime": pa.array([1, 2], pa.timestamp("us", "UTC"))},
        "a time of numbers": {"charttime": pa.array([1, 2])},
    }

    def attempt(changed: dict[str, pa.Array]) -> str | None:
        folder = target.scratch("parquet")
        release = Path(shutil.copytree(target.world.mimic, folder / "mimic"))
        (release / "note" / "discharge.csv.gz").unlink()
        pq.write_table(pa.table(note | changed), release / "note" / "discharge.parquet")
        done = target.call("load", "mimic", str(release), "--workspace", str(folder / "work"))
        return target.bad_manners(done) or (None if done.code == 3 else "it was loaded")

    for name, changed in columns.items():
        yield f"discharge.parquet: {name}", partial(attempt, changed)


def _of_workspace(target: Target) -> Tries:
    """Yield damages of what a workspace holds, each with a verb that reads it."""
    dataset = "datasets/medieval"
    reads: dict[str, tuple[str, ...]] = {
        "warehouse.duckdb": ("status",),
        "graph/manifest.json": ("graph", "show", "C9900001"),
        "graph/indptr.npy": ("graph", "show", "C9900001"),
        f"{dataset}/manifest.json": ("validate", dataset),
        f"{dataset}/statements.parquet": ("sql", "-c", "from medieval_statements"),
        f"{dataset}/data/train-00000-of-00001.parquet": ("validate", dataset),
    }
    damages: dict[str, Callable[[Path], object]] = {
        "empty": lambda path: path.write_bytes(b""),
        "cut": lambda path: _rewrite(path, lambda content: content[: len(content) // 2]),
        "words": lambda path: path.write_text(SECRET * 50),
        "bits flipped": lambda path: _rewrite(path, BYTES["some bits flipped"]),
        "deep brackets": lambda path: path.write_text("[" * 100_000),
        "a folder": lambda path: _replaced(path, lambda path: path.mkdir()),
        "a link to itself": lambda path: _replaced(path, lambda path: path.symlink_to(path.name)),
    }

    def attempt(file: str, verb: tuple[str, ...], damage: Callable[[Path], object]) -> str | None:
        work = target.copy("workspace")
        damage(work / file)
        verb = tuple(str(work / part) if part == dataset else part for part in verb)
        return target.bad_manners(target.call(*verb, "--workspace", str(work)))

    for file, verb in reads.items():
        for name, damage in damages.items():
            yield f"{file}: {name}", partial(attempt, file, verb, damage)


def _tables(target: Target) -> Tries:
    """Yield tables of labels and files of predictions."""
    rows = "id,question,answer,label\n" + "".join(f"{n},what is {n}?,{n},{n}\n" for n in range(9))
    texts: dict[str, bytes] = {
        "labels.csv": rows.encode(),
        "labels.jsonl": b"".join(json.dumps({"id": n, "label": n}).encode() + b"\n" for n in range(9)),
    }
    made = {name: {"nothing": b"", "as it is": text} for name, text in texts.items()}
    for name, text in texts.items():
        made[name] |= {kind: change(b",")(text) for kind, change in ROWS.items()}
        made[name] |= {kind: change(text) for kind, change in BYTES.items()}
    made["labels.xlsx"] = {"no workbook": SECRET.encode(), "an empty archive": b"PK\x05\x06" + b"\0" * 18}
    made["labels.parquet"] = {"no Parquet": b"PAR1" + SECRET.encode() + b"PAR1"}

    def attempt(verb: tuple[str, ...], name: str, content: bytes) -> str | None:
        folder = target.scratch("table")
        (folder / name).write_bytes(content)
        work = folder / "work" if verb[0] == "steward" else target.work
        return target.bad_manners(target.call(*verb, str(folder / name), "--workspace", str(work)))

    for name, contents in made.items():
        for kind, content in contents.items():
            adopt = ("steward", "adopt", "--column", "uid=id")
            yield f"{name}: {kind}", partial(attempt, adopt, name, content)
    asked = ("evaluate", "quadrants", "--predictions")
    for kind, content in made["labels.csv"].items():
        yield f"predictions.csv: {kind}", partial(attempt, asked, "predictions.csv", content)
