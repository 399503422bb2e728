"""The build: rows, conversations and the audit table agree; bytes depend on inputs and settings only."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from builders.medval.algorithm import levels_of
from builders.medval.build import Method, build_medval
from builders.medval.feeds import ENGINES, Feed, Plan, plan_feeds
from builders.medval.items import Item
from builders.medval.rows import CHAT_SCHEMA, TRIPLE_SCHEMA
from builders.medval.rules.generator import RULES_TASKS
from builders.texts.origin import Tally, split_of
from builders.texts.sources import NamedTexts, text_sources
from ground.contracts.answers import parse_medval
from ground.contracts.prompts import medval_prompt
from ground.contracts.rows_text import MEDVAL_SCHEMA, MEDVAL_TASKS
from ground.errors import InputError, UsageError
from ground.settings import MedvalSettings
from ground.storage.tables import read_table
from ground.storage.workspace import Workspace
from tests.builders.medieval_world import bytes_of
from tests.builders.medval import text_folders
from tests.builders.medval.toy_engine import item, open_toy

PATIENT_SEED = 5
WORDS = ("", "", "", "harsh", "no judge", "same", "no clean", "")


def items(n: int = 120) -> list[Item]:
    return [item(number, f"{WORDS[number % len(WORDS)]} input {number}", source="meqsum") for number in range(n)]


def feed(made: Sequence[Item], source: str = "meqsum") -> Feed:
    def read(tally: Tally) -> Iterator[Item]:
        for one in made:
            tally.read[source] += 1
            yield one

    return Feed(text_sources()[source], made[0].task, "open", "CC BY 4.0", [{"source": source, "file": "x"}], read)


def build(folder: Path, *feeds: Feed, batch: int = 16, workers: int = 1, **settings: Any) -> Any:
    made = Method("lm", open_toy, "open", PATIENT_SEED, workers=workers)
    plan = Plan(feeds or (feed(items()),), (("bhc2spanish", "needs a writer"),))
    return build_medval(plan, folder, MedvalSettings(**settings), made, batch=batch)


def rows_of(folder: Path, name: str = "data") -> list[dict[str, Any]]:
    return [row for file in sorted((folder / name).glob("*.parquet")) for row in pq.read_table(file).to_pylist()]


def triples_of(folder: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(folder / "triples.parquet").to_pylist()
    return rows


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The dataset of the usual inputs."""
    folder = tmp_path_factory.mktemp("built") / "medval"
    build(folder)
    return folder


def test_both_rows_of_every_kept_triple_are_there_and_no_other(tmp_path: Path) -> None:
    report = build(tmp_path / "medval")
    rows, triples = rows_of(tmp_path / "medval"), triples_of(tmp_path / "medval")
    kept = {one["triple_id"]: one for one in triples if one["kept"]}
    assert len(rows) == 2 * len(kept) == report.rows == 2 * report.kept and len(triples) == report.inputs == 120
    by_variant = {(row["triple_id"], row["variant"]): row for row in rows}
    assert set(by_variant) == {(name, variant) for name in kept for variant in ("clean", "perturbed")}
    for name, one in kept.items():
        for variant in ("clean", "perturbed"):
            row = by_variant[name, variant]
            assert row["output"] == one[f"{variant}_output"] and row["errors"] == one[f"{variant}_errors"]
            assert row["risk_level"] == one[f"{variant}_level"] and row["consistency"] == one["consistency"] >= 0.9
            assert row["split"] == one["split"] and row["label_basis"] == "validator"
        assert by_variant[name, "clean"]["delta"] == 0.0
        assert by_variant[name, "perturbed"]["delta"] == one["delta"] == pytest.approx((one["level"] - 1) / 3)


