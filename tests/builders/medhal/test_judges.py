"""Judges that read by rules, and the inputs of the manifest."""

from __future__ import annotations

from pathlib import Path

from builders.medhal.judges import RulesJudge
from builders.texts.inputs import MANY_FILES, file_inputs
from builders.texts.origin import Refusal
from tests.builders.medhal.feed_world import pair


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
