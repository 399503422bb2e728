"""Quadrants that a trained run gives to the rows of a dataset, or to statements about a note of one's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ehr.sections import split_sections
from ground.contracts.rows import QUADRANTS
from ground.errors import UsageError
from ground.storage.own_rules import NO_RULES, OwnRules

if TYPE_CHECKING:
    import polars as pl

    from ehr.reading import TextReading
    from evaluation.datasets import MedievalDataset
    from ground.contracts.splits import Split
    from ground.storage.workspace import Workspace
    from training.packing.tokens import Truncation
    from training.runs.settings import HardwareSettings

Device = Literal["auto", "cpu", "cuda"]

LONGEST_STATEMENT = 300
"""Characters; the longest that was built is below 150, a relation of two concepts with what each is a type of."""

__all__ = ["Device", "context_of", "doubts_of", "predict_rows", "predict_statements"]


def context_of(note: str, sections: Sequence[str], own: OwnRules = NO_RULES) -> tuple[str, list[str]]:
    """Return a note's context as the builder puts it together (``file_context.sql``), and the sections that it has.

    A text in which none of the sections is found is its own context, and has none.
    """
    parts = [section for section in split_sections(note, own) if section.section in sections]
    text = "\n".join(note[section.begin : section.end].rstrip(" ") for section in parts)
    return (text, list(dict.fromkeys(section.section for section in parts))) if parts else (note, [])


def predict_rows(
    run: Path,
    record: Mapping[str, Any],
    dataset: MedievalDataset,
    split: Split,
    hardware: HardwareSettings,
    name: str | None = None,
    on_truncation: Callable[[Truncation], object] = lambda _: None,
) -> pl.DataFrame:
    """Predict a split, of the run's own column, with a run: a classifier, an encoder, or a CoRFu policy that is scored.

    Args:
        run: its folder.
        record: its ``training.json``; empty for a model that was not trained here, which is scored.
        dataset: what is predicted.
        split: which rows.
        hardware: of this machine.
        name: of the model in the predictions.
        on_truncation: is told what cutting the contexts cost; an encoder reads the whole ones, in windows.

    Returns:
        ``id``, ``label``, ``scores`` (probabilities of Q1 to Q4), ``model``, ``seed``, ordered by id.
    """
    from training.runs.models import quiet

    if record.get("kind") == "classifier":
        from training.classifier.train import predict_classifier

        return predict_classifier(run, dataset, split, hardware=hardware, name=name, on_truncation=on_truncation)
    if record.get("kind") == "encoder":
        import polars as pl

        from training.encoder.classifier import load_encoder
        from training.encoder.train import predict

        with quiet():
            model = load_encoder(run, None if hardware.device == "auto" else hardware.device)
            frame = predict(model, dataset, split)
        return frame.with_columns(model=pl.lit(name or run.name))
    from training.corfu.scores import score_quadrants
    from training.runs.settings import CorfuSettings

    settings = CorfuSettings.model_validate(record.get("settings", {})).model_copy(update={"hardware": hardware})
    return score_quadrants(str(run), dataset, split, settings, name=name, on_truncation=on_truncation)


def predict_statements(
    run: Path, note: str, statements: Sequence[str], workspace: Workspace, device: Device = "auto"
) -> dict[str, Any]:
    """Ask a trained run about statements in the context of a note (docs/schemas/predict.json).

    Args:
        run: folder of a classifier, an encoder or a CoRFu run.
        note: the text, of which the model sees the context only.
        statements: sentences as those of the dataset that the run was trained on.
        workspace: whose settings and own rules say which sections make the context.
        device: where the model works; how it does is the run's.

    Raises:
        InputError: the folder holds no such run.
        UsageError: there is no statement, or the note is empty.
    """
    import polars as pl

    from evaluation.datasets import MedievalDataset
    from ground.stable import stable_hash
    from training.runs.folder import read_run
    from training.runs.settings import HardwareSettings

    if not statements or not all(any(map(str.isalpha, statement)) for statement in statements):
        raise UsageError(
            "there is no statement to judge", expected="a sentence, such as `Lisinopril treats hypertension.`"
        )
    if not any(map(str.isalpha, note)):
        raise UsageError("the note has no word to judge by", expected="a text, such as a discharge summary")
    record = read_run(run, "classifier", "encoder", "corfu")
    context, sections = context_of(note, workspace.settings.build.context_sections, workspace.rules)
    column = str(record["settings"]["split_column"])
    fold = int(column.removeprefix("fold_")) if column.startswith("fold_") else 0
    asked = pl.DataFrame({"statement": list(dict.fromkeys(statement.strip() for statement in statements))})
    rows = asked.with_row_index("id").with_columns(
        pl.format("{}", pl.col("id").cast(pl.String).str.zfill(9)).alias("id"),
        pl.lit("note").alias("group_id"),
        *(pl.lit(0, pl.Int64).alias(name) for name in ("subject_id", "hadm_id")),
        # Nothing reads the label of what is predicted.
        pl.lit(QUADRANTS[0]).alias("quadrant"),
        *(pl.lit("test").alias(name) for name in ("split", "fact_split")),
        pl.lit(fold, pl.Int32).alias("fold"),
    )
    dataset = MedievalDataset(
        folder=run,
        rows=rows,
        contexts=pl.DataFrame({"hadm_id": [0], "context": [context]}),
        manifest_sha256=f"{stable_hash(0, context):x}",
    )
    hardware = HardwareSettings.model_validate({**record["settings"].get("hardware", {}), "device": device})
    cut: list[Truncation] = []
    frame = predict_rows(run, record, dataset, "test", hardware, on_truncation=cut.append).sort("id")
    doubts = doubts_of(workspace, context, rows["statement"].to_list())
    answers = zip(rows["statement"], frame["label"], frame["scores"], doubts, strict=True)
    return {
        "model": str(run),
        "sections": sections,
        "context_characters": len(context),
        "context_tokens": cut[0].tokens if cut else None,
        "context_tokens_cut": cut[0].tokens_cut if cut else 0,
        "statements": [_answer(statement, label, list(scores), why) for statement, label, scores, why in answers],
    }


def doubts_of(workspace: Workspace, context: str, statements: Sequence[str]) -> list[list[str]]:
    """Say of each statement why no run learned to judge it by a context; names are known where a release is loaded."""
    from ontoground.door import OpenWorkspace

    has_release = workspace.warehouse.is_file() and workspace.graph.is_dir()
    reader = OpenWorkspace(workspace).reader if has_release else None
    is_bare = reader is not None and not _named(reader.read(context))
    doubts = [["the context names no concept of the release"] if is_bare else [] for _ in statements]
    for statement, why in zip(statements, doubts, strict=True):
        if len(statement) > LONGEST_STATEMENT:
            why.append(f"it has {len(statement):,} characters, and statements of the data have fewer than 150")
        if reader is not None:
            named = _named(reader.read(statement))
            if len(named) < 2:
                why.append(
                    f"it names {len(named) or 'no'} concept of the release, and statements of the data relate two"
                )
    return doubts


def _named(read: TextReading) -> set[int]:
    return {mention.begin for mention in read.mentions} | {mention.begin for mention in read.unclear}


def _answer(statement: str, label: str, scores: list[float], doubts: list[str]) -> dict[str, Any]:
    q1, q2, q3, _ = scores
    return {
        "statement": statement,
        "quadrant": label,
        "probabilities": dict(zip(QUADRANTS, scores, strict=True)),
        "is_true": q1 + q2,
        "is_supported": q1 + q3,
        "doubts": doubts,
    }
