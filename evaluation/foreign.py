"""Test sets of other people as a dataset folder that detectors and validators are evaluated on alike.

Each layout is read into one form: an output (a detector's statement) beside its input (a detector's context), and what
people say of it. A row that cannot be used is dropped and counted by reason; a label that is in no list is an error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, get_args

import polars as pl
from polars import selectors

from evaluation.agreement import LEVELS, majority
from evaluation.datasets import Kind
from evaluation.predictions import label_codes, write_predictions
from ground.contracts.rows_text import MedvalTask
from ground.contracts.taxonomy import error_categories, medval_tasks
from ground.errors import InputError
from ground.flow.manifest import LicenceTier, manifest_of, to_json
from ground.storage.files import atomic_path, private_directory, sha256_of, write_text
from ground.storage.foreign import READERS, Check, read_foreign, refuse_rows

__all__ = ["LAYOUTS", "ForeignTexts", "as_factuality", "known_task", "write_texts"]

TASKS = get_args(MedvalTask)
INSTRUCTIONS = {row["task"]: row["instruction"] for row in medval_tasks()}
TASK: MedvalTask = "dialogue2note"
"""What a pair is that names no task: a note made of what its input says."""
GRADE = "physician_risk_grade"
"""MedVAL-Bench's column of levels; with suffixes (``physician_risk_grade_a``) there is one for each physician."""
ASSESSMENT = "physician_error_assessment"
# MedNLI's labels; "-" is SNLI's for pairs without a majority.
NLI_LABELS = {"entailment": True, "contradiction": False}
NLI_DROPPED = {"neutral": "neutral", "-": "no_gold_label"}
VERDICTS = {"supported": True, "not supported": False, "not addressed": False}
NOTHING = ("", "na", "nan", "none")
WRITE_NOTE = "Write a clinical note whose every sentence is medically correct and agrees with the others."
WRITE_SUPPORTED = "Write what the input supports."
NO_INPUT = "(There is no input. Judge the output by medical knowledge, and by whether it agrees with itself.)"
ERRORS = pl.List(pl.Struct(dict.fromkeys(("category", "text", "quote", "quoted_from"), pl.String)))
COLUMNS: Mapping[str, Any] = {
    **dict.fromkeys(("id", "task", "instruction", "input", "output", "reference", "explanation", "why"), pl.String),
    **{"label": pl.Boolean, "risk_level": pl.Int8, "errors": ERRORS},
}
"""What a reader gives: ``label`` is true where the output is factual or safe, ``why`` the reason to drop a row."""


@dataclass(frozen=True)
class ForeignTexts:
    """A folder that `write_texts` wrote.

    Attributes:
        folder: of a dataset of both kinds, all of its rows in the test split.
        leveled: its rows have risk levels; else they are only factual (safe) or not.
        ratings: of several physicians as `evaluation.sheets.read_sheets` returns them, else None.
        dropped: rows by reason.
    """

    folder: Path
    leveled: bool
    ratings: pl.DataFrame | None
    dropped: Mapping[str, int]

    def kind(self, asked: Kind) -> Kind:
        """Return by which labels answers are compared: a validator's are safe or unsafe where there are no levels."""
        return "medval" if asked == "medval" and self.leveled else "medhal"


def _shaped(frame: pl.DataFrame, **columns: Any) -> pl.DataFrame:
    """Return the columns of a reader; those that are not named are null."""
    known = {name: pl.lit(None) for name in COLUMNS} | columns
    return frame.select(**{name: known[name] for name in COLUMNS}).cast(pl.Schema(COLUMNS))


def _pairs(path: Path) -> pl.DataFrame:
    return _leveled(path, "risk_level")


def _medval_bench(path: Path) -> pl.DataFrame:
    return _leveled(_one_file(path), GRADE, several=True)


