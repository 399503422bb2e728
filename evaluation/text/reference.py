"""What is right: the labels of a split, what rows belong together, their task and the length of what was read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from evaluation.classes import CLASSES, Classes
from evaluation.slices import length_parts, words_of
from evaluation.text.dataset import Kind, Split, TextDataset
from ground.errors import InputError

__all__ = ["Reference", "read_reference", "reference_of"]

LENGTH_PARTS = 4
TEXTS: Mapping[Kind, tuple[str, ...]] = {"medhal": ("context",), "medval": ("input", "output")}


@dataclass(frozen=True)
class Reference:
    """The rows of a split, without their texts.

    Attributes:
        kind: of the rows.
        frame: ``id``, ``task``, ``gold`` (code), ``words`` (of the context; of input and output), ``cluster`` (number),
            and ``explanation`` (MedHal).
        clusters_are: what is drawn together in a bootstrap: ``patients``, ``pairs`` or ``triples``, or both.
    """

    kind: Kind
    frame: pl.DataFrame
    clusters_are: str

    @property
    def classes(self) -> Classes:
        """The classes of the labels."""
        return CLASSES[self.kind]

    @property
    def gold(self) -> npt.NDArray[np.int64]:
        """Codes of the labels. *Shape:* (n,)."""
        return self.frame["gold"].to_numpy()

    @property
    def tasks(self) -> list[str]:
        """The tasks that have rows, in the order of their names."""
        return sorted(self.frame["task"].unique().to_list())

    def keep(self, mask: npt.NDArray[np.bool_]) -> Reference:
        """Return some of the rows. ``mask`` has *shape* (n,)."""
        return replace(self, frame=self.frame.filter(pl.Series(mask)))

    def length_parts(self) -> tuple[npt.NDArray[np.int64], list[str]]:
        """Cut the rows into quarters by the number of words (`evaluation.slices.length_parts`)."""
        return length_parts(self.frame["words"].to_numpy(), LENGTH_PARTS)


def read_reference(dataset: TextDataset, split: Split) -> Reference:
    """Read the labels of a split.

    Raises:
        InputError: the split is empty.
    """
    lazy = pl.scan_parquet(list(dataset.files), glob=False).filter(pl.col("split") == split)
    reference = _reference(lazy, dataset.kind)
    if not reference.frame.height:
        raise InputError(f"the {split} split is empty", file=dataset.folder, do="choose another split")
    return reference


def reference_of(rows: Sequence[Mapping[str, Any]], kind: Kind) -> Reference:
    """Return the labels of rows in memory (``id``, the label, the pair, ``task``, ``subject_id``; texts optional)."""
    classes = CLASSES[kind]
    wanted = ("id", classes.pair, "task", "explanation", *TEXTS[kind])
    types: dict[str, Any] = dict.fromkeys(wanted, pl.String)
    types |= {classes.label: pl.Boolean if kind == "medhal" else pl.Int64, "subject_id": pl.Int64}
    columns = {name: [row.get(name) for row in rows] for name in types}
    return _reference(pl.DataFrame(columns, schema=types).lazy(), kind)


def _reference(lazy: pl.LazyFrame, kind: Kind) -> Reference:
    classes = CLASSES[kind]
    # A patient may have many pairs; a row without a patient stands with its partner.
    together = pl.coalesce(pl.format("patient {}", pl.col("subject_id")), pl.format("pair {}", pl.col(classes.pair)))
    frame = lazy.select(
        pl.col("id").cast(pl.String),
        pl.col("task").cast(pl.String),
        pl.col("subject_id").is_not_null().alias("with_patient"),
        gold=pl.col(classes.label)
        .replace_strict(dict(zip(classes.labels, range(classes.silent), strict=True)))
        .cast(pl.Int64),
        words=pl.sum_horizontal(words_of(name) for name in TEXTS[kind]),
        cluster=together.rank("dense").cast(pl.Int64) - 1,
        **({"explanation": pl.col("explanation").cast(pl.String)} if kind == "medhal" else {}),
    ).collect()
    of_patients, others = frame["with_patient"].any(), classes.pair.removesuffix("_id") + "s"
    kinds = [*(["patients"] if of_patients else []), *([] if frame["with_patient"].all() else [others])]
    return Reference(kind, frame.drop("with_patient"), " and ".join(kinds))
