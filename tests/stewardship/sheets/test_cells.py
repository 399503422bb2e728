"""One answer cell: wholly a label, or refused with what to do; nothing that could mean two things is taken."""

from __future__ import annotations

from collections import Counter
from datetime import date
from pathlib import Path

import pytest

from ground.contracts.labels import LabelKind, LabelValue, parse_label
from stewardship.benchmark.folder import Benchmark
from stewardship.benchmark.tables import read_label_table
from stewardship.sheets.cells import read_answer
from stewardship.sheets.display import answer_kinds

FLUIDS = "What is the patient's maintenance fluid in mL/hr?"
FILTRATION = "What is the filtration rate in terms of mL/min/1.73 m²?"
PREGNANCY = "specifying the number of weeks and days (i.e. (4 weeks, 3 days))"


@pytest.mark.parametrize(
    ("text", "question", "value"),
    [
        ("78.1", FLUIDS, 78.1),
        ("78.1 ml/hr", FLUIDS, 78.1),
        ("78.1 mL per hour", FLUIDS, 78.1),
        (" 3 ", FLUIDS, 3),
        ("3 points", FLUIDS, 3),
        ("-0.0943", FLUIDS, -0.0943),
        ("\u22123", FLUIDS, -3),
        (".5", FLUIDS, 0.5),
        ("+25", FLUIDS, 25),
        ("2.5e1", FLUIDS, 25),
        ("56 mL/min/1.73 m²", FILTRATION, 56),
        ("56 ml/min/1.73m2", FILTRATION, 56),
        ("90 mmHg", "What is the mean pressure in mm Hg?", 90),
    ],
)
def test_a_number_may_have_the_unit_of_its_question(text: str, question: str, value: float) -> None:
    answer = read_answer(text, "number", question=question)
    assert (answer.value, answer.note, answer.problem) == (LabelValue.of(value), "", "")


@pytest.mark.parametrize(
    ("text", "problem", "do"),
    [
        ("4,4", "a comma that can be a decimal point", "4.4"),
        ("-0,31", "a comma that can be a decimal point", "-0.31"),
        ("03/21/2006", "a date where a number belongs", "write the number"),
        ("2006-03-21 00:00:00", "a date where a number belongs", "write the number"),
        ("2-Jan", "a date where a number belongs", "write the number"),
        ("5 or 6", "more than one number", "one number"),
        ("5-6", "more than one number", "one number"),
        ("11 (9-12)", "more than one number", "one number"),
        ("1,2,3", "more than one number", "one number"),
        ("<5", "a bound or an estimate", "or N/A"),
        ("~10", "a bound or an estimate", "or N/A"),
        ("about 5", "a bound or an estimate", "or N/A"),
        ("5?", "more than a number", "a comment"),
        ("= 5", "more than a number", "a comment"),
        ("78.1 L", "a unit that the question does not name", "in the question's unit"),
        ("10%", "a unit that the question does not name", "in the question's unit"),
        ("12 furlongs", "a unit that is not known", "in the question's unit"),
        ("14 weeks 1 day", "a length of time in weeks", "the number that is asked for"),
        ("five", "words that are neither a label nor N/A", "N/A"),
        ("see comment", "words that are neither a label nor N/A", "N/A"),
        ("none", "words that are neither a label nor N/A", "N/A"),
        ("#DIV/0!", "an error of the spreadsheet's", "type the answer"),
        ("1e999", "a number that is too large", "exponent"),
    ],
)
def test_what_is_no_single_number_is_refused_with_what_to_do(text: str, problem: str, do: str) -> None:
    answer = read_answer(text, "number", question=FLUIDS)
    assert answer.value is None
    assert answer.problem.startswith(problem) and do in answer.do


@pytest.mark.parametrize("kind", ["number", "date", "weeks", "category"])
@pytest.mark.parametrize("text", ["N/A", "n/a", "NA", "unknown", "Not applicable", "multiple", "Multiple"])
def test_abstentions_are_taken_and_other_spellings_are_noted(text: str, kind: str) -> None:
    answer = read_answer(text, kind, categories=("Q1", "Q2"))  # type: ignore[arg-type]
    assert answer.value == LabelValue(LabelKind.ABSTENTION)
    assert bool(answer.note) == (text != "N/A")


