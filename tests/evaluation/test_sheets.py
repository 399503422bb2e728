"""Sheets for experts: nothing in them tells a label, and what is filled in comes back whole or with its slips named."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from evaluation.datasets import TextDataset
from evaluation.sheets import COLUMNS, RATINGS, read_sheets, write_sheets
from ground.contracts.taxonomy import error_categories
from ground.errors import InputError, UsageError
from tests.training.sft.cases import medval_dataset, medval_rows


@pytest.fixture
def dataset(tmp_path: Path) -> TextDataset:
    rows: list[Any] = []
    for task in ("report2impression", "dialogue2note"):
        rows += medval_rows(40, split="test", task=task)
    for number, row in enumerate(rows):
        row["risk_level"] = 1 + number % 4
        row["input"] = f"- Takes {number} tablets."
    return TextDataset.open(medval_dataset(tmp_path / "medval", rows), "medval")


def filled(sheet: Path, name: str, **values: Any) -> Path:
    """An expert's copy of the CSV sheet, in the kind that the name asks for."""
    table = pl.read_csv(sheet.with_suffix(".csv"), infer_schema=False).with_columns(
        **{key: value if isinstance(value, pl.Expr) else pl.lit(value) for key, value in values.items()}
    )
    out = sheet.with_name(name)
    if out.suffix == ".xlsx":
        table.write_excel(out, worksheet=RATINGS)
    else:
        table.write_csv(out)
    return out


def test_items_are_spread_over_levels_and_tasks_and_show_one_output_of_an_input(
    dataset: TextDataset, tmp_path: Path
) -> None:
    written = write_sheets(dataset, tmp_path / "s" / "round1.xlsx", per_task=8)
    assert written["items"] == 16 and written["by_task"] == {"dialogue2note": 8, "report2impression": 8}
    key = pl.read_csv(written["key"])
    rows = pl.read_parquet(list(dataset.files)).filter(pl.col("id").is_in(key["id"].implode()))
    assert rows["triple_id"].n_unique() == 16
    assert sorted(rows.group_by("task", "risk_level").len()["len"].to_list()) == [2] * 8


def test_a_sheet_holds_no_label_and_no_name_of_a_row(dataset: TextDataset, tmp_path: Path) -> None:
    written = write_sheets(dataset, tmp_path / "round1.xlsx", per_task=8)
    table = pl.read_excel(written["sheet"], sheet_name=RATINGS, infer_schema_length=0)
    assert table.columns == list(COLUMNS)
    assert table.select(COLUMNS[4:]).null_count().row(0) == (16,) * len(COLUMNS[4:])
    everything = " ".join(str(cell) for row in table.rows() for cell in row) + Path(written["csv"]).read_text("utf-8")
    ids = pl.read_parquet(list(dataset.files))["id"].to_list()
    assert not any(name in everything for name in [*ids, "perturbed", "clean", "report2impression"])
    assert table["item"].n_unique() == 16
    # The order is not that of the dataset, where outputs of one input follow each other.
    order = pl.read_csv(written["key"])["id"].to_list()
    assert order != sorted(order, key=ids.index)
    assert stat.S_IMODE(Path(written["key"]).stat().st_mode) == 0o600


def test_the_same_seed_gives_the_same_sheet_and_another_gives_other_names(dataset: TextDataset, tmp_path: Path) -> None:
    first, second = (write_sheets(dataset, tmp_path / name / "s.xlsx", per_task=4) for name in ("a", "b"))
    assert Path(first["sheet"]).read_bytes() == Path(second["sheet"]).read_bytes()
    other = write_sheets(dataset, tmp_path / "c" / "s.xlsx", per_task=4, seed=7)
    names = [set(pl.read_csv(one["key"])["item"]) for one in (first, other)]
    assert names[0].isdisjoint(names[1])


def test_levels_and_categories_are_chosen_from_lists(dataset: TextDataset, tmp_path: Path) -> None:
    import zipfile

    written = write_sheets(dataset, tmp_path / "s.xlsx", per_task=2)
    with zipfile.ZipFile(written["sheet"]) as book:
        page = book.read("xl/worksheets/sheet2.xml").decode()
        words = book.read("xl/sharedStrings.xml").decode()
    assert page.count("<dataValidation ") == 7 and "1,2,3,4" in page and "Lists!$A$1:$A$11" in page
    assert all(category["name"] in words and category["means"] in words for category in error_categories())


