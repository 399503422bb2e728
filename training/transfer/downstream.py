"""Other people's test sets as statements to judge (MedHal, section 4.4): NLI-shaped and summary-shaped files.

A row that cannot be used is dropped and counted by reason; a label that is in no list is an error.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from evaluation.text.numbers import medhal_metrics
from ground.errors import InputError
from training.sft.generate import GenerationSettings, Generator, write_predictions

__all__ = ["Layout", "evaluate_downstream", "read_nli", "read_summaries"]

Layout = Literal["nli", "summary"]
# MedNLI's labels; "-" is SNLI's for pairs without a majority.
NLI_LABELS = {"entailment": True, "contradiction": False}
NLI_DROPPED = {"neutral": "neutral", "-": "no_gold_label"}
# MIMIC hallucination sets (Hegselmann et al.) call the document `text`.
DOCUMENT = ("document", "text")


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    row = json.loads(line)
                    if not isinstance(row, dict):
                        raise InputError("a line is no JSON object", file=path, line=number)
                    yield number, row
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError(
            "the file cannot be read as JSON lines", file=path, found=type(error).__name__, expected="one object a line"
        ) from error


def _text(row: dict[str, Any], names: tuple[str, ...], path: Path, number: int) -> str:
    value = next((row[name] for name in names if name in row), None)
    if not isinstance(value, str) or not value.strip():
        raise InputError(
            "a field is missing or empty", file=path, line=number, expected=f"a text in {' or '.join(names)}"
        )
    return value


def _row(path: Path, number: int, context: str, statement: str, label: bool | None, task: str) -> dict[str, Any]:
    return {
        "id": f"{path.stem}-{number}",
        "pair_id": f"{path.stem}-{number}",
        "context": context,
        "statement": statement,
        "label": label,
        "explanation": None,
        "task": task,
        "subject_id": None,
    }


def read_nli(path: Path) -> tuple[list[dict[str, Any]], Counter[str]]:
    """Read JSON lines in MedNLI's layout: ``sentence1``, ``sentence2``, ``gold_label``.

    Entailment is factual, contradiction is not; neutral pairs are dropped (section 4.4.1).

    Returns:
        Rows as `medhal_prompt` takes them, and what was dropped by reason.

    Raises:
        InputError: unreadable, a field is missing, or an unknown label.
    """
    rows, dropped = [], Counter[str]()
    for number, line in _lines(path):
        label = line.get("gold_label")
        if label in NLI_DROPPED:
            dropped[NLI_DROPPED[label]] += 1
            continue
        if label not in NLI_LABELS:
            raise InputError(
                "an unknown label",
                file=path,
                line=number,
                expected=f"gold_label: {', '.join([*NLI_LABELS, *NLI_DROPPED])}",
            )
        premise, hypothesis = (_text(line, (name,), path, number) for name in ("sentence1", "sentence2"))
        rows.append(_row(path, number, premise, hypothesis, NLI_LABELS[label], "nli"))
    return rows, dropped


def read_summaries(path: Path) -> tuple[list[dict[str, Any]], Counter[str]]:
    """Read JSON lines with a document (``document`` or ``text``), its ``summary``, and what is known of it.

    ``label`` (true: factual) says it directly; ``labels`` is a list of marked errors, and a summary with any is not
    factual (section 4.4.2). With neither, the summary is judged and counts in no metric.

    Returns:
        Rows as `medhal_prompt` takes them, and what was dropped by reason (nothing, so far).

    Raises:
        InputError: unreadable, a field is missing, or a label of another type.
    """
    rows = []
    for number, line in _lines(path):
        label, marks = line.get("label"), line.get("labels")
        if label is None and marks is not None:
            if not isinstance(marks, list):
                raise InputError("labels is no list", file=path, line=number, expected="a list of marked errors")
            label = not marks
        if label is not None and not isinstance(label, bool):
            raise InputError("label is neither true nor false", file=path, line=number, expected="true, false or null")
        document, summary = _text(line, DOCUMENT, path, number), _text(line, ("summary",), path, number)
        rows.append(_row(path, number, document, summary, label, "summarization"))
    return rows, Counter[str]()


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

    Raises:
        InputError: the file or the model cannot be read, or no row is left.
    """
    rows, dropped = read_nli(path) if layout == "nli" else read_summaries(path)
    generator = Generator.load(model, "medhal", settings or GenerationSettings())
    predictions = list(generator.predictions(rows))
    answers = write_predictions(
        out_dir / f"predictions-{path.stem}.parquet", "medhal", iter(predictions), where=path.name
    )
    labelled = {row["id"] for row in rows if row["label"] is not None}
    return {
        "file": path.name,
        "layout": layout,
        "model": generator.name,
        "dropped": dict(sorted(dropped.items())),
        "without_label": len(rows) - len(labelled),
        "answers": answers,
        "metrics": medhal_metrics(
            [row for row in rows if row["id"] in labelled],
            [prediction for prediction in predictions if prediction["id"] in labelled],
        )
        if labelled
        else None,
    }