def test_the_audit_table_tells_of_triples_that_are_not_kept(built: Path) -> None:
    triples = {one["inner_id"]: one for one in triples_of(built)}
    expected = {one.origin.inner_id: levels_of(42, one)[0] for one in items()}
    assert {name: one["level"] for name, one in triples.items()} == expected
    reasons = Counter(one["refusal"] for one in triples.values())
    unchanged = sum(level > 1 for name, level in expected.items() if int(name) % 8 == 5)
    assert reasons["judge_clean: no_judge"] == reasons["clean: no_clean"] == 15
    assert reasons["perturb: unchanged"] == unchanged
    refused = triples["6"]
    assert refused["clean_output"] is None and refused["consistency"] is None and not refused["kept"]
    too_harsh = triples["3"]
    assert too_harsh["refusal"] is None and not too_harsh["kept"] and too_harsh["clean_level"] == 4
    (edit,) = triples["0"]["perturbed_edits"]
    assert edit["rule"] == "mark" and edit["after"] in triples["0"]["perturbed_output"]


def test_a_conversation_asks_the_validators_question_and_its_answer_gives_the_rows_label(built: Path) -> None:
    rows = {row["id"]: row for row in rows_of(built)}
    chats = rows_of(built, "chat")
    assert {chat["id"] for chat in chats} == set(rows)
    for chat in chats:
        row = rows[chat["id"]]
        asked, answered = chat["messages"]
        assert (asked["role"], answered["role"], chat["split"]) == ("user", "assistant", row["split"])
        assert asked["content"] == medval_prompt(row)
        answer = parse_medval(answered["content"])
        assert answer.label == row["risk_level"] and len(answer.errors) == len(row["errors"])


def test_files_have_their_schemas(built: Path) -> None:
    wanted = {"data": MEDVAL_SCHEMA, "chat": CHAT_SCHEMA}
    for name, schema in wanted.items():
        files = sorted((built / name).glob("*.parquet"))
        assert [file.name for file in files] == [
            f"{split}-00000-of-00001.parquet" for split in ("test", "train", "validation")
        ]
        assert all(pq.read_schema(file).equals(schema) for file in files)
    assert pq.read_schema(built / "triples.parquet").equals(TRIPLE_SCHEMA)


def test_how_inputs_are_batched_changes_no_byte_of_any_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builders.medval.build.ROW_GROUP", 25)  # so that groups end within batches
    for batch in (1, 7, 1000):
        build(tmp_path / str(batch), feed(items(80)), batch=batch)
    one, seven, all_at_once = (bytes_of(tmp_path / str(batch)) for batch in (1, 7, 1000))
    assert one == seven == all_at_once and len(one) > 4
    assert pq.ParquetFile(tmp_path / "1" / "triples.parquet").num_row_groups == 4
    for name in ("README.md", "manifest.json", "croissant.json"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "1000" / name).read_bytes()


def test_an_input_whose_name_or_text_was_there_before_is_left_out_and_counted(tmp_path: Path) -> None:
    made = items(40)
    respelt = item(100, made[0].input.upper() + " ", source="meqsum")
    renamed = replace(made[1], input="Another text under a name that is there.")
    report = build(tmp_path / "medval", feed([*made, respelt, renamed]))
    assert report.inputs == 40
    assert report.dropped["query2question, meqsum: same_input"] == 1
    assert report.dropped["query2question, meqsum: repeated_id"] == 1
    triples = [one["triple_id"] for one in triples_of(tmp_path / "medval")]
    assert len(set(triples)) == len(triples) == 40


def test_the_licence_of_open_texts_is_that_of_their_sources(tmp_path: Path) -> None:
    build(tmp_path / "medval")
    said = json.loads((tmp_path / "medval" / "croissant.json").read_text())["license"]
    assert said == "The licences of its sources hold: MeQSum: CC BY 4.0."


def test_the_number_of_processes_changes_no_byte(tmp_path: Path) -> None:
    for workers in (1, 2):
        build(tmp_path / str(workers), workers=workers, batch=9)
    assert bytes_of(tmp_path / "1") == bytes_of(tmp_path / "2")
    assert (tmp_path / "1" / "README.md").read_bytes() == (tmp_path / "2" / "README.md").read_bytes()


def test_tau_0_keeps_what_was_judged_and_tau_1_full_agreement_only(tmp_path: Path) -> None:
    kept = {tau: build(tmp_path / str(tau), tau=tau) for tau in (0.0, 0.9, 1.0)}
    assert kept[0.0].kept == kept[0.0].judged > kept[0.9].kept >= kept[1.0].kept
    assert {row["consistency"] for row in rows_of(tmp_path / "1.0")} == {1.0}
    assert len({report.judged for report in kept.values()}) == 1


