"""Build MedHal: pairs of every source, judged, written, and sorted into versions; in bounded memory.

Two passes. The first writes judged pairs to a temporary file as they come and notes some fifty bytes for each; then
whole columns of these decide what repeats and which versions a pair belongs to; the second pass writes the rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from builders.cards import croissant_of, licence_of_sources
from builders.medhal.card import DESCRIPTION, card_of
from builders.medhal.counts import BuildReport, Judgements, report_of
from builders.medhal.feeds import Feed
from builders.medhal.items import Pair
from builders.medhal.rows import PART_SCHEMA, pair_rows
from builders.medhal.versions import Selection, select
from builders.shards import ShardWriter
from builders.texts.origin import Seeds, Tally
from builders.texts.shortcuts import LabelledText, shortcuts_of
from ground.contracts.rows_text import MEDHAL_SCHEMA
from ground.errors import InputError
from ground.flow.manifest import LicenceTier, manifest_of, to_json
from ground.settings import MedhalSettings
from ground.stable import hash_of_joined
from ground.storage.files import atomic_directory, sha256_of, write_text

__all__ = ["DATASET", "Provenance", "build_medhal"]

DATASET = "medhal"
BATCH_PAIRS = 128
ROW_GROUP = 500  # rows may hold articles of 30,000 characters and more, and three splits wait side by side
PART = ".judged.parquet"


@dataclass(frozen=True)
class Provenance:
    """How the rows are made: what the manifest says beside inputs and settings.

    Attributes:
        engine: ``rules`` or ``lm``.
        tier: of the dataset: that of its most closely held source.
        seeds: of documents and of patients.
        model: what decides a language model's answers; empty under the rules.
    """

    engine: str
    tier: LicenceTier
    seeds: Seeds
    model: Mapping[str, Any] = field(default_factory=dict)


def build_medhal(
    feeds: Sequence[Feed],
    folder: Path,
    settings: MedhalSettings,
    provenance: Provenance,
    tally: Tally,
    advance: Callable[[str, int], None] = lambda _source, _pairs: None,
    batch_pairs: int = BATCH_PAIRS,
) -> BuildReport:
    """Write a dataset folder, whole or not at all; the same feeds and settings give the same bytes.

    Args:
        feeds: one for each source, in the order of the source table.
        folder: the dataset's; one that is there is replaced.
        settings: what decides the rows.
        provenance: how they are made.
        tally: counts; the feeds hold the same one.
        advance: is told the source and the number of pairs that were judged since the last call.
        batch_pairs: pairs that are judged and held at once; it changes no byte.

    Raises:
        InputError: no pair could be made, or a source is not of its layout.
    """
    index: list[pl.DataFrame] = []
    judgements = Judgements(asked=settings.judge)
    with atomic_directory(folder) as work:
        part = work / PART
        with pq.ParquetWriter(part, PART_SCHEMA, compression="lz4") as writer:
            for feed in feeds:
                for pairs in _judged(feed, judgements, tally, advance, batch_pairs):
                    rows, lines = pair_rows(pairs, feed, provenance.seeds, settings.max_chars)
                    writer.write_table(rows)
                    index.append(lines)
        selection = select(index)
        for (source, reason), n in selection.dropped.items():
            tally.drop(source, reason, n)
        _require_pairs(selection, tally)
        _write_rows(part, work / "data", selection)
        part.unlink()
        shortcuts = [shortcut.as_dict() for shortcut in shortcuts_of(_labelled_texts(work / "data"))]
        report = report_of(feeds, selection, tally, judgements, shortcuts)
        _write_papers(work, feeds, settings, provenance, report)
    return report


def _judged(
    feed: Feed, judgements: Judgements, tally: Tally, advance: Callable[[str, int], None], size: int
) -> Iterator[list[Pair]]:
    """Yield batches of the pairs whose labels the judge confirms; count the others."""
    name, pairs = feed.source.source, feed.pairs()
    while batch := list(islice(pairs, size)):
        refusals = feed.judge.agree(batch) if judgements.asked and feed.judge is not None else [None] * len(batch)
        confirmed = [pair for pair, refusal in zip(batch, refusals, strict=True) if refusal is None]
        for refusal in refusals:
            if refusal is not None:
                tally.drop(name, refusal.reason)
        judgements.judged[name] += len(batch)
        judgements.confirmed[name] += len(confirmed)
        advance(name, len(batch))
        yield confirmed


def _require_pairs(selection: Selection, tally: Tally) -> None:
    if selection.pairs["kept"].any():
        return
    reasons = Counter(tally.reasons()).most_common(3)
    raise InputError(
        "no pair could be made",
        found="; ".join(f"{reason} ({n})" for reason, n in reasons) or "no item in the sources",
        expected="items of the wanted splits that the engine can turn into statements",
        do="name other sources, or use every split of them: --splits all",
    )


def _write_rows(part: Path, folder: Path, selection: Selection) -> None:
    """Write the kept rows with their versions; a pair is two rows side by side."""
    begin = 0
    with ShardWriter(folder, MEDHAL_SCHEMA, row_group=ROW_GROUP) as writer, pq.ParquetFile(part) as source:
        # One row group at a time: `iter_batches` reads ahead of what is written, over more and more of a large file.
        for group in range(source.num_row_groups):
            table = source.read_row_group(group)
            pairs = selection.pairs[begin : begin + table.num_rows // 2]
            for name in ("length_filtered", "balanced"):
                table = table.append_column(f"in_{name}", pa.array(np.repeat(pairs[name].to_numpy(), 2)))
            writer.write(table.filter(pa.array(np.repeat(pairs["kept"].to_numpy(), 2))))
            begin += pairs.height


def _labelled_texts(folder: Path) -> Iterator[LabelledText]:
    """Yield what tells factual statements from others, by source; rows over one context are of one document."""
    for file in sorted(folder.glob("*.parquet")):
        for group in range(pq.read_metadata(file).num_row_groups):
            columns = ["source", "pair_id", "context", "statement", "label"]
            for row in pq.ParquetFile(file).read_row_group(group, columns=columns).to_pylist():
                document = row["pair_id"] if row["context"] is None else str(hash_of_joined(row["context"]))
                yield LabelledText(row["source"], document, row["statement"], not row["label"])


def _write_papers(
    folder: Path, feeds: Sequence[Feed], settings: MedhalSettings, provenance: Provenance, report: BuildReport
) -> None:
    """Write card, croissant.json and manifest beside the data."""
    write_text(folder / "README.md", card_of(feeds, settings, provenance.engine, provenance.tier, report))
    licence = licence_of_sources(provenance.tier, {feed.source.name: feed.licence for feed in feeds})
    data = sorted((folder / "data").glob("*.parquet"))
    manifest = manifest_of(
        DATASET,
        inputs=[entry for feed in feeds for entry in feed.inputs],
        settings={
            **settings.model_dump(mode="json"),
            "engine": provenance.engine,
            "sources": [feed.source.source for feed in feeds],
            "seed_of_patients": provenance.seeds.patients,
            "split_ends": list(provenance.seeds.ends),
        },
        seed=settings.seed,
        kept={"rows": report.rows, "files": {file.relative_to(folder).as_posix(): sha256_of(file) for file in data}},
        dropped=report.dropped,
        tier=provenance.tier,
    )
    manifest["shortcuts"] = report.shortcuts
    described = croissant_of(manifest, DESCRIPTION, {"data": MEDHAL_SCHEMA}, licence)
    write_text(folder / "croissant.json", to_json(described))
    manifest["language_model"] = dict(provenance.model) or None
    write_text(folder / "manifest.json", to_json(manifest))
