"""Readers of question sets: layouts, splits, what is left out and why."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from builders.medhal.sources import READERS, medmcqa, medqa, pubmedqa
from builders.medhal.sources.question_files import cleaned, combined, needs_image
from builders.texts.origin import Tally
from builders.texts.sources import text_sources
from ground.errors import InputError
from tests.builders.medhal.question_files import mcq, medmcqa_row, medqa_row, source, write_lines

OPTIONS = ("Gout", "Septic arthritis", "Osteoarthritis", "Reactive arthritis")
REASON = """Uric acid crystals cause gout.

Incorrect Answers:
Answer B: Septic arthritis presents with fever and a high cell count.

Answer C: Osteoarthritis, see Figure B, is worse in the evening.

Answers D & E: These are rare here.

Bullet Summary:
Gout is caused by crystals."""


def test_there_is_a_reader_for_every_layout_of_files() -> None:
    layouts = {one.layout for one in text_sources().values() if one.dataset == "medhal"}
    assert layouts - {"workspace"} == set(READERS)


def test_medqa_reads_both_layouts_with_the_split_of_the_name(tmp_path: Path) -> None:
    write_lines(tmp_path / "test.jsonl", [medqa_row(7, mcq("A man has a swollen toe."), OPTIONS, 1)])
    row = medqa_row(0, mcq("A woman has a swollen knee."), OPTIONS)
    del row["realidx"]
    write_lines(tmp_path / "US" / "phrases_no_exclude_dev.jsonl", [row | {"meta_info": "step1"}])
    write_lines(tmp_path / "Mainland" / "train.jsonl", [row])
    items = list(medqa.read(tmp_path, source("medqa"), tally := Tally()))
    assert [(item.origin.inner_id, item.origin.split) for item in items] == [
        ("validation-0", "validation"),
        ("test-7", "test"),
    ]
    assert items[1].options == OPTIONS
    assert items[1].answer == 1
    assert items[1].context is None
    assert tally.read["medqa"] == 2


def test_medqa_counts_what_it_leaves_out(tmp_path: Path) -> None:
    question = mcq("A man has a swollen toe.")
    rows = [
        medqa_row(0, question, OPTIONS),
        medqa_row(1, question.upper(), OPTIONS),
        medqa_row(2, mcq("A photograph of the toe is shown."), OPTIONS),
        medqa_row(3, mcq("A man has pain."), ("Both A and B", "Gout", "Lupus", "Rickets")),
        medqa_row(4, mcq("A man has cramps."), OPTIONS) | {"answer_idx": "Z"},
    ]
    write_lines(tmp_path / "train.jsonl", rows)
    assert len(list(medqa.read(tmp_path, source("medqa"), tally := Tally()))) == 1
    assert tally.reasons() == {
        "medqa: answer_names_options": 1,
        "medqa: duplicate": 1,
        "medqa: malformed_row": 1,
        "medqa: needs_image": 1,
    }


def test_what_stands_in_a_split_that_is_not_wanted_is_left_out_for_that_alone(tmp_path: Path) -> None:
    rows = [medqa_row(0, mcq("A photograph of the toe is shown."), OPTIONS), medqa_row(1, mcq("Cramps."), OPTIONS)]
    write_lines(tmp_path / "dev.jsonl", rows)
    write_lines(tmp_path / "train.jsonl", [medqa_row(2, mcq("A picture of the knee is shown."), OPTIONS)])
    kept = list(medqa.read(tmp_path, source("medqa"), tally := Tally("train")))
    assert [item.origin.split for item in kept] == ["validation"], "the feed counts what could be read"
    assert tally.reasons() == {"medqa: needs_image": 1, "medqa: other_split": 1}


@pytest.mark.parametrize(
    ("right", "why_not"), [(0, ((1, "Septic arthritis presents with fever and a high cell count."),)), (1, ())]
)
def test_a_wrong_option_has_a_reason_only_where_one_paragraph_speaks_of_it_alone(
    right: int, why_not: tuple[tuple[int, str], ...], tmp_path: Path
) -> None:
    """None counts where the right letter is listed as wrong."""
    row = medqa_row(0, mcq("A man has a swollen toe."), (*OPTIONS, "Lupus"), right, reason=REASON)
    write_lines(tmp_path / "test.jsonl", [row])
    (item,) = medqa.read(tmp_path, source("medbullets"), Tally())
    assert (item.why, item.why_not) == ("Uric acid crystals cause gout.", why_not)


def test_medmcqa_counts_options_from_one_in_json_and_from_nought_in_parquet(tmp_path: Path) -> None:
    rows = [medmcqa_row("a", "Gout is caused by", OPTIONS, 4), medmcqa_row("b", "Lupus is seen in", OPTIONS, 1)]
    write_lines(tmp_path / "json" / "train.json", rows)
    (tmp_path / "hub").mkdir()
    hub = [medmcqa_row("a", "Gout is caused by", OPTIONS, 3), medmcqa_row("b", "Lupus is seen in", OPTIONS, 0)]
    hub += [medmcqa_row("c", "Rickets is seen in", OPTIONS, -1)]
    pq.write_table(pa.Table.from_pylist(hub), tmp_path / "hub" / "train-00000-of-00001.parquet")
    for folder in ("json", "hub"):
        items = list(medmcqa.read(tmp_path / folder, source("medmcqa"), tally := Tally()))
        assert [item.answer for item in items] == [3, 0]
        assert [item.origin.split for item in items] == ["train", "train"]
    assert tally.reasons() == {"medmcqa: no_answer_given": 1}


def test_medmcqa_takes_lines_saved_from_the_hub_as_counted_from_nought(tmp_path: Path) -> None:
    write_lines(tmp_path / "dev.json", [medmcqa_row(str(at), f"Sign {at} is", OPTIONS, at) for at in range(4)])
    items = list(medmcqa.read(tmp_path, source("medmcqa"), Tally()))
    assert [item.answer for item in items] == [0, 1, 2, 3]
    assert {item.origin.split for item in items} == {"validation"}


def test_medmcqa_refuses_a_file_that_counts_both_ways(tmp_path: Path) -> None:
    write_lines(tmp_path / "train.json", [medmcqa_row(str(at), f"Sign {at} is", OPTIONS, at) for at in (0, 4)])
    with pytest.raises(InputError, match="have an unknown form"):
        list(medmcqa.read(tmp_path, source("medmcqa"), Tally()))


def test_medmcqa_leaves_out_combinations_and_questions_without_an_answer(tmp_path: Path) -> None:
    untyped = medmcqa_row("f", "True is", ("ab", "cd", "Both A and B", "abd"), 1)
    del untyped["choice_type"]
    rows = [
        medmcqa_row("a", "Gout is seen in", OPTIONS, 4, exp="Uric acid."),
        medmcqa_row("b", "True is", ("ab", "cd", "bc", "abd"), 1, choice_type="multi"),
        medmcqa_row("c", "Lupus is", OPTIONS, None),
        medmcqa_row("d", "Sign is", ("Pain", "Heat", "Rash", "All of the above"), 4),
        medmcqa_row("e", "Sign is", ("Pain", "Heat", "", "Rash"), 1),
        untyped,
    ]
    write_lines(tmp_path / "train.json", rows)
    (item,) = medmcqa.read(tmp_path, source("medmcqa"), tally := Tally())
    assert (item.origin.inner_id, item.why) == ("a", "Uric acid.")
    assert tally.reasons() == {
        "medmcqa: answer_names_options": 1,
        "medmcqa: malformed_row": 1,
        "medmcqa: no_answer_given": 1,
        "medmcqa: several_suboptions": 2,
    }


def test_pubmedqa_keeps_the_abstract_apart_from_its_last_line(tmp_path: Path) -> None:
    question = "We gave zinc to 20 men.\nColds were shorter.\nDoes zinc shorten colds?"
    rows = [
        {"realidx": "11", "question": question, "answer": "yes", "answer_rationale": "Zinc helps."},
        {"realidx": "12", "question": question.replace("zinc", "tin"), "answer": "maybe", "answer_rationale": ""},
    ]
    write_lines(tmp_path / "train.jsonl", rows)
    (item,) = pubmedqa.read(tmp_path, source("pubmedqa"), tally := Tally())
    assert item.context == "We gave zinc to 20 men.\nColds were shorter."
    assert item.question == "Does zinc shorten colds?"
    assert (item.options, item.answer, item.why) == (("yes", "no"), 0, "Zinc helps.")
    assert tally.reasons() == {"pubmedqa: not_decidable": 1}


def test_pubmedqa_release_has_its_test_split_in_the_file_beside_it(tmp_path: Path) -> None:
    article = {"QUESTION": "Is zinc safe?", "CONTEXTS": ["One.", "Two."], "LONG_ANSWER": "No.", "final_decision": "no"}
    articles = {"1": article, "2": article | {"QUESTION": "Is tin safe?"}}
    (tmp_path / "ori_pqal.json").write_text(json.dumps(articles), encoding="utf-8")
    (tmp_path / "test_ground_truth.json").write_text(json.dumps({"2": "no"}), encoding="utf-8")
    items = list(pubmedqa.read(tmp_path, source("pubmedqa"), Tally()))
    assert [(item.origin.inner_id, item.origin.split, item.answer) for item in items] == [
        ("1", "train", 1),
        ("2", "test", 1),
    ]
    assert items[0].context == "One.\nTwo."


@pytest.mark.parametrize(
    ("layout", "file"),
    [
        ("medqa", "train.jsonl"),
        ("medmcqa", "train.json"),
        ("pubmedqa", "train.jsonl"),
        ("acm", "notes.jsonl"),
        ("mednli", "mli_train_v1.jsonl"),
    ],
)
def test_a_file_of_another_layout_is_refused_with_its_place(layout: str, file: str, tmp_path: Path) -> None:
    def read() -> list[object]:
        return list(READERS[layout].read(tmp_path, source(layout), Tally()))

    with pytest.raises(InputError, match=re.escape(f"there is no {source(layout).name} here")):
        read()
    path = write_lines(tmp_path / file, [{"text": "private words"}])
    for content, message in (
        (path.read_bytes(), "another layout"),
        (b"[1, 2", "another layout"),
        (b'{"question": "fi\xe8vre"}\n', "not UTF-8"),
    ):
        path.write_bytes(content)
        with pytest.raises(InputError, match=message) as caught:
            read()
        assert (caught.value.file, caught.value.line) == (str(path), 1)
        assert "private words" not in str(caught.value)


def test_a_bad_line_behind_a_good_one_is_counted(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "train.jsonl", [medqa_row(0, mcq("A man has a toe."), OPTIONS)])
    path.write_text(path.read_text(encoding="utf-8") + "[1, 2\n", encoding="utf-8")
    tally = Tally()
    assert len(list(medqa.read(tmp_path, source("medqa"), tally))) == 1
    assert (tally.reasons(), tally.read["medqa"]) == ({"medqa: malformed_row": 1}, 2)


@pytest.mark.parametrize(
    ("text", "needed"),
    [
        ("An ECG is shown. What is it?", True),
        ("A rash is seen (see image).", True),
        ("His eye is shown in Figure A.", True),
        ("The structure indicated by the arrow is", True),
        ("Identify the instrument", True),
        ("The instrument shown in fig is used for", True),
        ("Name the structure marked in the fig.", True),
        ("The sign (fig 2) is seen in", True),
        ("Laboratory studies are shown below: Hemoglobin: 9 g/dL. What is it?", False),
        ("A radiograph shows a fracture. What is it?", False),
        ("Imaging of the head is normal.", False),
        ("She is shown to have anemia.", False),
        ("He is given figs for constipation.", False),
    ],
)
def test_words_that_point_to_a_picture_are_told_from_what_was_seen(text: str, needed: bool) -> None:
    assert needs_image(text) is needed


def test_options_that_speak_of_options_are_told_from_others() -> None:
    assert all(combined(text) for text in ("All of the above", "Both A and B", "None", "a, b and c", "Any of these"))
    assert not any(combined(text) for text in ("Hepatitis B and C", "Both kidneys", "Vitamin A", "No treatment"))


def test_quotes_left_open_at_an_end_are_taken_off() -> None:
    assert cleaned('What is next?"') == "What is next?"
    assert cleaned('He says "no."') == 'He says "no."'
