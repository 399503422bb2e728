"""A dataset as other people's harnesses load it: our prompts, our reading of answers, our rates, in files of their own.

Written for lm-evaluation-harness 0.4 (a task in YAML) and Inspect 0.3 (a task in Python). The folder needs neither us
nor a network: rows are in Parquet, and the readers of answers are copied as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl

from evaluation.datasets import MedievalDataset, TextDataset
from ground import ROOT
from ground.contracts.splits import Split
from ground.contracts.taxonomy import error_categories
from ground.errors import InputError
from ground.flow.manifest import read_manifest
from ground.json_record import JsonRecord
from ground.lm.settings import LmSettings
from ground.storage.files import atomic_directory, write_text
from training.asking.harness_scoring import rates
from training.asking.quadrants import zeroshot_prompt
from training.sft.encoding import TASKS

__all__ = ["Harness", "HarnessFolder", "export_harness"]

Harness = Literal["lm-eval", "inspect"]
DATA = ROOT / "training" / "data"
COPIED = {"answers.py": "ground/contracts/answers.py", "scoring.py": "training/asking/harness_scoring.py"}
READERS = {
    "medieval": ("quadrants", "parse_quadrant(text)"),
    "medhal": ("medhal", "NAMES.get(parse_medhal(text).label)"),
    "medval": ("medval", "LEVELS.get(parse_medval(text).label)"),
}
TOKENS = LmSettings.model_fields["max_tokens"].default
"""Tokens of an answer: what `evaluate` asks for where no settings say otherwise."""


@dataclass(frozen=True)
class HarnessFolder(JsonRecord):
    """What was written: rows by label, the name of the task, and how it is run."""

    folder: str
    harness: str
    task: str
    rows: int
    labels: dict[str, int]
    run: str


def export_harness(harness: Harness, dataset: Path, folder: Path, split: Split = "test") -> HarnessFolder:
    """Write a split of a dataset as a task of a harness.

    Raises:
        InputError: the folder is no dataset of ours, the split is empty, or something is in the way.
    """
    kind = str(read_manifest(dataset).get("dataset"))
    if kind not in READERS:
        raise InputError(
            "this is not a dataset built by ontoground", file=dataset, found=kind, expected=", ".join(READERS)
        )
    rows = pl.DataFrame(list(_rows(kind, dataset, split)), ("id", "prompt", "target"), orient="row")
    if rows.is_empty():
        raise InputError(f"the {split} split is empty", file=dataset)
    task = f"ontoground_{kind}"
    with atomic_directory(folder) as part:
        rows.write_parquet(part / "rows.parquet")
        for name, source in COPIED.items():
            write_text(part / name, _alone((ROOT / source).read_text(encoding="utf-8")))
        for name, text in _files(harness, kind, task).items():
            write_text(part / name, text)
    run = {
        "lm-eval": f"lm_eval run -M hf -a pretrained=MODEL -t {task} --include_path {folder}",
        "inspect": f"cd {folder} && inspect eval {task}.py --model hf/MODEL -M do_sample=false",
    }
    counts = dict(rows.group_by("target").len().sort("target").iter_rows())
    return HarnessFolder(str(folder), harness, task, rows.height, counts, run[harness])


def _rows(kind: str, dataset: Path, split: Split) -> Iterable[tuple[str, str, str]]:
    """Yield id, prompt and label of the rows of a split."""
    if kind == "medieval":
        opened = MedievalDataset.open(dataset)
        contexts = dict(opened.contexts.iter_rows())
        for row in opened.split_rows(split).iter_rows(named=True):
            (message,) = zeroshot_prompt(contexts[row["hadm_id"]], row["statement"])
            yield row["id"], message.content, row["quadrant"]
        return
    of_kind: Literal["medhal", "medval"] = "medhal" if kind == "medhal" else "medval"
    for row in TextDataset.open(dataset, of_kind).rows(split):
        label = str(row["risk_level"]) if kind == "medval" else ("factual" if row["label"] else "non-factual")
        yield row["id"], TASKS[of_kind].prompt(row), label


def _alone(text: str) -> str:
    """Return a module that imports nothing of ours: what it asks of our tables stands in it."""
    names: Mapping[str, str] = {row["name"].lower(): row["category"] for row in error_categories()}
    own = (
        f"CATEGORIES = {dict(names)!r}\n\n\ndef category_of(name: str) -> str | None:\n"
        '    return CATEGORIES.get(" ".join(name.replace("_", " ").split()).lower())\n'
    )
    return re.sub(r"^from ground\.contracts\.taxonomy import category_of\n", lambda _: own, text, flags=re.MULTILINE)


def _files(harness: Harness, kind: str, task: str) -> dict[str, str]:
    """Return the files that name the task: the templates of ``training/data`` with their places filled."""
    rows, reader = READERS[kind]
    suffix = {"lm-eval": ("yaml", "py"), "inspect": ("py",)}[harness]
    metrics = list(rates(rows, []))
    listed = "".join(
        f"  - metric: {name}\n    aggregation: !function {task}.{name}\n"
        f"    higher_is_better: {'false' if name in ('hsr', 'tir') else 'true'}\n"
        for name in metrics
    )
    aggregations = "".join(f'{name} = partial(_rate, "{name}")\n' for name in metrics)
    places = {
        "TASK": task, "KIND": rows, "READER": reader, "TOKENS": str(TOKENS), "METRICS": listed.rstrip("\n"),
        "AGGREGATIONS": aggregations.rstrip("\n"), "NAMES": repr(metrics),
    }  # fmt: skip
    files = {}
    for ending in suffix:
        text = (DATA / f"harness_{harness.replace('-', '_')}.{ending}.txt").read_text(encoding="utf-8")
        for place, value in places.items():
            text = text.replace(f"<{place}>", value)
        files[f"{task}.{ending}"] = text
    return files
