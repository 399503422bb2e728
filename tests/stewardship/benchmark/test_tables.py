"""Tables of labels: four formats hold the same cells, unchanged, and what cannot be read says where."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from datetime import date, datetime
from pathlib import Path

import polars as pl
import pytest
import xlsxwriter  # type: ignore[import-untyped]
from hypothesis import given, settings
from hypothesis import strategies as st

from ground.contracts.labels import LabelKind, parse_label
from ground.errors import InputError, UsageError
from stewardship.benchmark.tables import read_cells, read_label_table

# What a table reader of the usual kind changes: words that it takes for a missing value, numbers, dates.
CELLS = [
    *("N/A", "NA", "nan", "NaN", "null", "None", "n/a", "unknown", "-", "True"),
    *("38", "38.0", "007", "-0.0943", "1e5", "25.2380", "1,434", "0.1", "78.1 ml/hr"),
    *("03/21/2006", "2006-03-21", "('14 weeks', '1 days')", 'a "quoted", cell', " two\nlines ", "ß–é"),
]


def write(file: Path, rows: list[dict[str, str | None]]) -> Path:
    """Write a table of text cells in the format that the name says."""
    names = list(rows[0])
    if file.suffix == ".xlsx":
        with xlsxwriter.Workbook(file) as book:
            sheet = book.add_worksheet()
            head: dict[str, str | None] = {name: name for name in names}
            for line, row in enumerate([head, *rows]):
                for column, name in enumerate(names):
                    if (cell := row[name]) is not None:
                        sheet.write_string(line, column, cell)
    elif file.suffix == ".parquet":
        pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String)).write_parquet(file)
    elif file.suffix == ".jsonl":
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    else:
        text = io.StringIO(newline="")
        writer = csv.writer(text, delimiter="\t" if ".tsv" in file.name else ",")
        writer.writerows([names, *([row[name] or "" for name in names] for row in rows)])
        content = text.getvalue().encode()
        file.write_bytes(gzip.compress(content) if file.suffix == ".gz" else content)
    return file


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".tsv", ".xlsx", ".parquet", ".jsonl"])
def test_every_format_holds_the_same_cells(tmp_path: Path, suffix: str) -> None:
    rows: list[dict[str, str | None]] = [{"uid": str(n), "label": cell} for n, cell in enumerate(CELLS)]
    rows += [{"uid": "empty", "label": None}]
    result = read_cells(write(tmp_path / f"labels{suffix}", rows))
    assert result["label"].to_list() == [*CELLS, None]
    kinds = [parse_label(cell).kind for cell in result["label"]]
    assert kinds[:2] == [LabelKind.ABSTENTION] * 2 and kinds[2:6] == [LabelKind.UNPARSEABLE] * 4
    assert kinds[-1] is LabelKind.MISSING


@settings(max_examples=25, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"])), min_size=1, max_size=6))
def test_csv_and_jsonl_hold_any_text(tmp_path_factory: pytest.TempPathFactory, cells: list[str]) -> None:
    folder = tmp_path_factory.mktemp("cells")
    rows: list[dict[str, str | None]] = [{"uid": str(n), "label": cell} for n, cell in enumerate(cells)]
    wanted = [cell if cell.strip() else None for cell in cells]
    for name in ("a.csv", "a.jsonl"):
        assert read_cells(write(folder / name, rows))["label"].to_list() == wanted


def test_numbers_and_dates_of_excel_keep_their_value(tmp_path: Path) -> None:
    written = [38, 38.5, -0.0943, 1.23e-10, 0.1234567890123457, 1 / 3, 1e20, 1234567890123, True]
    with xlsxwriter.Workbook(tmp_path / "a.xlsx") as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["uid", "label"])
        for line, value in enumerate(written, start=1):
            sheet.write_row(line, 0, [line, value])
        day = book.add_format({"num_format": "mm/dd/yyyy"})
        sheet.write_number(20, 0, 20)
        sheet.write_datetime(20, 1, datetime(2006, 3, 21), day)
        sheet.write_blank(30, 0, None, day)  # formatted only: no row
    result = read_cells(tmp_path / "a.xlsx")
    assert result["uid"].to_list() == [*map(str, range(1, 10)), "20"]
    assert result["label"][0] == "38" and result["label"][8] == "true"
    assert [float(cell) for cell in result["label"][:8]] == pytest.approx([float(n) for n in written[:8]], rel=1e-15)
    assert parse_label(result["label"][9]).day == date(2006, 3, 21)


def test_typed_columns_of_parquet_and_jsonl_are_text(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "uid": [1.0, 2.0],
            "number": [38.0, 0.1],
            "nothing": [float("nan"), None],
            "day": [date(2006, 3, 21), None],
            "nested": [{"ground_truth": ["1", "2"]}, {"ground_truth": []}],
            "listed": [["a"], None],
        }
    )
    frame.write_parquet(tmp_path / "a.parquet")
    result = read_cells(tmp_path / "a.parquet")
    assert result.rows() == [
        ("1", "38", "NaN", "2006-03-21", '{"ground_truth": ["1", "2"]}', '["a"]'),
        ("2", "0.1", None, None, '{"ground_truth": []}', None),
    ]
    (tmp_path / "a.jsonl").write_text('{"uid": 1, "label": 25.2380}\n\n{"uid": 2, "label": null}\n{"uid": true}\n')
    assert read_cells(tmp_path / "a.jsonl").rows() == [("1", "25.2380"), ("2", None), ("true", None)]


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"\xef\xbb\xbfuid,label\r\n1,N/A\r\n\r\n2,\r\n")
    assert read_cells(tmp_path / "a.csv").to_dict(as_series=False) == {"uid": ["1", "2"], "label": ["N/A", None]}


@pytest.mark.parametrize(
    ("name", "content", "what", "line"),
    [
        ("a.csv", b"uid,label\n1,5\n2\n", "more or fewer cells", 3),
        ("a.csv", b"\xef\xbb\xbfuid;label\r\n1;4,5\r\n", "not divided by commas", 1),
        ("a.csv", b"uid\tlabel\n1\t4.5\n", "not divided by commas", 1),
        ("a.tsv", b"uid;label\n1;4\n", "not divided by commas", 1),
        ("a.csv", b'uid,label\n"1\n1",5\n2,4,4\n', "more or fewer cells", 4),
        ("a.csv", b'uid,label\n1,5\n2,"5\n3,6\n', "no CSV", 3),
        ("a.csv", b"uid,uid\n1,5\n", "one name", None),
        ("a.csv", b"", "empty", None),
        ("a.csv", "uid,label\n1,é\n".encode("latin-1"), "cannot be read", None),
        ("a.csv.gz", b"uid,label\n", "cannot be read", None),
        ("a.xlsx", b"uid,label\n", "cannot be read", None),
        ("a.parquet", b"uid,label\n", "cannot be read", None),
        ("a.jsonl", b'{"uid": 1}\n{"uid": \n', "not JSON", 2),
        ("a.jsonl", b"[1]\n", "not a JSON object", 1),
        ("a.jsonl", b'{"uid": 1, "uid": 2}\n', "a key twice", 1),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(
    tmp_path: Path, name: str, content: bytes, what: str, line: int | None
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=what) as refused:
        read_cells(tmp_path / name)
    assert refused.value.line == line and str(tmp_path / name) in str(refused.value)


def test_errors_and_unnamed_columns_of_excel_are_refused(tmp_path: Path) -> None:
    with xlsxwriter.Workbook(tmp_path / "a.xlsx") as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["uid", "label"])
        sheet.write_number(1, 0, 1)
        sheet.write_formula(1, 1, "=NA()", None, "#N/A")
    with pytest.raises(InputError, match="an error of Excel's") as refused:
        read_cells(tmp_path / "a.xlsx")
    assert refused.value.line == 2 and "label" in str(refused.value)
    with xlsxwriter.Workbook(tmp_path / "b.xlsx") as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["uid", "label"])
        sheet.write_row(1, 0, [1, 2, "beside"])
    with pytest.raises(InputError, match="no name"):
        read_cells(tmp_path / "b.xlsx")


def test_a_table_without_a_head_does_not_show_its_first_row(tmp_path: Path) -> None:
    note = "A 61-year-old woman " + "with a history of hypertension " * 40
    (tmp_path / "a.csv").write_text(f"7,{note},25.24\n8,another note,3\n")
    for columns in (None, {"uid": "uid", "label": "7"}):
        with pytest.raises(InputError) as caught:
            read_label_table(tmp_path / "a.csv", columns=columns)
        assert caught.value.found == "3 cells, not all of them names of columns"


def test_keys_are_there_once_and_never_empty(tmp_path: Path) -> None:
    rows: list[dict[str, str | None]] = [{"uid": "1", "label": "5"}, {"uid": " 1 ", "label": "6"}]
    columns = {"uid": "uid", "label": "label"}
    with pytest.raises(InputError, match="twice") as refused:
        read_label_table(write(tmp_path / "a.csv", rows), columns=columns)
    assert "row 1, 2 below the head" in str(refused.value)
    with pytest.raises(InputError, match="no key"):
        read_label_table(write(tmp_path / "b.csv", [rows[0], {"uid": " ", "label": "6"}]), columns=columns)


def test_a_layout_is_found_by_its_columns_or_named(tmp_path: Path) -> None:
    row: dict[str, str | None] = {"uid": "7", "Calculator Name": "BMI", "Patient Note": "n", "Question": "q"}
    final = row | {"y_new": "N/A", "y_final": "38", "y* (Physician label)": None, "Physician Note (Optional)": None}
    table = read_label_table(write(tmp_path / "final.xlsx", [final]))
    assert (table.layout, len(table)) == ("final", 1)
    assert table.frame.select("uid", "stratum", "recomputed", "final", "physician").row(0) == (
        *("7", "BMI", "N/A", "38", None),
    )
    named = read_label_table(write(tmp_path / "a.csv", [row]), columns={"uid": "uid", "context": "Patient Note"})
    assert (named.layout, named.frame.columns) == ("named", ["uid", "context"])
    with pytest.raises(InputError, match="no known layout") as refused:
        read_label_table(tmp_path / "a.csv")
    assert "Patient Note" in str(refused.value)
    with pytest.raises(UsageError, match="no such layout"):
        read_label_table(tmp_path / "a.csv", layout="finals")
    with pytest.raises(UsageError, match="no such role"):
        read_label_table(tmp_path / "a.csv", columns={"id": "uid"})
    with pytest.raises(InputError, match="columns are missing"):
        read_label_table(tmp_path / "a.csv", columns={"uid": "id"})
    with pytest.raises(UsageError, match="no known ending"):
        read_cells(write(tmp_path / "a.txt", [row]))
    with pytest.raises(InputError, match="no such table"):
        read_cells(tmp_path / "b.csv")


@pytest.mark.real
def test_published_tables_hold_their_abstentions_and_reviews(real_data: Path) -> None:
    source = real_data / "stewardship" / "source"
    tables = {file.name.partition(".")[0]: read_label_table(file) for file in sorted(source.iterdir())}
    assert {name: (table.layout, len(table)) for name, table in tables.items()} == {
        "medcalc_v1_corrected": ("medcalc_corrected", 887),
        "original_test_labels": ("medcalc_v1_uid", 1047),
        "y_final_MD_evals_incorporated": ("final", 887),
        "y_new_and_sampled_MD_evals": ("phase3", 887),
    }
    sheet = tables["y_new_and_sampled_MD_evals"].frame
    recomputed = [parse_label(cell).kind for cell in sheet["recomputed"]]
    physician = [parse_label(cell, physician=True).kind for cell in sheet["physician"]]
    assert recomputed.count(LabelKind.ABSTENTION) == 66 and LabelKind.MISSING not in recomputed
    assert (physician.count(LabelKind.ABSTENTION), 887 - physician.count(LabelKind.MISSING)) == (16, 50)
    # The same rows in Excel and CSV: numbers, dates and abstentions are alike.
    final = tables["y_final_MD_evals_incorporated"].frame.select("uid", "final")
    both = final.join(tables["medcalc_v1_corrected"].frame.select("uid", "label"), on="uid")
    assert both.height == 887
    assert [parse_label(cell, physician=True) for cell in both["final"]] == [parse_label(c) for c in both["label"]]


def _far(file: Path) -> None:
    with xlsxwriter.Workbook(file) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["uid", "label"])
        sheet.write(1_048_575, 16_383, "x")


TABLE = b"uid,label\n1,5\n" * 1000
DAMAGED = {
    "cut.csv.gz": gzip.compress(TABLE)[:-20],
    "plain.csv.gz": TABLE,
    "packed.csv": gzip.compress(TABLE),
    "deep.jsonl": b'{"uid": "1", "label": ' + b"[" * 100_000,
    "half.jsonl": b'{"uid": "1", "label": "\\ud800"}\n',
    "broken.parquet": b"PAR1xxxxPAR1",
    "broken.xlsx": b"PK\x03\x04",
}


@pytest.mark.parametrize("name", [*DAMAGED, "far.xlsx"])
def test_a_damaged_table_is_an_input_error(tmp_path: Path, name: str) -> None:
    if name == "far.xlsx":
        _far(tmp_path / name)
    else:
        (tmp_path / name).write_bytes(DAMAGED[name])
    with pytest.raises(InputError, match=re.escape(name)):
        read_cells(tmp_path / name)