def _leveled(path: Path, column: str, *, several: bool = False) -> pl.DataFrame:
    """Read outputs with levels of risk; ``several``: columns with suffixes are those of other physicians."""
    frame = _table(path, ("input", "output"))
    graded = [name for name in frame.columns if name == column or (several and name.startswith(f"{column}_"))]
    if not graded:
        raise InputError("a column is missing", file=path, found=f"no {column}", expected=f"input, output, {column}")
    # Physicians wrote "4" and "Level 4"; a level that went through a table with gaps is a decimal.
    digits = {name: pl.col(name).str.strip_suffix(".0").str.extract_all(r"\d") for name in graded}
    for name, found in digits.items():
        no_level = (found.list.len() != 1) | ~found.list.first().is_in(["1", "2", "3", "4"]).fill_null(False)
        refuse_rows(frame, path, Check((pl.col(name) != "") & no_level, "a risk level is not valid", "1, 2, 3 or 4"))
    task = _or_empty(frame, "task").replace({"": TASK})
    refuse_rows(frame, path, Check(~task.is_in(TASKS), "a task is not known", ", ".join(TASKS)))
    levels = frame.select(**{name: found.list.first().cast(pl.Int8) for name, found in digits.items()})
    frame = frame.with_columns(level=_majority(levels), number=pl.int_range(1, pl.len() + 1).cast(pl.String))
    shaped = _shaped(
        frame,
        id=pl.coalesce(pl.when(name != "").then(name) for name in (*_there(frame, "#", "id"), pl.col("number"))),
        task=task,
        instruction=task.replace_strict(INSTRUCTIONS, default=None, return_dtype=pl.String),
        input="input",
        output="output",
        reference=_or_empty(frame, "reference_output"),
        why=pl.when(pl.col("level").is_null()).then(pl.lit("no_level")),
        label=pl.col("level") < 3,
        risk_level="level",
        errors=_or_empty(frame, ASSESSMENT).map_elements(_errors_named, ERRORS, skip_nulls=False),
    )
    raters = {name: name.removeprefix(column).strip("_ ") or "1" for name in graded}
    return shaped.with_columns(levels.rename(lambda name: f"rater {raters[name]}")) if len(graded) > 1 else shaped


def _majority(levels: pl.DataFrame) -> pl.Series:
    """Return the level of most physicians, of equal votes the higher risk (MedVAL, supplement S2.3)."""
    codes = levels.fill_null(0).to_numpy().T.astype("int64") - 1
    voted = pl.Series(majority(codes, LEVELS) + 1)
    return voted.set(voted > LEVELS, None)


def _errors_named(text: str | None) -> list[dict[str, str | None]]:
    """Return the errors of an assessment, a line for each; a category is the first of the taxonomy that it names."""
    lines = [line.strip() for line in (text or "").splitlines() if line.strip().lower().rstrip(".") not in NOTHING]
    names = {row["name"].lower(): row["category"] for row in error_categories()}
    return [
        {"category": next((names[name] for name in names if name in line.lower()), None), "text": line}
        for line in lines
    ]


def _medec(path: Path) -> pl.DataFrame:
    """Notes alone, with an error or none (Ben Abacha et al. 2024); what is wrong is their task."""
    return _medec_notes(path, pl.lit(None))


def _medec_corrected(path: Path) -> pl.DataFrame:
    """The same beside the corrected note as the input, for a judge that compares two texts."""
    corrected, text = pl.col("corrected text"), pl.col("text")
    return _medec_notes(path, pl.when(pl.col("flag") == "1").then(corrected).otherwise(text), "corrected text")


