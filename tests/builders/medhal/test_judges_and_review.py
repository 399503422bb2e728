"""Judges that read by rules, the inputs of the manifest, and readers' verdicts in the card."""

from __future__ import annotations

from pathlib import Path

import pytest

from builders.medhal.build import Made, build_medhal
from builders.medhal.judges import RulesJudge
from builders.medhal.review import read_review
from builders.texts.inputs import MANY_FILES, file_inputs
from builders.texts.origin import Refusal, Seeds, Tally
from ground.errors import InputError
from ground.settings import MedhalSettings
from tests.builders.medhal.feed_world import feed, pair, rows_of


def test_the_rules_judge_reads_every_pair_by_itself() -> None:
    doubt = Refusal("judge_doubts")
    judge = RulesJudge(lambda one: doubt if one.origin.inner_id == "b" else None)
    pairs = [pair(name) for name in "abc"]
    assert judge.agree(pairs) == [None, doubt, None] == [judge.agree([one])[0] for one in pairs]


def test_a_file_is_an_input_by_name_and_content_wherever_it_lies(tmp_path: Path) -> None:
    entries = []
    for place in ("here", "there"):
        folder = tmp_path / place
        (folder / "data").mkdir(parents=True)
        (folder / "data" / "train.jsonl").write_text("{}\n")
        entries.append(file_inputs("medqa", folder, [folder / "data" / "train.jsonl"]))
    assert entries[0] == entries[1]
    assert (entries[0][0]["file"], entries[0][0]["bytes"], len(entries[0][0]["sha256"])) == ("data/train.jsonl", 3, 64)


def test_a_folder_of_many_files_is_one_input_that_changes_with_each_of_them(tmp_path: Path) -> None:
    (tmp_path / "text").mkdir()
    files = [tmp_path / "text" / f"text_{n}.txt" for n in range(MANY_FILES)]
    for file in files:
        file.write_text("a text\n")
    (before,) = file_inputs("sumpubmed", tmp_path, files)
    assert (before["file"], before["files"], before["bytes"]) == ("text/", MANY_FILES, 7 * MANY_FILES)
    assert file_inputs("sumpubmed", tmp_path, files[::-1]) == [before]
    files[3].write_text("a mess\n")
    (after,) = file_inputs("sumpubmed", tmp_path, files)
    assert after["sha256"] != before["sha256"] and after["bytes"] == before["bytes"]


def card(folder: Path, review: dict[str, bool]) -> str:
    """Build ten questions and return the card."""
    made = Made("rules", "open", Seeds(42, 42), {}, review)
    build_medhal([feed([pair(f"q{n}") for n in range(10)])], folder, MedhalSettings(), made, Tally())
    return (folder / "README.md").read_text()


def test_readers_verdicts_stand_beside_the_papers_and_other_builds_rows_do_not_count(tmp_path: Path) -> None:
    assert "| question_answering | 0.91 | – | – |" in card(tmp_path / "one", {})
    ids = rows_of(tmp_path / "one")["id"].to_pylist()[:4]
    sheet = tmp_path / "review.csv"
    lines = [f"{name},{verdict},{reader}" for name in ids for reader, verdict in ((1, "right"), (2, "Right"))]
    sheet.write_text(
        "\n".join(["id,verdict,reader", *lines, f"{ids[0]},doubtful,3", "medqa-0123456789abcdef-a,wrong,1"])
    )
    assert "| question_answering | 0.91 | 0.75 | 4 |" in card(tmp_path / "two", read_review(sheet))


@pytest.mark.parametrize("text", [None, "id,label\n1,2\n"])
def test_a_review_of_another_kind_is_refused(text: str | None, tmp_path: Path) -> None:
    sheet = tmp_path / "review.csv"
    if text is not None:
        sheet.write_text(text)
    with pytest.raises(InputError):
        read_review(sheet)
