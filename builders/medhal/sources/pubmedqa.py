"""PubMedQA: questions in titles of articles, answered by their abstracts with yes, no or maybe (Jin et al. 2019).

Two layouts: JSON lines (``realidx``, ``question`` with the abstract before it and the question as its last line,
``answer``, ``answer_rationale``), their split in the file's name; and the release itself, ``ori_pqal.json``
(PMID to ``QUESTION``, ``CONTEXTS``, ``LONG_ANSWER``, ``final_decision``), whose test split is what
``test_ground_truth.json`` beside it lists. The abstract is the context, without its conclusion, which is the
explanation. ``maybe`` decides nothing and is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from builders.medhal.items import QaItem
from builders.medhal.sources.json_files import checked_object, files_of, object_in, objects_in_lines, split_in_name
from builders.medhal.sources.question_files import cleaned, distinct, needs_image
from builders.texts.origin import Origin, SourceSplit, Tally
from builders.texts.sources import TextSource

__all__ = ["ANSWERS", "files", "read"]

ANSWERS = ("yes", "no")
RELEASE = "ori_pqal.json"
TEST = "test_ground_truth.json"
COLUMNS = ("realidx", "question", "answer")
RELEASE_COLUMNS = ("QUESTION", "CONTEXTS", "final_decision")


def files(folder: Path) -> list[Path]:
    """Return the question files below a folder, sorted; of the release, the expert-labelled file only."""
    lines = [path for path in folder.rglob("*.jsonl") if split_in_name(path) is not None]
    return sorted([*lines, *folder.rglob(RELEASE)])


def read(folder: Path, source: TextSource, tally: Tally) -> Iterator[QaItem]:
    """Yield the questions of a folder that are answered with yes or no.

    Raises:
        InputError: no file, or a file of another layout.
    """
    paths = files_of(source.name, folder, files(folder), f"train.jsonl, test.jsonl or {RELEASE}")
    items = ((row["split"], item_of(row, source.source)) for path in paths for row in _rows(path, source.source, tally))
    yield from distinct(items, source, tally)


def _rows(path: Path, source: str, tally: Tally) -> Iterator[Mapping[str, Any]]:
    """Yield rows of either layout with the same fields: pmid, split, context, question, answer, why."""
    if path.suffix == ".json":
        yield from _release(path)
        return
    split = split_in_name(path)
    for _, row in objects_in_lines(path, COLUMNS, source, tally):
        abstract, _, question = str(row.get("question", "")).strip().rpartition("\n")
        yield {
            "pmid": row.get("realidx"),
            "split": split,
            "context": abstract,
            "question": question,
            "answer": row.get("answer"),
            "why": row.get("answer_rationale"),
        }


def _release(path: Path) -> Iterator[Mapping[str, Any]]:
    test_file = path.with_name(TEST)
    test = object_in(test_file) if test_file.is_file() else {}
    for place, (pmid, row) in enumerate(object_in(path).items()):
        # The first tells the layout; one that lacks a field among the others is counted as malformed.
        article = row if place and isinstance(row, dict) else checked_object(row, RELEASE_COLUMNS, path)
        contexts = article.get("CONTEXTS")
        yield {
            "pmid": pmid,
            "split": "test" if pmid in test else "train",
            "context": "\n".join(contexts) if isinstance(contexts, list) else None,
            "question": article.get("QUESTION"),
            "answer": article.get("final_decision"),
            "why": article.get("LONG_ANSWER"),
        }


def in_title_case(question: str) -> bool:
    """Tell whether most long words begin with a capital: a statement in such letters is no sentence.

    >>> in_title_case("Do Gout Patients Know Their Goal?"), in_title_case("Does Viagra help in Raynaud disease?")
    (True, False)
    """
    long: list[str] = re.findall(r"[^\W\d_]{4,}", question)[1:]
    written = [word[0].isupper() for word in long if word[1:].islower()]
    return 2 * sum(written) > len(written)


def item_of(row: Mapping[str, Any], source: str) -> QaItem | str:
    """Return a row's question, or the reason why it gives none."""
    texts = [row[name] for name in ("context", "question", "answer")]
    pmid, why = row["pmid"], row["why"]
    if not all(isinstance(text, str) and text.strip() for text in texts) or not isinstance(pmid, str | int):
        return "malformed_row"
    context, question, answer = (cleaned(text) for text in texts)
    if answer.lower() == "maybe":
        return "not_decidable"
    if answer.lower() not in ANSWERS:
        return "malformed_row"
    if needs_image(question):
        return "needs_image"
    if in_title_case(question):
        return "title_case"
    split: SourceSplit = row["split"]
    return QaItem(
        origin=Origin(source=source, inner_id=str(pmid), document=str(pmid), split=split),
        context=context,
        question=question,
        options=ANSWERS,
        answer=ANSWERS.index(answer.lower()),
        why=cleaned(why) if isinstance(why, str) and why.strip() else None,
    )