def _medec_notes(path: Path, given: pl.Expr, *more: str) -> pl.DataFrame:
    frame = _table(path := _one_file(path), ("text id", "text", "error flag", *more))
    name, text = pl.col("text id"), pl.col("text")
    empty = pl.all_horizontal(pl.all() == "")
    # A flag that went through a table with gaps is a decimal.
    frame = frame.with_columns(empty=empty, flag=pl.col("error flag").str.strip_suffix(".0"))
    empty, flag = pl.col("empty"), pl.col("flag")
    no_flag = ~flag.str.to_lowercase().is_in(["0", "1", *NOTHING])
    refuse_rows(
        frame,
        path,
        Check(~empty & ((name == "") | name.is_duplicated()), "a note without an identifier of its own", "each once"),
        Check(~empty & no_flag, "a flag that is neither 0 nor 1", "Error Flag: 0 or 1"),
    )
    whys = {
        "empty_record": empty,
        "no_text": text == "",
        "no_label": ~flag.is_in(["0", "1"]),
        "no_correction": (flag == "1") & given.cast(pl.String).str.to_lowercase().is_in(NOTHING),
    }

    def of_errors(column: str) -> pl.Expr:
        value = _or_empty(frame, column)
        return pl.when((flag == "1") & ~value.str.to_lowercase().is_in(NOTHING)).then(value)

    return _shaped(
        frame,
        id="text id",
        task=pl.coalesce(of_errors("error type").str.to_lowercase(), pl.lit("no error")),
        instruction=pl.lit(WRITE_NOTE),
        input=given,
        output="text",
        explanation=of_errors("corrected sentence"),
        why=pl.coalesce(pl.when(bad).then(pl.lit(why)) for why, bad in whys.items()),
        label=flag == "0",
    )


def _verifact_bhc(folder: Path) -> pl.DataFrame:
    statements = _table(folder / "propositions" / "propositions.csv.gz", ("proposition_id", "text", "subject_id"))
    truth = _table(folder / "propositions" / "human_verdicts.csv.gz", ("proposition_id", "human_gt"))
    notes = _table(folder / "reference_ehr" / "ehr_noteevents.csv.gz", ("subject_id", "text"))
    records = notes.group_by("subject_id", maintain_order=True).agg(record=pl.col("text").str.join("\n\n"))
    joined = statements.join(truth.select("proposition_id", "human_gt"), on="proposition_id")
    joined = joined.join(records, on="subject_id").sort("subject_id", maintain_order=True)
    if missing := statements.height - joined.height:
        found = f"{missing} of {statements.height}"
        raise InputError("statements without a verdict or a record", file=folder, found=found)
    verdict = pl.col("human_gt").str.to_lowercase().str.replace_all("_", " ")
    label = verdict.replace_strict(VERDICTS, default=None, return_dtype=pl.Boolean)
    return _shaped(
        joined,
        id="proposition_id",
        task=pl.lit(TASK),
        instruction=pl.lit(WRITE_SUPPORTED),
        input="record",
        output="text",
        why=pl.when(label.is_null()).then(pl.lit("no_label")),
        label=label,
    )


def _nli(path: Path) -> pl.DataFrame:
    """MedNLI's JSON lines: entailment is factual, contradiction is not, neutral is dropped (MedHal, 4.4.1)."""
    frame = _records(path, "sentence1", "sentence2", "gold_label")
    label, known = pl.col("gold_label").cast(pl.String, strict=False), [*NLI_LABELS, *NLI_DROPPED]
    bad = label.is_in(known).not_().fill_null(True)
    refuse_rows(frame, path, Check(bad, "an unknown label", f"gold_label: {', '.join(known)}"))
    return _shaped(
        _texts(frame, path, label.is_in(list(NLI_DROPPED)), input=("sentence1",), output=("sentence2",)),
        id="id",
        task=pl.lit("nli"),
        instruction=pl.lit(WRITE_SUPPORTED),
        input="input",
        output="output",
        why=label.replace_strict(NLI_DROPPED, default=None, return_dtype=pl.String),
        label=label.replace_strict(NLI_LABELS, default=None, return_dtype=pl.Boolean),
    )


