"""The rows that are evaluated: their labels, what is drawn together, and the parts that they are cut into."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from evaluation.classes import CLASSES, Classes, Kind
from evaluation.datasets import MedievalDataset, TextDataset
from evaluation.predictions import label_codes
from ground.contracts.rows import SUPPORT_LEVELS
from ground.contracts.splits import Split
from ground.errors import InputError

__all__ = ["Reference", "quadrant_rows", "read_reference", "reference_of"]

MANY_HOPS = 3
NO_CONTEXT = "no context"
UNNAMED = "not named"
"""The category of an error whose words name none."""

Codes = npt.NDArray[np.int64]
Cuts = Mapping[str, tuple[Codes, list[str]]]
"""By what rows are cut: the part of each, *shape* (n,), and the names of the parts in their order."""


@dataclass(frozen=True)
class Reference:
    """The rows of a split.

    Attributes:
        kind: of the rows.
        frame: ``id``, ``gold`` (code), ``words`` (of what was read), ``cluster`` (number), and the columns that the
            rows are cut by; of quadrants all others too, of MedHal ``explanation``, of texts ``categories`` of errors.
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
    def gold(self) -> Codes:
        """Codes of the labels. *Shape:* (n,)."""
        return self.frame["gold"].to_numpy()

    @property
    def clusters(self) -> Codes:
        """What each row is drawn with. *Shape:* (n,)."""
        return self.frame["cluster"].to_numpy()

    def keep(self, mask: npt.NDArray[np.bool_]) -> Reference:
        """Return some of the rows. ``mask`` has *shape* (n,)."""
        return replace(self, frame=self.frame.filter(pl.Series(mask)))

    def cuts(self) -> Cuts:
        """Cut the rows in every way: texts by task and length, quadrants by what the statement says and rests on."""
        words = self.frame["words"].to_numpy()
        if self.kind != "quadrants":
            return {"task": _parts(self.frame["task"]), "length": length_parts(words, 4)}
        of_admissions = words[np.unique(self.frame["hadm_id"].to_numpy(), return_index=True)[1]]
        predicate, support = self.frame["predicate"], self.frame["support_level"]
        counts = predicate.value_counts(sort=False).sort(["count", "predicate"], descending=[True, False])
        many = pl.col("hops") >= MANY_HOPS
        hops = pl.when(many).then(pl.lit(f"{MANY_HOPS} or more")).otherwise(pl.col("hops").cast(pl.String))
        return {
            "predicate": _parts(predicate, counts["predicate"].to_list()),
            "hops": _parts(self.frame.select(hops).to_series()),
            "context length": length_parts(words, 3, of_admissions),
            "support level": _parts(support, [level for level in SUPPORT_LEVELS if level in set(support)]),
        }


def _parts(values: pl.Series, order: Sequence[str] = ()) -> tuple[Codes, list[str]]:
    names = list(order) or sorted(values.unique())
    codes = values.replace_strict(names, list(range(len(names))), return_dtype=pl.Int64)
    return codes.to_numpy(), names


def length_parts(words: Codes, parts: int, of: Codes | None = None) -> tuple[Codes, list[str]]:
    """Cut rows into parts by their words: fewer where edges fall together, and no words are a part of their own.

    Args:
        words: *shape* (n,).
        parts: how many.
        of: the lengths that are parted evenly, such as those of the admissions; the rows' own where left out.

    Returns:
        The part of each row, *shape* (n,), and the names of the parts, the shortest first.
    """
    there = words if of is None else of
    there = there[there > 0]
    shares = np.arange(1, parts) / parts
    edges = np.unique(np.quantile(there, shares, method="inverted_cdf")) if len(there) else there
    filled, index = np.unique(np.where(words > 0, 1 + np.searchsorted(edges, words), 0), return_inverse=True)
    ends = [(int(words[index == at].min()), int(words[index == at].max())) for at in range(len(filled))]
    names = [f"{low:,} to {high:,} words" if low < high else f"{low:,} words" for low, high in ends]
    return index, [name if part else NO_CONTEXT for part, name in zip(filled, names, strict=True)]


