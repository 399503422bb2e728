"""How fast `build medhal` is with the rules engine, and whether its memory grows with its input.

The texts are built as they are and then several times over, each copy with ids and an opening sentence of its own, so
that no copy is left out as a repetition. Each build is a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import argparse
import io
import json
import tempfile
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from pathlib import Path

from benchmarks.command import parser, run
from benchmarks.measures import Result
from benchmarks.measuring import Done, run_apart, save
from benchmarks.tables import print_result
from ground.errors import InputError, UsageError
from ground.storage.files import private_directory
from ontoground.cli.main import invoke
from ontoground.cli.render import note

__all__ = ["build_once", "main", "multiply"]

OPENING = "This is record {copy}. "


def _questions(source: Path, target: Path, copies: int) -> None:
    """Copy question sets (JSON lines with ``question`` and ``realidx``)."""
    target.mkdir()
    for file in sorted(source.glob("*.jsonl")):
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
        with (target / file.name).open("w", encoding="utf-8") as out:
            for copy in range(copies):
                for place, row in enumerate(rows):
                    name = f"{copy}-{row.get('realidx', place)}" if copy else row.get("realidx", place)
                    opening = OPENING.format(copy=copy) if copy else ""
                    out.write(json.dumps(row | {"realidx": name, "question": opening + row["question"]}) + "\n")


def _articles(source: Path, target: Path, copies: int) -> None:
    """Copy SumPubMed's articles and abstracts under further numbers."""
    for part in ("text", "abstract"):
        files = sorted((source / part).glob(f"{part}_*.txt"))
        (target / part).mkdir(parents=True)
        most = max(int(file.stem.rpartition("_")[2]) for file in files)
        for copy in range(copies):
            for file in files:
                number = int(file.stem.rpartition("_")[2]) + copy * most
                heading, line, text = file.read_text(encoding="utf-8").partition("\n")
                opening = OPENING.format(copy=copy).lower() if copy else ""
                (target / part / f"{part}_{number}.txt").write_text(f"{heading}{line}{opening}{text}", encoding="utf-8")


COPIERS: Mapping[str, Callable[[Path, Path, int], None]] = {
    "medqa": _questions,
    "medbullets": _questions,
    "sumpubmed": _articles,
}


def multiply(texts: Path, target: Path, copies: int) -> list[str]:
    """Write each source below ``texts`` that can be copied ``copies`` times below ``target``; return their names.

    Raises:
        InputError: there is none.
    """
    private_directory(target)
    found = [name for name in COPIERS if (texts / name).is_dir()]
    if not found:
        raise InputError("no text to multiply", file=texts, expected=f"a folder {' or '.join(COPIERS)}")
    for name in found:
        COPIERS[name](texts / name, target / name, copies)
    return found


def build_once(texts: Path, workspace: Path) -> Done:
    """Build a dataset; ``figures`` are the rows of each source.

    Raises:
        InputError: the build failed.
    """
    printed = io.StringIO()
    with redirect_stdout(printed):
        code = invoke(
            ["build", "medhal", "--texts", str(texts), "--splits", "all", "--workspace", str(workspace), "--json"]
        )
    if code:
        raise InputError("the build failed", file=texts, found=f"exit code {code}")
    payload = json.loads(printed.getvalue())
    rows = {source["source"]: source["factual"] + source["non_factual"] for source in payload["sources"]}
    return Done(payload["rows"], "rows", disk=[workspace], figures=rows)


def main(arguments: list[str]) -> int:
    """Measure and print a table; with ``--save`` also write it to ``benchmarks/results``."""
    options = _options(arguments)
    if min(options.copies) < 1:
        raise UsageError("--copies below 1", found=str(min(options.copies)))
    measures = []
    with tempfile.TemporaryDirectory(prefix="ontoground-bench-") as folder:
        for copies in options.copies:
            texts = Path(folder) / f"texts-{copies}"
            names = multiply(options.texts, texts, copies)
            note(f"{', '.join(names)}: {copies} times")
            measures.append(run_apart(build_once, texts, Path(folder) / f"work-{copies}", name=f"{copies} times"))
    result = Result("build medhal", measures)
    print_result(result)
    if options.save:
        save("text-builders", [result], {"copies": options.copies})
    return 0


def _options(arguments: list[str]) -> argparse.Namespace:
    command = parser(
        "text_builders",
        (__doc__ or "").splitlines()[0],
        "python -m benchmarks.text_builders --texts DIR --copies 1 4 --save",
    )
    command.add_argument("--texts", type=Path, required=True, help="folder with one folder a source")
    command.add_argument("--copies", type=int, nargs="+", default=[1, 4], help="how many times over (default: 1 4)")
    command.add_argument("--save", action="store_true", help="write benchmarks/results/text-builders.json")
    return command.parse_args(arguments)


if __name__ == "__main__":
    run(main)
