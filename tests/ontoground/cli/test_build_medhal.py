"""``ontoground build medhal`` from texts on disk to a dataset folder, under both engines."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from builders.texts.origin import Origin, split_of
from ground.contracts.rows_text import MEDHAL_SCHEMA
from tests.builders.medhal.feed_world import digests, rows_of
from tests.builders.medhal.question_files import medmcqa_row, write_lines
from tests.builders.medhal.texts_world import ALL, write_texts
from tests.ground.lm.server import Reply, completion, scripted_server
from tests.ontoground.cli.schemas import answer_to, checked
from tests.served import Served

ROOT = Path(__file__).parents[3]
COMMAND = [sys.executable, "-c", "from ontoground.cli.main import main; main()"]
CONCURRENCY = 4
RANDOM_REASONS = {f"lm_{name}" for name in ("truncated", "no_words", "several_lines", "empty", "markup", "question")}


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve items of every source, in its layout."""
    return write_texts(tmp_path_factory.mktemp("texts"), 12)


def build(*arguments: str | Path) -> dict[str, Any]:
    """Run the verb and return what it printed."""
    return answer_to("build", "medhal", *arguments, "--json").payload("build-medhal")


def failure(*arguments: str | Path) -> tuple[int, dict[str, Any]]:
    """Run the verb, which must fail, and return its exit code and error."""
    answer = answer_to("build", "medhal", *arguments, "--json")
    return answer.code, checked(answer.out, "error")["error"]


def test_every_source_on_disk_gives_pairs_by_rules(texts: Path, tmp_path: Path) -> None:
    printed = build("--texts", texts, "--workspace", tmp_path)
    assert [one["source"] for one in printed["sources"]] == list(ALL)
    assert all(one["factual"] == one["non_factual"] > 0 for one in printed["sources"])
    judges = {one["source"]: one["judge"] for one in printed["sources"]}
    assert judges == {name: None if name in ("mednli", "nli4ct") else "rules" for name in ALL}
    assert printed["licence_tier"] == "credentialed" and printed["dropped"]["medqa: other_split"] == 5
    table = rows_of(tmp_path / "datasets" / "medhal")
    assert table.schema.equals(MEDHAL_SCHEMA) and table.num_rows == printed["rows"] == printed["dataset"]["rows"]
    for row in table.to_pylist():
        explained = row["label"] or row["task"] == "nli"
        assert (row["explanation"] is None) == explained and row["context"] != ""
    assert not any(path.name.startswith(".") for path in (tmp_path / "datasets").iterdir())


