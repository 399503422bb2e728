"""Other people's test sets as statements to judge (MedHal, section 4.4): NLI-shaped and summary-shaped files.

A row that cannot be used is dropped and counted by reason; a label that is in no list is an error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from evaluation.numbers import metrics_of_rows
from evaluation.predictions import write_predictions
from ground.errors import InputError
from ground.storage.foreign import read_foreign
from training.sft.generate import GenerationSettings, Generator

__all__ = ["Layout", "Line", "Rows", "evaluate_downstream", "read_nli", "read_rows", "read_summaries"]

Layout = Literal["nli", "summary"]
Rows = tuple[list[dict[str, Any]], Counter[str]]
"""Rows as `medhal_prompt` takes them, and what was dropped by reason."""

# MedNLI's labels; "-" is SNLI's for pairs without a majority.
NLI_LABELS = {"entailment": True, "contradiction": False}
NLI_DROPPED = {"neutral": "neutral", "-": "no_gold_label"}
# MIMIC hallucination sets (Hegselmann et al.) call the document `text`.
DOCUMENT = ("document", "text")


@dataclass(frozen=True)
class Line:
    """One record of a file, by its number from 1."""

    path: Path
    number: int
    values: dict[str, Any]

    def wrong(self, what: str, expected: str) -> InputError:
        """Return the error that says what is wrong with this record."""
        return InputError(what, file=self.path, found=f"record {self.number}", expected=expected)

    def text(self, *names: str) -> str:
        """Return the first of these fields that is there; `InputError` where none is, or it is no text, or empty."""
        value = next((self.values[name] for name in names if self.values.get(name) is not None), None)
        if not isinstance(value, str) or not value.strip():
            raise self.wrong("a field is missing or empty", f"a text in {' or '.join(names)}")
        return value


def read_rows(lines: Iterable[Line], task: str, read: Callable[[Line], dict[str, Any] | str]) -> Rows:
    """Read lines as rows: ``read`` returns the fields that a row has of its own, or why it is dropped."""
    rows, dropped = [], Counter[str]()
    for line in lines:
        found = read(line)
        if isinstance(found, str):
            dropped[found] += 1
            continue
        name = f"{line.path.stem}-{line.number}"
        known = {"id": name, "pair_id": name, "context": None, "explanation": None, "task": task, "subject_id": None}
        rows.append({**known, **found})
    return rows, dropped


def _lines(path: Path) -> Iterator[Line]:
    rows = read_foreign(path, "the file of JSON lines", "one object a line").iter_rows(named=True)
    return (Line(path, number, row) for number, row in enumerate(rows, 1))


def read_nli(path: Path) -> Rows:
    """Read JSON lines in MedNLI's layout: ``sentence1``, ``sentence2``, ``gold_label``.

    Entailment is factual, contradiction is not; neutral pairs are dropped (section 4.4.1).

    Raises:
        InputError: unreadable, a field is missing, or an unknown label.
    """

    def pair(line: Line) -> dict[str, Any] | str:
        label = line.values.get("gold_label")
        if label in NLI_DROPPED:
            return NLI_DROPPED[label]
        if label not in NLI_LABELS:
            raise line.wrong("an unknown label", f"gold_label: {', '.join([*NLI_LABELS, *NLI_DROPPED])}")
        return {"context": line.text("sentence1"), "statement": line.text("sentence2"), "label": NLI_LABELS[label]}

    return read_rows(_lines(path), "nli", pair)


def read_summaries(path: Path) -> Rows:
    """Read JSON lines with a document (``document`` or ``text``), its ``summary``, and what is known of it.

    ``label`` (true: factual) says it directly; ``labels`` is a list of marked errors, and a summary with any is not
    factual (section 4.4.2). With neither, the summary is judged and counts in no metric. Nothing is dropped.

    Raises:
        InputError: unreadable, a field is missing, or a label of another type.
    """

    def summary(line: Line) -> dict[str, Any]:
        label, marks = line.values.get("label"), line.values.get("labels")
        if label is None and marks is not None:
            if not isinstance(marks, list):
                raise line.wrong("labels is no list", "a list of marked errors")
            label = not marks
        if label is not None and not isinstance(label, bool):
            raise line.wrong("label is neither true nor false", "true, false or null")
        return {"context": line.text(*DOCUMENT), "statement": line.text("summary"), "label": label}

    return read_rows(_lines(path), "summarization", summary)


def evaluate_downstream(
    path: Path, layout: Layout, model: str, out_dir: Path, settings: GenerationSettings | None = None
) -> dict[str, Any]:
    """Judge the statements of a file with a detector, and compare where the file has labels.

    Args:
        path: the file.
        layout: ``nli`` or ``summary``.
        model: a run folder, or folder or hub name of a causal model.
        out_dir: takes ``predictions-{stem of path}.parquet``.
        settings: of the generation.

    Returns:
        ``dropped``, ``without_label``, ``answers`` (outcomes), and ``metrics`` (None without labels).
    """
    rows, dropped = read_nli(path) if layout == "nli" else read_summaries(path)
    if not rows:
        raise InputError("there is no row to answer", found=path.name)
    generator = Generator.load(model, "medhal", settings or GenerationSettings())
    found = list(generator.predictions(rows))
    answers = write_predictions(out_dir / f"predictions-{path.stem}.parquet", found, "medhal")
    labelled = [(row, one) for row, one in zip(rows, found, strict=True) if row["label"] is not None]
    return {
        "file": path.name,
        "layout": layout,
        "model": generator.name,
        "dropped": dict(sorted(dropped.items())),
        "without_label": len(rows) - len(labelled),
        "answers": answers,
        "metrics": metrics_of_rows("medhal", *zip(*labelled, strict=True)) if labelled else None,
    }
