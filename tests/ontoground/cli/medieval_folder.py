"""A small MediEval dataset folder as the builder writes it, and a tiny decoder that knows its words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ground.contracts.rows import MEDIEVAL_SCHEMA
from ground.flow.manifest import LicenceTier
from ground.lm.tiny import tiny_decoder, tiny_tokenizer
from tests.manifests import write_manifest
from tests.training.worlds import small_dataset

__all__ = ["medieval_folder", "medieval_model"]


def _row(row: dict[str, Any], contexts: dict[int, str]) -> dict[str, Any]:
    blank = {
        name: None if field.nullable else [] if pa.types.is_list(field.type) else "none"
        for name, field in zip(MEDIEVAL_SCHEMA.names, MEDIEVAL_SCHEMA, strict=True)
    }
    return blank | row | {"context": contexts[row["hadm_id"]]}


def medieval_folder(folder: Path, licence_tier: LicenceTier = "open", admissions: int = 9) -> Path:
    """Write 12 rows an admission, two thirds of the admissions for training, one third for testing."""
    made = small_dataset(folder, admissions)
    contexts = dict(made.contexts.iter_rows())
    (folder / "data").mkdir(parents=True)
    for split in ("train", "test"):
        rows = [_row(row, contexts) for row in made.split_rows(split).iter_rows(named=True)]
        table = pa.Table.from_pylist(rows, schema=MEDIEVAL_SCHEMA)
        pq.write_table(table, folder / "data" / f"{split}-00000-of-00001.parquet")
    write_manifest(folder, "medieval", licence_tier)
    return folder


def medieval_model(folder: Path) -> Path:
    """Save a tiny decoder with random weights; return its folder."""
    made = small_dataset(folder)
    texts = made.contexts["context"].to_list() + made.rows["statement"].to_list()
    return tiny_decoder("llama", tiny_tokenizer(texts, folder), folder)