def test_the_same_texts_give_the_same_bytes_however_they_are_named(texts: Path, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere" / "questions"
    moved.parent.mkdir()
    moved.symlink_to(texts / "medqa")
    build("--texts", texts, "--sources", "medqa,acm,sumpubmed", "--workspace", tmp_path / "one")
    build("--texts", texts, "--sources", f"sumpubmed,medqa={moved},acm", "--workspace", tmp_path / "two")
    one, two = (digests(tmp_path / name / "datasets" / "medhal") for name in ("one", "two"))
    assert one == two and "README.md" in one


def test_all_splits_are_used_where_asked_and_the_card_says_so(texts: Path, tmp_path: Path) -> None:
    arguments = ("--texts", texts, "--sources", "medqa", "--splits", "all", "--workspace", tmp_path)
    printed = build(*arguments)
    assert printed["source_splits"] == "all" and printed["sources"][0]["items"] == 17
    card = (tmp_path / "datasets" / "medhal" / "README.md").read_text()
    assert "This build used `--splits all`" in card and "| MedQA (USMLE) | no | 12723 | 17 | 18680 |" in card


def test_a_person_sees_rows_shares_and_reasons(texts: Path, tmp_path: Path) -> None:
    printed = answer_to("build", "medhal", "--texts", texts, "--workspace", tmp_path).out
    assert "mednli: neutral" in printed and "100.0%" in printed and "length filtered" in printed
    assert f"in {tmp_path / 'datasets' / 'medhal'}" in printed
    assert "does the text alone tell the label? medqa: too few rows to say; AUC (chance is 0.5) by words " in printed


@pytest.mark.xdist_group("demo")
def test_own_facts_are_a_source_and_status_lists_the_dataset(demo_copy: Callable[[], Path], texts: Path) -> None:
    workspace = demo_copy()
    printed = build("--texts", texts, "--sources", "sumpubmed,mimic", "--workspace", workspace)
    texts_counts, own = printed["sources"]
    assert (own["source"], own["judge"]) == ("mimic", "graph") and own["factual"] > 0 and own["kept_share"] > 0.9
    assert printed["licence_tier"] == "open" and texts_counts["source"] == "sumpubmed"
    manifest = json.loads((workspace / "datasets" / "medhal" / "manifest.json").read_text())
    assert [one["file"] for one in manifest["inputs"] if one["source"] == "mimic"] == [
        "datasets/medieval/manifest.json"
    ]
    quadrants = rows_of(workspace / "datasets" / "medieval")
    by_patient = dict(zip(quadrants["subject_id"].to_pylist(), quadrants["split"].to_pylist(), strict=True))
    for row in rows_of(workspace / "datasets" / "medhal").to_pylist():
        assert (row["subject_id"] is not None) == (row["source"] == "mimic")
        assert row["subject_id"] is None or row["split"] == by_patient[row["subject_id"]]
    status = answer_to("status", "--workspace", workspace, "--json").payload("status")
    listed = {dataset["name"]: dataset["rows"] for dataset in status["datasets"]}
    assert listed["medhal"] == printed["rows"]


@pytest.mark.xdist_group("demo")
def test_what_is_found_is_built_where_no_source_is_named(
    demo_copy: Callable[[], Path], texts: Path, tmp_path: Path
) -> None:
    only = tmp_path / "only"
    only.mkdir()
    (only / "medqa").symlink_to(texts / "medqa")
    printed = build("--texts", only, "--workspace", demo_copy())
    assert [one["source"] for one in printed["sources"]] == ["medqa", "mimic"]
    printed = build("--texts", only, "--workspace", tmp_path / "no-warehouse")
    assert [one["source"] for one in printed["sources"]] == ["medqa"]


def test_a_folder_of_the_users_own_is_read_in_a_layout_that_is_named(tmp_path: Path) -> None:
    """MedMCQA as published: no choice_type, a picture, options that overlap, a frame that leaves several answers."""
    options = ("Gout", "Lupus", "Rickets", "Measles")
    asked = {
        "Drug of choice for gout is": ("Colchicine", "Insulin", "Digoxin", "Heparin"),
        "The instrument shown in fig is used for": options,
        "Superior parathyroid develops from": ("4th arch", "4&6 arch", "3&4 arch", "4 arch"),
        "Morphine can cause": ("Paradoxical excitement", "Miosis", "Cough", "Fever"),
        "Incubation period of chickenpox is": ("2-3 weeks", "15 days", "20 days", "1 day"),
        "Bone pain is found in": options,
    }
    rows = [medmcqa_row(str(at), *one, 1 + 3 * (at == 5)) for at, one in enumerate(asked.items())]
    write_lines(tmp_path / "own" / "dev.json", [{k: v for k, v in row.items() if k != "choice_type"} for row in rows])
    printed = build("--texts", f"mine={tmp_path}/own:medmcqa", "--splits", "all", "--workspace", tmp_path / "w")
    assert [one["source"] for one in printed["sources"]] == ["mine"] and printed["licence_tier"] == "credentialed"
    reasons = ("needs_image", "no_wrong_option_alike", "relation_not_exclusive")
    assert printed["dropped"] == {f"mine: {reason}": 1 for reason in reasons}
    rows = rows_of(tmp_path / "w" / "datasets" / "medhal").to_pylist()
    assert len(rows) == 6 and {row["wording"] for row in rows} == {"framed"}
    named = ("--texts", f"mine={tmp_path}/own:medmcqa", "--splits", "all", "--workspace", tmp_path / "w2")
    again = build(*named, "--sources", "mine")
    assert again["sources"] == printed["sources"]
    for more, code, words in (
        (("--sources", f"mine={tmp_path}/own"), 2, "named twice"),
        (("--set", "medhal.framed=false"), 3, "mine: framed (3)"),
    ):
        refused = answer_to("build", "medhal", *named, *more)
        assert refused.code == code and words in refused.err


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["--texts", "mine={texts}:medec"], 2, "LAYOUT one of acm, medmcqa, mednli"),
        (["--texts", "medqa={texts}:medmcqa"], 2, "LAYOUT one of"),
        (["--texts", "mine={texts}/none:medqa"], 3, "existing folder"),
        (["--texts", "mine={texts}:medqa", "--texts", "mine={texts}:acm"], 2, "each NAME only once"),
        (["--texts", "{texts}", "--texts", "{texts}"], 2, "each NAME only once"),
        (["--texts", "{texts}/medqa"], 3, "one or more of the folders medqa"),
        (["--sources", "medqa"], 2, "--texts DIR"),
        (["--sources", "medqaa", "--texts", "{texts}"], 2, "medqa, medmcqa"),
        (["--sources", "medqa,medqa", "--texts", "{texts}"], 2, "each once"),
        (["--sources", "mimic=here"], 2, "the workspace's own data"),
        (["--sources", "mimic"], 3, "ontoground load mimic DIR"),
        (["--sources", "medbullets", "--texts", "{texts}"], 3, "leave the source out"),
        (["--sources", "medqa={texts}/sumpubmed"], 3, "train.jsonl"),
        (["--texts", "{texts}/nothing"], 3, "one folder a source"),
        (["--sources", "sumpubmed", "--texts", "{texts}", "--splits", "test"], 3, "--splits all"),
        (["--texts", "{texts}", "--engine", "lm"], 2, "--endpoint-model NAME"),
        (["--texts", "{texts}", "--endpoint", "http://127.0.0.1:1/v1"], 2, "--engine lm"),
        (["--texts", "{texts}", "--set", "medhal.sed=1"], 2, "did you mean seed"),
        (["--texts", "{texts}", "--splits", "dev"], 2, ""),
    ],
)
def test_wrong_use_says_what_to_do_and_leaves_nothing_behind(
    arguments: list[str], code: int, told: str, texts: Path, tmp_path: Path
) -> None:
    given = [one.format(texts=texts) for one in arguments]
    found, error = failure(*given, "--workspace", tmp_path / "work")
    assert found == code and told in " ".join(str(error.get(name)) for name in ("expected", "do", "found"))
    left = list((tmp_path / "work").rglob("*")) if (tmp_path / "work").exists() else []
    assert [path for path in left if path.name != "datasets"] == []


