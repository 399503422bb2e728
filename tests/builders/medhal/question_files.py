"""Invented question sets in the layouts of the sources."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from builders.texts.sources import TextSource, text_sources

__all__ = ["mcq", "medmcqa_row", "medqa_row", "source", "write_lines"]

MCQ = "Which of the following is the most likely diagnosis?"


def source(name: str) -> TextSource:
    """Return a source of the registry."""
    return text_sources()[name]


def write_lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Write rows as JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def mcq(vignette: str, asked: str = MCQ) -> str:
    """Return a vignette and what is asked of it."""
    return f"{vignette} {asked}"


def medqa_row(number: int, question: str, options: Sequence[str], answer: int = 0, **more: Any) -> dict[str, Any]:
    """Return a row of MedQA."""
    letters = "ABCDE"
    return {
        "realidx": number,
        "question": question,
        "answer": options[answer],
        "options": {letters[at]: option for at, option in enumerate(options)},
        "answer_idx": letters[answer],
        **more,
    }


def medmcqa_row(inner_id: str, question: str, options: Sequence[str], place: int | None, **more: Any) -> dict[str, Any]:
    """Return a row of MedMCQA; ``place`` as the file counts it."""
    row = {"id": inner_id, "question": question, "choice_type": "single", "exp": None, "subject_name": "Medicine"}
    row |= dict(zip(("opa", "opb", "opc", "opd"), options, strict=True))
    return row | ({} if place is None else {"cop": place}) | more