def _words(*columns: str) -> pl.Expr:
    """Count the words (parts between white space) of texts together."""
    return pl.sum_horizontal(pl.col(name).fill_null("").str.count_matches(r"\S+").cast(pl.Int64) for name in columns)


def quadrant_rows(dataset: MedievalDataset, split: Split, column: str = "split") -> Reference:
    """Read a split of quadrants, ordered by id, with the words of their contexts; arguments and errors as `split_rows`.

    Raises:
        InputError, UsageError: as `MedievalDataset.split_rows`.
    """
    rows, contexts = dataset.split_rows(split, column), dataset.contexts.select("hadm_id", words=_words("context"))
    frame = rows.join(contexts, on="hadm_id", how="left", maintain_order="left")
    gold = _gold(frame["quadrant"], "quadrants")
    return Reference("quadrants", frame.with_columns(gold=gold, cluster="subject_id"), "patients")


def _gold(labels: pl.Series, kind: Kind) -> pl.Series:
    """Return the codes of the rows' labels.

    Raises:
        InputError: a row has none, or one outside the classes.
    """
    codes = label_codes(labels, kind, "the dataset")
    if none := codes.null_count():
        found = f"{none:,} of {len(codes):,} rows"
        raise InputError("rows have no label of the classes", found=found, expected=CLASSES[kind].expected)
    return codes


def read_reference(dataset: TextDataset, split: Split) -> Reference:
    """Read the labels of a split of texts.

    Raises:
        InputError: the split is empty, or a row has no label of the classes.
    """
    reference = _reference(dataset.scan(split), dataset.kind)
    if reference.frame.is_empty():
        raise InputError(f"the {split} split is empty", file=dataset.folder, do="choose another split")
    return reference


def reference_of(rows: Sequence[Mapping[str, Any]], kind: Kind) -> Reference:
    """Return the labels of rows in memory (``id``, the label, the pair, ``task``, ``subject_id``; texts optional)."""
    classes = CLASSES[kind]
    types: dict[str, Any] = dict.fromkeys(("id", classes.pair, "task", "explanation", *classes.texts), pl.String)
    types |= {classes.label: pl.Boolean if kind == "medhal" else pl.Int64, "subject_id": pl.Int64}
    columns = {name: [row.get(name) for row in rows] for name in types}
    return _reference(pl.DataFrame(columns, schema=types).lazy(), kind)


def _categories(lazy: pl.LazyFrame, kind: Kind) -> pl.Expr:
    """Return the categories of a row's errors; none where the rows do not say."""
    if kind != "medval" or "errors" not in lazy.collect_schema():
        return pl.lit([], pl.List(pl.String))
    return pl.col("errors").list.eval(pl.element().struct.field("category").fill_null(UNNAMED)).fill_null([])


def _reference(lazy: pl.LazyFrame, kind: Kind) -> Reference:
    classes = CLASSES[kind]
    # A patient may have many pairs; a row without a patient stands with its partner.
    together = pl.coalesce(pl.format("patient {}", pl.col("subject_id")), pl.format("pair {}", pl.col(classes.pair)))
    frame = lazy.select(
        *(pl.col(name).cast(pl.String) for name in ("id", "task", *(["explanation"] if kind == "medhal" else []))),
        pl.col("subject_id").is_not_null().alias("with_patient"),
        gold=classes.label,
        words=_words(*classes.texts),
        categories=_categories(lazy, kind),
        cluster=together.rank("dense").cast(pl.Int64) - 1,
    ).collect()
    of_patients, others = frame["with_patient"], classes.pair.removesuffix("_id") + "s"
    kinds = [*(["patients"] if of_patients.any() else []), *([] if of_patients.all() else [others])]
    coded = frame.drop("with_patient").with_columns(gold=_gold(frame["gold"], kind))
    return Reference(kind, coded, " and ".join(kinds))
