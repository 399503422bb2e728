"""Zero-shot quadrants: the prompt's five parts, strict reading, and runs against a server and a local model."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evaluation.datasets import MedievalDataset
from evaluation.predictions import read_predictions
from ground.contracts.answers import parse_quadrant
from ground.contracts.rows import MEDIEVAL_SCHEMA, QUADRANTS
from ground.errors import InputError, RefusedError, UsageError
from ground.lm.settings import LmSettings
from ground.lm.tiny import tiny_decoder, tiny_tokenizer
from tests.ground.lm.server import Reply, completion, scripted_server
from tests.manifests import write_manifest
from training.asking.engine import cut_context
from training.asking.quadrants import ZeroshotSettings, predict_zeroshot, zeroshot_prompt

CONTEXT = (
    "History of Present Illness:\nA man with gout, admission {n}.\n\n"
    "Brief Hospital Course:\n# Gout: given colchicine.\n\n"
    "Discharge Diagnosis:\nGout\n"
)
STATEMENTS = {
    "Q1": "Gout may be treated by colchicine.",
    "Q2": "Gout may be treated by allopurinol.",
    "Q3": "Gout is prevented by beer.",
    "Q4": "Gout may be treated by beryllium.",
}


def row(admission: int, quadrant: str) -> dict[str, Any]:
    return {
        **{"id": f"{admission}-a-{quadrant}", "group_id": f"{admission}-a", "subject_id": admission},
        **{"hadm_id": admission, "context": CONTEXT.format(n=admission), "statement": STATEMENTS[quadrant]},
        **{"quadrant": quadrant, "is_true": quadrant < "Q3", "is_supported": quadrant in ("Q1", "Q3")},
        **{"predicate": "may_be_treated_by", "head_cui": "C0018099", "head_name": "gout"},
        **{"tail_cui": "C0009262", "tail_name": "colchicine", "hops": 1, "tier": "stated", "support_level": "silent"},
        **{
            "path": [],
            "support_spans": [],
            "replaced_end": "none",
            "split": "test",
            "fact_split": "test",
            "given": "none",
            "fold": 0,
        },
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A dataset of three admissions with one group each, said to be open."""
    rows = [row(admission, quadrant) for admission in (101, 102, 103) for quadrant in QUADRANTS]
    (tmp_path / "medieval" / "data").mkdir(parents=True)
    table = pa.Table.from_pylist(rows, schema=MEDIEVAL_SCHEMA)
    pq.write_table(table, tmp_path / "medieval" / "data" / "test-00000-of-00001.parquet")
    write_manifest(tmp_path / "medieval", "medieval")
    return tmp_path / "medieval"


def statement_of(body: dict[str, Any]) -> str:
    text: str = body["messages"][0]["content"]
    return text.partition("Statement:\n")[2].partition("\n")[0]


def test_the_prompt_has_the_papers_five_parts_in_order() -> None:
    (message,) = zeroshot_prompt(CONTEXT, STATEMENTS["Q2"])
    parts = [CONTEXT.strip(), STATEMENTS["Q2"], "Q1 (True, supported)", "Choose exactly one", "Labels: Q1, Q2, Q3, Q4"]
    places = [message.content.index(part) for part in parts]
    assert message.role == "user" and places == sorted(places)
    assert all(f"\n{quadrant} (" in message.content for quadrant in QUADRANTS)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Q1", "Q1"),
        (" q3.\n", "Q3"),
        ("**Q2**", "Q2"),
        ("Label: Q4 (False, unsupported)", "Q4"),
        ("Q2. I choose Q2.", "Q2"),
        ("<think>Q1? No, Q3.</think>\nQ4", "Q4"),
        ("Q2, not Q1", None),
        ("true but unsupported", None),
        ("Q5", None),
        ("Q12", None),
        ("FAQ1", None),
        ("2", None),
        ("", None),
    ],
)
def test_an_answer_is_a_label_only_where_it_names_exactly_one(text: str, label: str | None) -> None:
    assert parse_quadrant(text) == label


def test_a_run_writes_predictions_by_the_contract_and_every_raw_answer(folder: Path, tmp_path: Path) -> None:
    right = {statement: quadrant for quadrant, statement in STATEMENTS.items()}

    def reply(_: int, body: dict[str, Any]) -> Reply:
        quadrant = right[statement_of(body)]
        if quadrant == "Q3":
            return completion("It is Q1 or Q3")
        return completion(None, refusal="no") if quadrant == "Q4" else completion(quadrant)

    out = tmp_path / "work" / "runs" / "scripted"
    with scripted_server(reply) as server:
        report = predict_zeroshot(
            MedievalDataset.open(folder),
            LmSettings(model="m", endpoint=server.url, seed=7),
            ZeroshotSettings(),
            tmp_path / "work",
            out,
        )
    assert (report.rows, report.unparseable, report.failed) == (12, 3, {"refused": 3})
    assert report.share_unparseable == 0.5
    predictions = read_predictions(out / "predictions-test.parquet")
    quadrants = predictions["id"].str.slice(-2).to_list()
    assert predictions["label"].to_list() == [name if name in ("Q1", "Q2") else None for name in quadrants]
    assert set(predictions["model"]) == {"m + zero-shot"} and set(predictions["seed"]) == {7}
    answers = pl.read_parquet(out / "answers-test.parquet")
    assert answers["id"].to_list() == predictions["id"].to_list()
    assert answers.filter(pl.col("id").str.ends_with("Q3"))["answer"].to_list() == ["It is Q1 or Q3"] * 3
    assert answers.filter(pl.col("id").str.ends_with("Q4"))["reason"].to_list() == ["refused"] * 3
    assert stat.S_IMODE(out.stat().st_mode) == 0o700
    record = json.loads((out / "zeroshot-test.json").read_text())
    assert record["report"]["share_unparseable"] == 0.5
    assert record["dataset"]["manifest_sha256"] == MedievalDataset.open(folder).manifest_sha256