@pytest.mark.parametrize("suffix", [".xlsx", ".csv"])
def test_a_filled_sheet_comes_back_as_predictions_of_its_rater(
    dataset: TextDataset, tmp_path: Path, suffix: str
) -> None:
    sheet = Path(write_sheets(dataset, tmp_path / "round1.xlsx", per_task=4)["sheet"])
    levels = ["1", "2", "3.0", "Level 4", None, "1", "2", "3"]
    anna = filled(
        sheet,
        f"anna{suffix}",
        risk_level=pl.Series(levels),
        error_1_category=pl.Series([None, "Missing claim", "missing  claim", "Other", None, None, None, None]),
        error_1_words=pl.Series([None, "a drug", None, "?", None, None, None, None]),
        comment=pl.Series(["fine", *[None] * 7]),
    )
    read = read_sheets([anna])
    assert read.ratings["label"].to_list() == [1, 2, 3, 4, None, 1, 2, 3]
    assert read.ratings["id"].to_list() == pl.read_csv(tmp_path / "round1.key.csv")["id"].to_list()
    assert set(read.ratings["model"]) == {"anna"} and read.ratings["explanation"][0] == "fine"
    assert read.ratings["outcome"].to_list().count("not_rated") == 1
    assert [one["category"] for errors in read.ratings["errors"] for one in errors] == [
        "missing_claim",
        "missing_claim",
        "other",
    ]
    assert read.notes == (
        f"anna{suffix}, row 6: no risk level",
        f"anna{suffix}, row 9: level 3 or 4 without an error named",
    )


def test_every_slip_is_named_by_file_and_row(dataset: TextDataset, tmp_path: Path) -> None:
    sheet = Path(write_sheets(dataset, tmp_path / "round1.xlsx", per_task=3)["sheet"])
    table = pl.read_csv(sheet.with_suffix(".csv"), infer_schema=False)
    items, outputs = table["item"].to_list(), table["output"].to_list()
    bad = filled(
        sheet,
        "ben.csv",
        item=pl.Series(["nobody", items[1], items[1], *items[3:]]),
        output=pl.Series([*outputs[:3], "Something else.", *outputs[4:]]),
        risk_level=pl.Series(["1", "1", "1", "1", "5", "1"]),
        error_1_category=pl.Series([None] * 5 + ["Typo"]),
        error_2_words=pl.Series([None] * 5 + ["a private text"]),
    )
    with pytest.raises(InputError) as caught:
        read_sheets([bad])
    for slip in (
        "ben.csv, row 2: an item that is not in the key",
        "ben.csv, row 4: the texts are not those of the item",
        "ben.csv, row 4: an item that stands twice",
        "ben.csv, row 5: the texts are not those of the item",
        "ben.csv, row 6: a risk level that is none of 1, 2, 3 and 4",
        "ben.csv, row 7: the category of error 1 is outside the taxonomy",
        "ben.csv, row 7: error 2 has words and no category",
    ):
        assert slip in str(caught.value)
    assert "private" not in str(caught.value)


def test_items_that_a_sheet_lacks_are_noted(dataset: TextDataset, tmp_path: Path) -> None:
    sheet = Path(write_sheets(dataset, tmp_path / "round1.xlsx", per_task=4)["sheet"])
    some = filled(sheet, "anna.csv", risk_level="1")
    pl.read_csv(some, infer_schema=False).head(5).write_csv(some, separator=";")
    assert read_sheets([some]).notes == ("anna.csv: 3 items of the key are not in the sheet",)


def test_a_key_is_needed_and_must_be_the_only_one(dataset: TextDataset, tmp_path: Path) -> None:
    sheet = Path(write_sheets(dataset, tmp_path / "round1.xlsx", per_task=2)["sheet"])
    anna = filled(sheet, "anna.csv", risk_level="1")
    write_sheets(dataset, tmp_path / "round2.xlsx", per_task=2)
    with pytest.raises(UsageError, match="key of the sheets is not known"):
        read_sheets([anna])
    assert read_sheets([anna], tmp_path / "round1.key.csv").ratings.height == 4
    with pytest.raises(InputError, match="key of the sheets cannot be read"):
        read_sheets([anna], anna.with_suffix(".nothing"))
    with pytest.raises(UsageError, match="there already"):
        write_sheets(dataset, tmp_path / "round1.xlsx")
    (tmp_path / "broken.xlsx").write_text("x")
    with pytest.raises(InputError, match="the sheet cannot be read"):
        read_sheets([tmp_path / "broken.xlsx"], tmp_path / "round1.key.csv")