def _summary(path: Path) -> pl.DataFrame:
    """JSON lines of a document (``document`` or ``text``) and its ``summary``.

    ``label`` (true: factual) says it directly; ``labels`` is a list of marked errors, and a summary with any is not
    factual (MedHal, 4.4.2, on Hegselmann et al. 2024).
    """
    frame = _records(path, "document", "text", "summary", "label", "labels")
    if not isinstance(marks := frame["labels"].dtype, pl.List | pl.Null):
        raise InputError("`labels` is not a list", file=path, found=str(marks), expected="a list of marked errors")
    unmarked = pl.col("labels").cast(pl.List(pl.Null), strict=False) if marks == pl.Null else pl.col("labels")
    frame = frame.with_columns(said=label_codes(frame["label"], "medhal", path) == 0)
    label = pl.coalesce("said", unmarked.list.len() == 0)
    return _shaped(
        _texts(frame, path, pl.lit(False), input=("document", "text"), output=("summary",)),
        id="id",
        task=pl.lit("summarization"),
        instruction=pl.lit("Summarize the input."),
        input="input",
        output="output",
        why=pl.when(label.is_null()).then(pl.lit("no_label")),
        label=label,
    )


LAYOUTS: Mapping[str, Callable[[Path], pl.DataFrame]] = {
    "pairs": _pairs,
    "medval_bench": _medval_bench,
    "medec": _medec,
    "medec_corrected": _medec_corrected,
    "nli": _nli,
    "summary": _summary,
    "verifact_bhc": _verifact_bhc,
}
"""``pairs`` (input, output, risk_level; where they are known id and task), ``medval_bench`` (MedVAL-Bench), ``medec``
(MEDEC's notes; ``medec_corrected`` has the corrected note as input), ``nli`` (MedNLI), ``summary`` (marked summaries)
and ``verifact_bhc`` (VeriFact-BHC: statements on a stay, beside the patient's other notes)."""


def write_texts(path: Path, layout: str, folder: Path, tier: LicenceTier = "credentialed") -> ForeignTexts:
    """Read other people's texts and write them as a dataset folder of both kinds, all rows in the test split.

    Args:
        path: a file, or a folder where the layout is one.
        layout: of `LAYOUTS`.
        folder: takes ``data/test-00000.parquet`` and a manifest.
        tier: ``open`` where the texts may be sent to any endpoint.

    Raises:
        InputError: there are no such texts, or they are not of the layout, or nobody says anything of any of them.
    """
    if not path.exists():
        expected = f"a file or folder, or PATH:LAYOUT with {', '.join(LAYOUTS)}"
        raise InputError("there are no such texts", file=path, expected=expected)
    read = LAYOUTS[layout](path)
    kept = read.filter(pl.col("why").is_null())
    if kept.is_empty():
        raise InputError("no text can be used", file=path, found=f"{read.height:,} rows, none with texts and a label")
    twice = pl.col("id").is_duplicated()
    refuse_rows(kept, path, Check(twice, "two texts have one id", "an id of its own for each, or none at all"))
    raters = [name for name in kept.columns if name.startswith("rater ")]
    rows = kept.select(
        *COLUMNS,
        pair_id="id",
        triple_id="id",
        context="input",
        statement="output",
        reasoning=pl.lit(None, pl.String),
        subject_id=pl.lit(None, pl.Int64),
        split=pl.lit("test"),
    ).with_columns(pl.col("input").fill_null(NO_INPUT))
    file = private_directory(folder / "data") / "test-00000.parquet"
    with atomic_path(file) as temporary:
        rows.drop("why").write_parquet(temporary)
    dropped = Counter(read["why"].drop_nulls())
    manifest = manifest_of(
        "texts",
        inputs=[
            {"source": layout, "file": file.name, "bytes": file.stat().st_size, "sha256": sha256_of(file)}
            for file in ([path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file()))
        ],
        settings={"layout": layout},
        seed=0,
        kept={"rows": rows.height, "files": {file.relative_to(folder).as_posix(): sha256_of(file)}},
        dropped=dropped,
        tier=tier,
    )
    write_text(folder / "manifest.json", to_json(manifest))
    ratings = _ratings(kept, raters) if raters else None
    return ForeignTexts(folder, leveled=not kept["risk_level"].has_nulls(), ratings=ratings, dropped=dropped)