def test_patients_have_the_split_that_they_have_in_medieval_and_documents_are_not_torn(tmp_path: Path) -> None:
    made = [item(n, source="meqsum", subject_id=n // 2) for n in range(60)]
    made += [item(n, source="meqsum", document=str(n // 3)) for n in range(60, 120)]
    build(tmp_path / "medval", feed(made))
    of_items = {one.origin.inner_id: one.origin for one in made}
    rows = rows_of(tmp_path / "medval")
    for row in rows:
        origin = of_items[row["inner_id"]]
        assert row["split"] == split_of(42 if origin.subject_id is None else PATIENT_SEED, origin)
    assert {row["split"] for row in rows} == {"train", "validation", "test"}


def test_a_limit_takes_the_inputs_of_lowest_hash_of_a_task_over_all_its_sources(tmp_path: Path) -> None:
    feeds = [
        feed([item(n, f"{source} {n}", task="dialogue2note", source=source) for n in range(30)], source)
        for source in ("aci_bench", "mts_dialog")
    ]
    five = build(tmp_path / "5", *feeds, max_inputs_per_task=5)
    build(tmp_path / "20", *feeds, max_inputs_per_task=20)
    ids = [{one["triple_id"] for one in triples_of(tmp_path / str(limit))} for limit in (5, 20)]
    assert len(ids[0]) == 5 == five.inputs and len(ids[1]) == 20 and ids[0] < ids[1]
    assert sum(n for reason, n in five.dropped.items() if reason.endswith("beyond_max_inputs")) == 55


def test_other_splits_are_left_out_and_counted(tmp_path: Path) -> None:
    made = [item(1, source="meqsum"), item(3, source="meqsum", split="test")]
    report = build(tmp_path / "medval", feed(made), splits="train")
    assert [one["inner_id"] for one in triples_of(tmp_path / "medval")] == ["1"]
    assert report.dropped["query2question, meqsum: other_split"] == 1


def test_a_build_without_a_row_is_an_error_and_leaves_the_old_dataset(tmp_path: Path) -> None:
    build(tmp_path / "medval")
    before = bytes_of(tmp_path / "medval")
    with pytest.raises(InputError, match="no triple was kept") as caught:
        build(tmp_path / "medval", feed([item(n, f"no clean {n}", source="meqsum") for n in range(9)]))
    assert "clean: no_clean (9)" in (caught.value.found or "")
    assert bytes_of(tmp_path / "medval") == before


def test_card_and_manifest_say_what_the_rows_say(tmp_path: Path) -> None:
    report = build(tmp_path / "medval", tau=0.8)
    card = (tmp_path / "medval" / "README.md").read_text()
    manifest = json.loads((tmp_path / "medval" / "manifest.json").read_text())
    (counts,) = report.tasks
    levels = Counter(one["level"] for one in triples_of(tmp_path / "medval") if one["kept"])
    assert counts["kept_by_level"] == {str(level): levels[level] for level in (1, 2, 3, 4)}
    assert f"| query2question | 120 | {report.judged} | {report.kept} |" in card
    assert "| bhc2spanish | needs a writer |" in card and "at least 0.8" in card
    assert manifest["rows"]["rows"] == report.rows and manifest["settings"]["tau"] == 0.8
    assert manifest["dropped"] == report.dropped and manifest["language_model"] is None
    assert set(manifest["rows"]["files"]) == set(bytes_of(tmp_path / "medval"))
    for pattern in re.findall(r"(?:path|data_files): (\S+parquet)", card):
        assert list((tmp_path / "medval").glob(pattern)), pattern


def test_the_card_says_what_its_own_tau_lets_a_judgement_be_off(tmp_path: Path) -> None:
    for tau, words in (
        (0, "keeps whatever was judged"),
        (0.9, "one level off (M = 0.963)"),
        (1, "1 keeps only triples"),
    ):
        build(tmp_path / "medval", tau=tau)
        limits = (tmp_path / "medval" / "README.md").read_text().split("## Limits")[1]
        assert words in limits and (tau == 0.9) == ("one level off" in limits)


def test_labels_are_the_validators_and_the_card_sets_them_beside_the_generators(tmp_path: Path) -> None:
    build(tmp_path / "medval", feed([item(n, f"harsh {n}", source="meqsum") for n in range(30)]), tau=0.0)
    rows, made = rows_of(tmp_path / "medval"), Counter(one["level"] for one in triples_of(tmp_path / "medval"))
    assert {row["risk_level"] for row in rows} == {4}
    assert Counter(round(3 * row["delta"]) + 1 for row in rows if row["variant"] == "perturbed") == made
    card = (tmp_path / "medval" / "README.md").read_text()
    assert "| clean | 1 | 0 | 0 | 0 | 30 | 0.0 |" in card
    assert f"| perturbed | 4 | 0 | 0 | 0 | {made[4]} | 100.0 |" in card


# ---- which inputs are used


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "work")


def planned(workspace: Workspace, texts: Path | None, *tasks: str, engine: Any = "rules") -> Plan:
    return plan_feeds(tasks, engine, NamedTexts(texts), workspace, None)


def test_every_task_says_whether_rules_can_make_it_as_the_engine_does() -> None:
    rows = read_table(ENGINES, ("task", "rules", "why", "source"))
    assert [row["task"] for row in rows] == list(MEDVAL_TASKS)
    assert [row["task"] for row in rows if row["rules"] == "yes"] == list(RULES_TASKS)


def test_without_names_the_tasks_with_inputs_that_rules_can_do_are_built(workspace: Workspace, tmp_path: Path) -> None:
    text_folders.meqsum(tmp_path)
    text_folders.medicationqa(tmp_path)
    text_folders.openi(tmp_path, [("The lungs are clear.", "Normal chest.")])
    plan = planned(workspace, tmp_path)
    assert [(one.task, one.source.source) for one in plan.feeds] == [("query2question", "meqsum")]
    left_out = dict(plan.left_out)
    assert left_out["course2diagnosis"] == "no inputs" and "conversation" in left_out["dialogue2note"]
    assert "reference" in left_out["report2simplified"] and "medical knowledge" in left_out["medication2answer"]
    assert len(planned(workspace, tmp_path, engine="lm").feeds) == 4


@pytest.mark.parametrize("task", sorted({*MEDVAL_TASKS} - {*RULES_TASKS}))
def test_a_named_task_that_rules_cannot_do_is_refused_with_why_and_what_to_do(
    workspace: Workspace, tmp_path: Path, task: str
) -> None:
    text_folders.meqsum(tmp_path)
    with pytest.raises(UsageError) as caught:
        planned(workspace, tmp_path, "query2question", task)
    assert task in caught.value.what and caught.value.found and "--engine lm" in (caught.value.do or "")


def test_a_named_task_without_inputs_says_what_it_needs(workspace: Workspace, tmp_path: Path) -> None:
    text_folders.meqsum(tmp_path)
    with pytest.raises(InputError) as caught:
        planned(workspace, tmp_path, "dialogue2note", engine="lm")
    assert "aci_bench/" in (caught.value.expected or "") and "mts_dialog/" in (caught.value.expected or "")
    with pytest.raises(InputError, match="nothing to build from"):
        planned(workspace, None)
    with pytest.raises(InputError, match="folder of texts is not there"):
        planned(workspace, tmp_path / "absent")
    with pytest.raises(UsageError, match="unknown task"):
        planned(workspace, tmp_path, "query2questions")


def test_the_manifest_lists_the_files_of_the_texts(workspace: Workspace, tmp_path: Path) -> None:
    texts = text_folders.openi(tmp_path / "texts", [(f"The lungs are clear, {n}.", "Normal.") for n in range(25)])
    (one,) = planned(workspace, texts, "report2impression", engine="lm").feeds
    (entry,) = one.inputs
    assert entry["file"] == "ecgen-radiology/" and entry["files"] == 25 and len(entry["sha256"]) == 64
    assert len(list(one.items(Tally()))) == 25
