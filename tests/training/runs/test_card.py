"""The model card: valid front matter, provenance, limits, and the rule of the data's licence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from training.runs.card import write_card
from training.runs.settings import ClassifierSettings, EncoderSettings


def record(**changed: Any) -> dict[str, Any]:
    return {
        "kind": "classifier",
        "engine": "shared",
        "freeze_backbone": False,
        "base_model": "org/model: 8B",
        "dataset": {"name": "medieval", "manifest_sha256": "ab" * 32, "rows": 10},
        "licence_tier": "credentialed",
        "rows": {"train": 7780, "Q1": 2000},
        "truncation": {"contexts": 118, "truncated": 3, "tokens": 90000, "tokens_cut": 1234},
        "settings": ClassifierSettings().model_dump(mode="json", by_alias=True),
        "steps": 730,
        "machine": {"precision": "bfloat16"},
        "losses": [{"step": at, "loss": 1.4 - at / 100} for at in range(80)],
    } | changed


def card(folder: Path, **changed: Any) -> str:
    write_card(folder, record(**changed))
    return (folder / "README.md").read_text(encoding="utf-8")


def test_the_front_matter_is_what_hubs_read(tmp_path: Path) -> None:
    text = card(tmp_path)
    front = yaml.safe_load(text.split("---\n")[1])
    assert front == {
        "base_model": "org/model: 8B",
        "library_name": "peft",
        "pipeline_tag": "text-classification",
        "tags": ["lora", "medical"],
    }


def test_provenance_losses_and_limits_are_said(tmp_path: Path) -> None:
    text = card(tmp_path)
    assert f"SHA-256 of its manifest {'ab' * 32}" in text
    assert "train 7,780, Q1 2,000" in text
    assert "3 of 118 (1,234 of 90,000 tokens)" in text
    # Means of the first 20 and last 20 of 80: 1.4 - 0.095 and 1.4 - 0.695.
    assert "1.3050 in the first steps, 0.7050 in the last (20 of 80 each)" in text
    assert "no medical device" in text
    assert "AutoModelForSequenceClassification" in text


@pytest.mark.parametrize(("tier", "shared"), [("open", True), ("credentialed", False)])
def test_weights_from_credentialed_data_are_not_to_be_shared(tmp_path: Path, tier: str, shared: bool) -> None:
    text = card(tmp_path, licence_tier=tier)
    assert ("The training data are open" in text) is shared
    assert ("do not\npublish it" in text or "do not publish it" in text) is not shared


def test_a_report_is_quoted_once_it_is_there(tmp_path: Path) -> None:
    assert "Not evaluated yet" in card(tmp_path)
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "report.md").write_text(
        "# Report\n\n| Q1 | 9 |\n\n## Results\n\n| model | F1 |\n| --- | --- |\n| run | 0.7 |\n\nMore.\n"
    )
    text = card(tmp_path)
    assert "| run | 0.7 |" in text
    assert "More." not in text and "| Q1 |" not in text


def test_a_policy_has_a_card_too(tmp_path: Path) -> None:
    text = card(tmp_path, kind="corfu", stages=[{"stage": "q1_q2", "records": record()["losses"]}])
    assert "# CoRFu policy" in text and "1.3050 in the first steps" in text
    assert "AutoModelForSequenceClassification" not in text


@pytest.mark.parametrize("engine", ["late", "cross"])
def test_an_encoder_has_a_card_too(tmp_path: Path, engine: str) -> None:
    run = {
        "kind": "encoder", "engine": engine, "base_model": "a-bert", "licence_tier": "credentialed", "rows": 6396,
        "dataset": {"name": "medieval", "manifest_sha256": "cd" * 32}, "admissions": 97, "windows": 244,
        "settings": EncoderSettings().model_dump(mode="json"), "steps": 300,
        "losses": [{"step": at, "loss": 1.4 - at / 100} for at in range(80)],
    }  # fmt: skip
    write_card(tmp_path, run)
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert yaml.safe_load(text.split("---\n")[1])["library_name"] == "transformers"
    assert f"SHA-256 of its manifest {'cd' * 32}" in text and "97 in 244 windows" in text
    assert "1.3050 in the first steps, 0.7050 in the last (20 of 80 each)" in text
    assert ("the quadrant head are ontoground's own" in text.replace("\n", " ")) is (engine == "late")
    assert "do not publish it" in text and "no medical device" in text


@pytest.mark.parametrize("kind", ["medhal", "grpo"])
def test_runs_on_texts_have_the_same_card(tmp_path: Path, kind: str) -> None:
    text = card(
        tmp_path,
        kind=kind,
        arm="original",
        engine="trl",
        rows={"used": 1200, "left_out": {"too_long": 30}} | ({"without_explanation": 4} if kind == "medhal" else {}),
        tasks={"nli": 1200},
        dataset={"name": "rows", "sha256": "ef" * 32, "licence_tier": "open"},
        machine={"precision": "bfloat16", "notes": ["adamw_torch is used on the CPU"]},
        losses=record()["losses"],
        evaluation={"final": {"correct": 7, "rows": 9}},
        order_sha256="0123456789abcdef",
    )
    assert yaml.safe_load(text.split("---\n")[1])["pipeline_tag"] == "text-generation"
    assert "Rows used: 1,200; left out: too_long 30" in text and "- adamw_torch is used on the CPU" in text
    assert f"SHA-256 of its files {'ef' * 32}" in text and "1.3050 in the first steps" in text
    assert ("without an explanation (label learnt only): 4" in text) is (kind == "medhal")
    assert ("# org/model: 8B, trained on original labels" in text and "final: 7 of 9 right" in text) is (kind == "grpo")
    assert "\n\n\n" not in text and "no medical device" not in text