def test_credentialed_texts_are_not_sent_to_another_machine(texts: Path, tmp_path: Path) -> None:
    model = ("--engine", "lm", "--endpoint", "https://models.example.com/v1", "--endpoint-model", "m")
    arguments = ("--texts", texts, "--sources", "medqa,mednli", "--workspace", tmp_path / "work", *model)
    code, error = failure(*arguments)
    assert code == 4 and "models.example.com" in error["do"]
    assert not (tmp_path / "work").exists()


def test_training_opens_what_was_built(texts: Path, tmp_path: Path) -> None:
    from evaluation.datasets import TextDataset

    printed = build("--texts", texts, "--sources", "medqa,acm", "--workspace", tmp_path)
    dataset = TextDataset.open(tmp_path / "datasets" / "medhal", "medhal")
    counts = {split: dataset.count(split) for split in ("train", "validation", "test")}
    assert counts == printed["splits"]


def answered(_place: int, body: dict[str, Any]) -> Reply:
    """Answer as a good model would: a statement where one is asked for, a verdict where a judge is."""
    asked = body["messages"][-1]["content"]
    if "### Known to be right\n" in asked:
        right = asked.split("### Known to be right\n")[1].splitlines()[0]
        statement = asked.split("### Statement\n")[1].splitlines()[0]
        return completion(f"Factual: {'YES' if right in statement else 'NO'}\nExplanation: {right} is right.")
    if "\nSentence: " in asked:
        return completion(asked.split("\nSentence: ")[1].replace("increased", "decreased"))
    question, answer = asked.removeprefix("Question: ").split("\nAnswer: ")
    return completion(f"The answer to the question about {question.split()[-1].rstrip('?')} is {answer}.")