@pytest.mark.parametrize("kind", ["number", "date", "weeks", "category", "verdict"])
def test_an_empty_cell_is_not_reviewed_and_never_an_abstention(kind: str) -> None:
    for text in (None, "", "  ", "\n"):
        assert read_answer(text, kind).value == LabelValue(LabelKind.MISSING)  # type: ignore[arg-type]


def test_a_comma_that_marks_thousands_is_noted() -> None:
    answer = read_answer("1,434", "number", question=FLUIDS)
    assert answer.value == LabelValue.of(1434) and "1434" in answer.note


@pytest.mark.parametrize("text", ["03/21/2006", "3/21/2006", "2006-03-21", "2006/03/21", "2006-03-21 00:00:00"])
def test_a_date_is_read_from_text_and_from_a_date_cell(text: str) -> None:
    assert read_answer(text, "date").value == LabelValue.of(date(2006, 3, 21))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("15", "a number where a date belongs"),
        ("38797", "a number where a date belongs"),
        ("4,4", "a number where a date belongs"),
        ("21/03/2006", "no day of the calendar"),
        ("02/30/2006", "no day of the calendar"),
        ("3/21/06", "a date that can be read in several ways"),
        ("21.03.2006", "a date that can be read in several ways"),
        ("March 21, 2006", "a date that can be read in several ways"),
        ("08/31/2023 or 09/01/2023", "a date that can be read in several ways"),
        ("next spring", "no date"),
    ],
)
def test_what_is_no_single_date_is_refused(text: str, problem: str) -> None:
    answer = read_answer(text, "date")
    assert (answer.value, answer.problem) == (None, problem) and "MM/DD/YYYY" in answer.do


@pytest.mark.parametrize("text", ["14 weeks 1 day", "(14, 1)", "('14 weeks', '1 days')", "14w1d", "99 days"])
def test_weeks_and_days_are_days(text: str) -> None:
    assert read_answer(text, "weeks", question=PREGNANCY).value == LabelValue.of(99)


@pytest.mark.parametrize("text", ["99", "14.1", "14.5 weeks", "14+1"])
def test_a_bare_number_is_neither_weeks_nor_days(text: str) -> None:
    assert read_answer(text, "weeks", question=PREGNANCY).value is None


def test_a_misspelt_name_is_refused_and_the_nearest_is_named() -> None:
    names = ("Q1", "Q2", "Q3", "Q4")
    assert read_answer("q2", "category", categories=names).value == LabelValue.of("Q2")
    assert "did you mean Q3?" in read_answer("Q 3", "category", categories=names).do
    far = read_answer("supported", "category", categories=names)
    assert far.value is None and "list" in far.do
    assert read_answer("n/a", "verdict").value is None
    assert "did you mean disagree?" in read_answer("dissagree", "verdict").do


@pytest.mark.parametrize("text", ["1.0", "4.4"])
def test_a_grade_is_one_of_its_names_only(text: str) -> None:
    assert read_answer(text, "category", categories=("1", "2", "3", "4")).value is None


@pytest.mark.real
def test_every_published_label_and_every_cell_of_the_physicians_is_taken_for_what_it_is(
    real_data: Path, tmp_path: Path
) -> None:
    source = real_data / "stewardship" / "source"
    names = ("original_test_labels.csv.gz", "y_new_and_sampled_MD_evals.xlsx", "y_final_MD_evals_incorporated.xlsx")
    published, sheet, final = (read_label_table(source / name) for name in names)
    bench = Benchmark.adopt(tmp_path, "medcalc", [published], open_because="invented")
    kinds = answer_kinds(bench, bench.history.labels("original"))
    assert Counter(kinds.values()) == {"number": 987, "date": 40, "weeks": 20}
    questions = dict(bench.items.select("uid", "question").iter_rows())
    for uid, text in published.frame.select("uid", "label").iter_rows():
        assert read_answer(text, kinds[uid], question=questions[uid]).value == parse_label(text)
    noted = []
    for table in (sheet, final):
        answers = table.frame.drop_nulls("physician").select("uid", "physician").rows()
        assert len(answers) == 50
        for uid, text in answers:
            answer = read_answer(text, kinds[uid], question=questions[uid])
            assert answer.value == parse_label(text, physician=True)
            noted += [text] if answer.note else []
    assert noted == ["Not applicable", "Multiple"]
