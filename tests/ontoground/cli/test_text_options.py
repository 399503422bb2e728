"""What both builders of text datasets share: overrides of models, and what manifests say of a model."""

from __future__ import annotations

from pathlib import Path

from ground.lm.client import LanguageModel
from ground.lm.settings import LmSettings
from ontoground.cli.text_options import described_model, split_overrides


def test_overrides_of_models_are_told_apart_by_their_table() -> None:
    given = ["medval.tau=0", "language_model.seed=1", "validator_model.seed=2", "language_models.seed=3"]
    own, of_models = split_overrides(given, ("language_model", "validator_model"))
    assert own == ["medval.tau=0", "language_models.seed=3"]
    assert of_models == ("language_model.seed=1", "validator_model.seed=2")
    assert split_overrides(None) == ([], ())


def test_a_manifest_says_why_a_host_may_have_credentialed_text(tmp_path: Path) -> None:
    host = "gpu.hospital.example"
    plain = LmSettings(model="m", endpoint=f"https://{host}/v1")
    allowed = plain.model_copy(
        update={"allow_remote_credentialed": (host,), "allow_remote_reason": "data processing agreement 12/2026"}
    )
    with LanguageModel(plain, tmp_path, "open") as model:
        assert "allow_remote_reason" not in described_model(model)
    with LanguageModel(allowed, tmp_path, "credentialed") as model:
        described = described_model(model)
    assert described["allow_remote_reason"] == "data processing agreement 12/2026"
    assert described["allow_remote_credentialed"] == [host] and f"https://{host}" not in str(described)