def lm_arguments(texts: Path, url: str, workspace: Path) -> list[str]:
    """Return the verb with two sources behind a model."""
    source = ("--texts", texts, "--sources", "medqa,sumpubmed", "--workspace", workspace)
    model = ("--engine", "lm", "--endpoint", url, "--endpoint-model", "m")
    return ["build", "medhal", *map(str, (*source, *model)), "--set", f"language_model.concurrency={CONCURRENCY}"]


def test_a_run_killed_half_way_goes_on_to_the_same_files_and_asks_nothing_twice(texts: Path, tmp_path: Path) -> None:
    with scripted_server(answered) as server:
        whole = answer_to(*lm_arguments(texts, server.url, tmp_path / "whole"), "--json").payload("build-medhal")
        wanted = server.times_seen()
    assert [one["factual"] for one in whole["sources"]] == [12, 12]
    assert set(wanted.values()) == {1} and sum(wanted.values()) == whole["language_model"]["sent"]

    # Half of the last judging: its requests wait for no answer, so all that may be under way are. After a step's last
    # request fewer would be: the next step waits for its answer.
    half = len(wanted) - whole["sources"][-1]["confirmed"]
    half_way, hold = threading.Event(), threading.Event()

    def held(place: int, body: dict[str, Any]) -> Reply:
        reply = answered(place, body)
        if place < half:
            return reply
        if place == half + CONCURRENCY - 1:
            half_way.set()
        return Reply(reply.status, reply.body, reply.headers, until=hold)

    with scripted_server(held) as server:
        arguments = lm_arguments(texts, server.url, tmp_path / "killed")
        environment = {**os.environ, "PYTHONHASHSEED": "7"}
        with subprocess.Popen([*COMMAND, *arguments], cwd=ROOT, env=environment) as process:
            assert half_way.wait(timeout=120)
            process.send_signal(signal.SIGKILL)
        hold.set()
        assert not (tmp_path / "killed" / "datasets" / "medhal").exists()
        resumed = answer_to(*arguments, "--json").payload("build-medhal")
        seen = server.times_seen()
    assert digests(tmp_path / "killed" / "datasets" / "medhal") == digests(tmp_path / "whole" / "datasets" / "medhal")
    assert set(seen) == set(wanted)
    # Only what the server still held back when the kill came was sent again: no answer to it can have been kept.
    assert sum(seen.values()) - len(seen) == resumed["language_model"]["interrupted"] == CONCURRENCY
    assert resumed["language_model"]["sent"] == len(wanted) - half
    assert [path.name for path in (tmp_path / "killed" / "datasets").iterdir()] == ["medhal"]


@pytest.mark.xdist_group("transformers_serve")
def test_a_real_server_with_a_random_model_gives_typed_refusals_and_no_row_of_its_own(
    served: Served, texts: Path, tmp_path: Path
) -> None:
    model = ("--engine", "lm", "--endpoint", served.url, "--endpoint-model", served.model)
    sources = ("--texts", texts, "--sources", "medqa,mednli", "--workspace", tmp_path)
    few = ("--set", "language_model.max_tokens=8", "--set", "language_model.concurrency=2")
    code, error = failure(*sources, *model, *few)
    assert code == 3 and "mednli: judge_unreadable_no_label (12)" in error["found"]
    printed = build(*sources, *model, *few, "--set", "medhal.judge=false")
    counts = {one["source"]: one for one in printed["sources"]}
    assert counts["mednli"]["factual"] == 12 and counts["medqa"]["factual"] == 0
    refused = {
        name.removeprefix("medqa: "): n for name, n in printed["dropped"].items() if name.startswith("medqa: lm_")
    }
    assert sum(refused.values()) == 12 and set(refused) <= RANDOM_REASONS
    assert printed["language_model"]["sent"] == 0 and printed["language_model"]["cached"] > 0
    sources_left = Counter(pq.read_table(tmp_path / "datasets" / "medhal" / "data")["source"].to_pylist())
    assert sources_left == {"mednli": 24}


def test_documents_never_straddle_splits(texts: Path, tmp_path: Path) -> None:
    build("--texts", texts, "--sources", "acm,nli4ct", "--workspace", tmp_path)
    for row in rows_of(tmp_path / "datasets" / "medhal").to_pylist():
        if row["source"] == "acm":
            document = row["inner_id"].split("/")[0]
            assert row["split"] == split_of(42, Origin("acm", "-", document, "train"))