def test_nothing_of_the_label_is_sent(folder: Path, tmp_path: Path) -> None:
    dataset = MedievalDataset.open(folder)
    with scripted_server(lambda *_: completion("Q1")) as server:
        settings = LmSettings(model="m", endpoint=server.url)
        predict_zeroshot(dataset, settings, ZeroshotSettings(), tmp_path, tmp_path / "run")
    sent = sorted(body["messages"][0]["content"] for body in server.bodies)
    rows = dataset.rows.join(dataset.contexts, on="hadm_id").select("context", "statement").iter_rows()
    assert sent == sorted(zeroshot_prompt(context, statement)[0].content for context, statement in rows)
    assert not any(row_id in text for row_id in dataset.rows["id"] for text in sent)


def test_the_rows_of_a_smaller_run_are_among_those_of_a_larger_one(folder: Path, tmp_path: Path) -> None:
    chosen = []
    with scripted_server(lambda *_: completion("Q1")) as server:
        for rows in (3, 6):
            settings = LmSettings(model="m", endpoint=server.url)
            out = tmp_path / f"run{rows}"
            predict_zeroshot(MedievalDataset.open(folder), settings, ZeroshotSettings(rows=rows), tmp_path, out)
            chosen.append(set(read_predictions(out / "predictions-test.parquet")["id"]))
    assert (len(chosen[0]), len(chosen[1])) == (3, 6) and chosen[0] < chosen[1]
    assert len(server.bodies) == 6  # the smaller run's answers are in the cache


def test_a_credentialed_dataset_is_refused_before_anything_is_written(folder: Path, tmp_path: Path) -> None:
    (folder / "manifest.json").write_text('{"licence_tier": "credentialed"}')
    remote = LmSettings(model="m", endpoint="https://api.openai.com/v1")
    with pytest.raises(RefusedError):
        predict_zeroshot(
            MedievalDataset.open(folder), remote, ZeroshotSettings(), tmp_path / "work", tmp_path / "work" / "run"
        )
    assert not (tmp_path / "work").exists()


def test_a_tiny_local_model_goes_through_from_end_to_end(folder: Path, tmp_path: Path) -> None:
    texts = [CONTEXT, *STATEMENTS.values(), "Q1 Q2 Q3 Q4"]
    tokenizer = tiny_tokenizer(texts * 3, tmp_path / "tokenizer", chat=True)
    model = LmSettings(kind="transformers", model=str(tiny_decoder("llama", tokenizer, tmp_path / "m")), max_tokens=4)
    dataset = MedievalDataset.open(folder)
    settings = ZeroshotSettings(max_context_tokens=30)
    report = predict_zeroshot(dataset, model, settings, tmp_path, tmp_path / "run")
    assert (report.rows, report.contexts_cut, report.failed) == (12, 3, {})
    answers = pl.read_parquet(tmp_path / "run" / "answers-test.parquet")
    labels = [None if text is None else parse_quadrant(text) for text in answers["answer"]]
    predictions = read_predictions(tmp_path / "run" / "predictions-test.parquet")
    assert predictions["label"].to_list() == labels
    assert report.unparseable == labels.count(None)
    again = predict_zeroshot(dataset, model, settings, tmp_path, tmp_path / "again")
    assert again.language_model["sent"] == 0
    files = [tmp_path / run / "answers-test.parquet" for run in ("run", "again")]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_context_is_cut_by_section_priority_and_stays_within_its_tokens(tmp_path: Path) -> None:
    context = CONTEXT.format(n=1)
    tokenizer = tiny_tokenizer([CONTEXT, *STATEMENTS.values()], tmp_path)
    total = len(tokenizer(context)["input_ids"])
    assert cut_context(context, tokenizer, total) == context
    sizes = []
    for budget in range(1, total):
        text = cut_context(context, tokenizer, budget)
        assert all(line in context for line in text.split("\n"))
        sizes.append(len(text))
    assert sizes == sorted(sizes)
    # The diagnoses are what is cut last, wherever they stand.
    diagnoses = "Discharge Diagnosis:\nGout"
    assert cut_context(context, tokenizer, len(tokenizer(diagnoses)["input_ids"])) == diagnoses


def test_a_served_model_needs_a_tokenizer_to_cut_contexts_by(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="needs a tokenizer"):
        predict_zeroshot(
            MedievalDataset.open(folder),
            LmSettings(model="m"),
            ZeroshotSettings(max_context_tokens=9),
            tmp_path,
            tmp_path,
        )


def test_a_model_that_answers_nothing_is_an_error_that_says_why(folder: Path, tmp_path: Path) -> None:
    too_long = Reply(
        status=400, body=b'{"error": {"code": "context_length_exceeded"}}', headers={"Content-Type": "application/json"}
    )
    with scripted_server(lambda *_: too_long) as server, pytest.raises(InputError, match="context_length_exceeded"):
        predict_zeroshot(
            MedievalDataset.open(folder),
            LmSettings(model="m", endpoint=server.url),
            ZeroshotSettings(rows=5),
            tmp_path,
            tmp_path / "run",
        )
    assert not (tmp_path / "run").exists()
