"""MedNLI: premises from MIMIC-III notes with hypotheses that clinicians wrote (Romanov and Shivade 2018).

PhysioNet's files ``mli_{train,dev,test}_v1.jsonl`` hold one pair in a line: ``sentence1`` (premise), ``sentence2``
(hypothesis), ``gold_label`` and ``pairID``, beside parses that are not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from builders.medhal.items import NliItem
from builders.medhal.sources.json_files import files_of, objects_in_lines
from builders.texts.origin import Origin, SourceSplit, Tally
from builders.texts.sources import TextSource
from ground.stable import stable_hash

__all__ = ["files", "read"]

FILES: dict[str, SourceSplit] = {
    "mli_train_v1.jsonl": "train",
    "mli_dev_v1.jsonl": "validation",
    "mli_test_v1.jsonl": "test",
}
FIELDS = ("sentence1", "sentence2", "gold_label", "pairID")
LABELS = {"entailment": True, "contradiction": False}


def files(folder: Path) -> list[Path]:
    """Return the files of a folder that are MedNLI's, train first."""
    return [path for name in FILES if (path := folder / name).is_file()]


def read(folder: Path, source: TextSource, tally: Tally) -> Iterator[NliItem]:
    """Yield entailed and contradicted hypotheses; neutral ones are counted and left out (MedHal, section 3.4).

    A premise has one hypothesis of each label; it is the item's document, so that a split keeps them together.

    Raises:
        InputError: no file, or a file of another layout.
    """
    name = source.source
    for path in files_of(source.name, folder, files(folder), ", ".join(FILES)):
        for _, row in objects_in_lines(path, FIELDS, name, tally):
            tally.read[name] += 1
            values = [row[field] for field in FIELDS]
            premise, hypothesis, label, pair_id = (value.strip() if isinstance(value, str) else "" for value in values)
            if not (premise and hypothesis and pair_id):
                tally.drop(name, "malformed_row")
            elif label not in LABELS:
                tally.drop(name, "neutral" if label == "neutral" else "no_label")
            else:
                document = f"{stable_hash(0, 'premise', premise):016x}"
                origin = Origin(name, pair_id, document, FILES[path.name])
                yield NliItem(origin, premise, hypothesis, LABELS[label])
