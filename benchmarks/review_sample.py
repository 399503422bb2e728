"""Draw samples of each quadrant for readers: a sheet with the evidence of each row, and the notes to read it against.

The draw depends on the seed and the rows' ids only. What is written holds note text and admission numbers: it stays
where the notes may be, so the repository is refused.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.dataset as ds

from benchmarks.command import parser, run
from ground.contracts.rows import QUADRANTS
from ground.errors import InputError, RefusedError, UsageError
from ground.stable import stable_hash
from ground.storage.files import atomic_directory
from ground.storage.workspace import Workspace
from kg.predicates import Vocabulary, read_vocabulary
from ontoground.cli.render import console
from ontoground.flow.session import reading

__all__ = ["COLUMNS", "check_place", "draw", "main", "write_sample", "write_sheet"]

REPOSITORY = Path(__file__).resolve().parents[1]
# Only this folder of the repository is kept out of version control.
WORK = REPOSITORY / "work"
READ = (
    *("id", "quadrant", "statement", "hadm_id", "predicate", "head_cui", "head_name", "tail_cui", "tail_name"),
    *("tier", "support_level", "path", "support_spans", "replaced_end", "distance", "why_false"),
)
COLUMNS = (
    *("id", "quadrant", "statement", "head", "tail", "tier", "support_level", "replaced_end", "distance"),
    *("why_false", "path", "spans", "note", "verdict", "reason", "reader"),
)


@dataclass(frozen=True)
class Words:
    """Paths in words: names by CUI, and the sentence of each predicate."""

    names: dict[str, str]
    vocabulary: Vocabulary

    def path(self, edges: list[dict[str, str]]) -> str:
        """Return ``a treats b [may_treat, NDFRT]; b is a type of c [isa, DO]``."""
        return "; ".join(self._edge(edge) for edge in edges)

    def _edge(self, edge: dict[str, str]) -> str:
        line, backwards = self.vocabulary.line_of(edge["predicate"])
        sentence = line.inverse_sentence if backwards else line.sentence
        head, tail = (self.names.get(edge[end], edge[end]) for end in ("head_cui", "tail_cui"))
        evidence = ", ".join(part for part in (edge["rela"], edge["sab"]) if part)
        return f"{sentence.format(head=head, tail=tail)} [{evidence}]"


def draw(
    dataset: Path, seed: int, each: int, columns: Sequence[str] = READ, strata: Sequence[str] = ("quadrant",)
) -> list[dict[str, Any]]:
    """Return rows of each stratum, those with the lowest ``stable_hash(seed, 'review', id)`` first.

    Raises:
        InputError: the folder holds no dataset.
    """
    files = sorted((dataset / "data").glob("*.parquet"))
    if not files:
        raise InputError("there is no dataset here", file=dataset, expected="data/*.parquet")
    source = ds.dataset([str(file) for file in files])
    # Only ids and strata are read for the draw.
    ranked: dict[tuple[Any, ...], list[tuple[int, str]]] = {}
    for key in source.to_table(columns=["id", *strata]).to_pylist():
        stratum = tuple(key[name] for name in strata)
        ranked.setdefault(stratum, []).append((stable_hash(seed, "review", key["id"]), key["id"]))
    chosen = {row_id: rank for found in ranked.values() for rank, row_id in sorted(found)[:each]}
    rows = source.to_table(columns=list(columns), filter=ds.field("id").isin(sorted(chosen))).to_pylist()
    return sorted(rows, key=lambda row: (*(row[name] for name in strata), chosen[row["id"]], row["id"]))


def _notes(connection: duckdb.DuckDBPyConnection, admissions: set[int]) -> list[tuple[int, str, str]]:
    """Return (admission, note id, text) of the notes of some admissions."""
    return connection.execute(
        "select hadm_id, note_id, text from mimiciv_note.discharge where hadm_id in (select unnest($wanted)) "
        "order by hadm_id, note_id",
        {"wanted": sorted(admissions)},
    ).fetchall()


def _names(connection: duckdb.DuckDBPyConnection, rows: list[dict[str, Any]]) -> dict[str, str]:
    wanted = {edge[end] for row in rows for edge in row["path"] for end in ("head_cui", "tail_cui")}
    return dict(
        connection.execute(
            "select cui, name from kg.concept where cui in (select unnest($wanted))", {"wanted": sorted(wanted)}
        ).fetchall()
    )


def _line(row: dict[str, Any], words: Words, notes: dict[int, str]) -> dict[str, Any]:
    spans = [
        f"{span['role']} '{' '.join(span['text'].split())}' in {span['section']} at {span['begin_offset']}"
        for span in row["support_spans"]
    ]
    ends = {end: f"{row[f'{end}_name']} ({row[f'{end}_cui']})" for end in ("head", "tail")}
    texts = {"path": words.path(row["path"]), "spans": "; ".join(spans), "note": notes.get(row["hadm_id"], "")}
    return {column: row.get(column) for column in COLUMNS} | ends | texts


def check_place(output: Path) -> None:
    """Refuse a folder of the repository, since note text must not get into it, and one that holds something."""
    place = output.resolve()
    if place.is_relative_to(REPOSITORY) and not place.is_relative_to(WORK):
        raise RefusedError(
            "the sheet holds note text and is not written into the repository",
            file=output,
            expected="a folder outside of it, or below work/",
        )
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise UsageError("the output folder is not empty", file=output, do="name a new folder")


def write_sheet(
    output: Path, columns: Sequence[str], lines: Iterable[Mapping[str, Any]], texts: Mapping[str, str]
) -> None:
    """Write ``review.csv`` and its texts by their names, into a folder of mode 0700."""
    with atomic_directory(output) as folder:
        with (folder / "review.csv").open("w", encoding="utf-8", newline="") as file:
            sheet = csv.DictWriter(file, columns)
            sheet.writeheader()
            sheet.writerows(lines)
        for name, text in texts.items():
            # Offsets of the sheet count the characters of this file, so that no line end may be translated.
            (folder / name).write_text(text, encoding="utf-8", newline="")
        for path in folder.iterdir():
            path.chmod(0o600)


def write_sample(workspace: Workspace, dataset: Path, output: Path, seed: int, per_quadrant: int) -> dict[str, int]:
    """Write ``review.csv`` and one text file for each note, into a folder of mode 0700; return rows by quadrant.

    Raises:
        RefusedError: the output lies in the repository.
        UsageError: the output folder holds something.
        InputError: there is no warehouse or no dataset.
    """
    check_place(output)
    rows = draw(dataset, seed, per_quadrant)
    with reading(workspace) as connection:
        notes = _notes(connection, {row["hadm_id"] for row in rows})
        words = Words(_names(connection, rows), read_vocabulary())
    files = {hadm_id: f"{note_id}.txt" for hadm_id, note_id, _ in notes}
    texts = {f"{note_id}.txt": text for _, note_id, text in notes}
    write_sheet(output, COLUMNS, [_line(row, words, files) for row in rows], texts)
    return {quadrant: sum(row["quadrant"] == quadrant for row in rows) for quadrant in QUADRANTS}


def _arguments(values: list[str]) -> argparse.Namespace:
    options = parser(
        "review_sample",
        __doc__ or "",
        "python -m benchmarks.review_sample work/demo ~/review --seed 3 --rows 30",
    )
    options.add_argument("workspace", type=Path, help="the workspace whose warehouse holds the notes")
    options.add_argument("output", type=Path, help="a new folder; it is made readable by you only")
    options.add_argument("--dataset", type=Path, help="dataset folder (default: datasets/medieval of the workspace)")
    options.add_argument("--seed", type=int, required=True, help="seed of the draw; keep it with the verdicts")
    options.add_argument("--rows", type=int, default=30, help="rows of each quadrant (default 30)")
    return options.parse_args(values)


def main(values: list[str]) -> int:
    """Draw, write, and say how many rows of each quadrant there are."""
    arguments = _arguments(values)
    workspace = Workspace.existing(arguments.workspace)
    dataset = arguments.dataset or workspace.dataset("medieval")
    drawn = write_sample(workspace, dataset, arguments.output, arguments.seed, arguments.rows)
    counts = ", ".join(f"{quadrant} {n}" for quadrant, n in drawn.items())
    console().print(f"seed {arguments.seed}: {counts}; sheet: {arguments.output / 'review.csv'}", soft_wrap=True)
    return 0


if __name__ == "__main__":
    run(main)