def _ratings(rows: pl.DataFrame, raters: list[str]) -> pl.DataFrame:
    """Return physicians' levels in the form of experts' sheets; errors stand with the first who graded the row."""
    long = rows.select("id", "errors", *raters).unpivot(raters, index=["id", "errors"], variable_name="model")
    long = long.rename({"value": "label"}).drop_nulls("label")
    first = pl.int_range(pl.len()).over("id") == 0
    none = pl.lit([], dtype=ERRORS)
    return long.select(
        pl.col("id"),
        label=pl.col("label").cast(pl.Int64),
        errors=pl.when(first).then("errors").otherwise(none),
        model=pl.lit("physician ") + pl.col("model").str.strip_prefix("rater "),
    )


def as_factuality(predictions: Path, folder: Path, unsafe_from: int) -> Path:
    """Write a validator's answers as those of a detector: not factual from a risk level on; returns the file."""
    frame = read_foreign(predictions, "a prediction file", ("id", "label"))
    code = label_codes(frame["label"], "medval", predictions)
    known = [name for name in ("id", "explanation", "outcome", "model", "seed") if name in frame.columns]
    file = folder / f"safe-{predictions.stem}.parquet"
    write_predictions(file, frame.select(known).with_columns(label=code + 1 < unsafe_from), "medhal")
    return file


def known_task(name: str) -> MedvalTask:
    """Return a task of MedVAL; texts of other people are judged as notes where theirs is none."""
    return cast(MedvalTask, name) if name in TASKS else TASK


def _one_file(path: Path) -> Path:
    if path.is_file():
        return path
    files = [file for file in sorted(path.rglob("*")) if file.suffix in READERS]
    if len(files) != 1:
        raise InputError("one file of pairs is wanted", file=path, found=f"{len(files)} in the folder", do="name it")
    return files[0]


def _table(path: Path, columns: tuple[str, ...]) -> pl.DataFrame:
    """Read a table as trimmed text, empty where there is none; names of columns in lower case."""
    frame = read_foreign(path, "a file of texts", columns, any_case=True)
    return frame.select((~selectors.nested()).cast(pl.String).fill_null("").str.strip_chars())


def _there(frame: pl.DataFrame, *names: str) -> list[pl.Expr]:
    return [pl.col(name) for name in names if name in frame.columns]


def _or_empty(frame: pl.DataFrame, name: str) -> pl.Expr:
    """Return a column, empty where the table has none."""
    return pl.col(name) if name in frame.columns else pl.lit("")


def _records(path: Path, *names: str) -> pl.DataFrame:
    """Read JSON lines; fields that no record has are null, ``id`` numbers the records from 1."""
    frame = read_foreign(path, "the file of JSON lines", (), expected="one object a line")
    lacking = {name: None for name in names if name not in frame.columns}
    number = pl.int_range(1, pl.len() + 1)
    return frame.with_columns(**lacking, id=pl.format("{}-{}", pl.lit(path.stem), number))


def _texts(frame: pl.DataFrame, path: Path, unused: pl.Expr, **fields: tuple[str, ...]) -> pl.DataFrame:
    """Add texts, each the first of its fields that is there; rows that are used must have all."""
    of_kind = {name: [field for field in own if frame[field].dtype == pl.String] for name, own in fields.items()}
    frame = frame.with_columns(**{name: pl.coalesce(own or pl.lit(None, pl.String)) for name, own in of_kind.items()})
    for name, own in fields.items():
        bad = ~unused & (pl.col(name).fill_null("").str.strip_chars() == "")
        refuse_rows(frame, path, Check(bad, "a field is missing or empty", f"a text in {' or '.join(own)}"))
    return frame
