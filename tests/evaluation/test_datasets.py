"""Dataset folders: opened with their columns checked, read by split, task, fact, and folds that are tested in turn."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from polars.testing import assert_frame_equal

from evaluation.datasets import TextDataset
from ground.contracts.splits import FOLDS, Split
from ground.errors import InputError, UsageError
from ground.storage.files import sha256_of
from tests.evaluation.world import dataset
from tests.training.sft.cases import medhal_dataset, medhal_rows, medval_dataset, medval_rows

SPLITS: tuple[Split, ...] = ("train", "validation", "test")
DATA = dataset(12)


@pytest.mark.parametrize("fold", DATA.folds)
def test_a_tested_fold_shares_no_patient_with_what_it_is_trained_on(fold: int) -> None:
    parts = [DATA.split_rows(split, f"fold_{fold}") for split in SPLITS]
    assert_frame_equal(pl.concat(parts).sort("id"), DATA.rows)
    patients = [set(part["subject_id"]) for part in parts]
    assert sum(map(len, patients)) == DATA.rows["subject_id"].n_unique()
    assert set(parts[2]["fold"]) == {fold} and len(set(parts[1]["fold"])) == 1


def test_all_folds_test_every_row_once() -> None:
    tested = pl.concat([DATA.split_rows("test", f"fold_{fold}") for fold in DATA.folds])
    assert_frame_equal(tested.sort("id"), DATA.split_rows("test", FOLDS))


def test_a_fold_that_is_not_there_and_training_on_all_are_refused() -> None:
    with pytest.raises(UsageError, match="no such fold"):
        DATA.split_rows("test", "fold_9")
    with pytest.raises(UsageError, match="one split"):
        DATA.split_rows("train", FOLDS)


def test_rows_are_read_by_split_and_task_in_order(tmp_path: Path) -> None:
    rows = [*medhal_rows(4), *medhal_rows(2, task="nli"), *medhal_rows(2, split="test")]
    folder = TextDataset.open(medhal_dataset(tmp_path / "d", rows), "medhal")
    assert [row["id"] for row in folder.rows("train")] == [row["id"] for row in rows[:6]]
    assert [row["id"] for row in folder.rows("train", ["nli"])] == [row["id"] for row in rows[4:6]]
    assert [folder.count(split) for split in ("train", "validation", "test")] == [6, 0, 2]
    assert folder.count("train", ["nli"]) == 2


def test_errors_of_a_medval_row_come_with_it(tmp_path: Path) -> None:
    folder = TextDataset.open(medval_dataset(tmp_path / "d", medval_rows(2)), "medval")
    clean, perturbed = folder.rows("train")
    assert clean["errors"] == []
    assert perturbed["errors"][0]["category"] == "missing_claim"


def test_a_folder_is_known_by_its_manifest_or_by_its_files(tmp_path: Path) -> None:
    folder = medhal_dataset(tmp_path / "d", medhal_rows(2))
    with_manifest = TextDataset.open(folder, "medhal")
    told = {"name": "d", "licence_tier": "open", "manifest_sha256": sha256_of(folder / "manifest.json")}
    assert with_manifest.identity == told
    assert with_manifest.licence_tier == "open"
    (folder / "manifest.json").unlink()
    without = TextDataset.open(folder, "medhal")
    assert set(without.identity) == {"name", "licence_tier", "files_sha256"}
    assert without.licence_tier == "credentialed"


def test_other_folders_and_other_columns_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no medhal dataset"):
        TextDataset.open(tmp_path, "medhal")
    folder = medhal_dataset(tmp_path / "d", medhal_rows(2))
    with pytest.raises(InputError, match="columns are missing"):
        TextDataset.open(folder, "medval")
    table = pq.read_table(folder / "data" / "train-00000.parquet")
    texts = table.set_column(table.schema.get_field_index("label"), "label", pa.array(["YES", "NO"]))
    pq.write_table(texts, folder / "data" / "train-00000.parquet")
    with pytest.raises(InputError, match="label has another type"):
        TextDataset.open(folder, "medhal")
