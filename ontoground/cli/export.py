"""``ontoground export physionet|lm-eval|inspect DATASET_DIR DIR``, ``ontoground export omop FILE``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, Option

from ontoground.cli.app import group_of
from ontoground.cli.options import BuiltDataset, InWorkspace, Result, verb
from ontoground.cli.render import Blocks, number, unfolded

if TYPE_CHECKING:
    from training.asking.harness import Harness

__all__ = ["group"]

group = group_of("export")


@verb(
    group,
    "A folder as PhysioNet asks for derived data.",
    "ontoground export physionet work/datasets/medieval upload",
    "ontoground export physionet work/datasets/medieval upload --cui-only",
)
def physionet(
    dataset: BuiltDataset,
    folder: Annotated[Path, Argument(metavar="DIR", help="Folder to create; it must not exist yet, or must be empty")],
    options: InWorkspace,
    title: Annotated[
        str | None, Option(metavar="TEXT", help="Title of the project; default: made from the dataset")
    ] = None,
    cui_only: Annotated[
        bool, Option("--cui-only", help="Replace the release's names with CUIs (medieval only)")
    ] = False,
) -> Result:
    """Write README.md with PhysioNet's sections, data, croissant.json, manifest, LICENSE.txt and SHA256SUMS.txt.

    Nothing is sent. What only you can write is marked AUTHORS: in README.md and listed. Some UMLS sources may not be
    passed on as strings (MRSAB.RRF, SRL above 0): --cui-only replaces names with CUIs; the text of the notes stays.
    """
    from builders.physionet import export_physionet

    done = export_physionet(dataset, folder, title=title, cui_only=cui_only)
    return options.result("export physionet", _blocks, dataset=str(dataset), **done.as_dict())


@verb(
    group,
    "Mentions as OMOP's table NOTE_NLP.",
    "ontoground export omop note_nlp.csv",
    "ontoground export omop note_nlp.parquet --json",
)
def omop(
    file: Annotated[Path, Argument(metavar="FILE", help="Where to, .csv or .parquet; it holds words of the notes")],
    options: InWorkspace,
) -> Result:
    """Write each mention of the notes as a row of NOTE_NLP of the OMOP Common Data Model.

    term_exists, term_temporal and term_modifiers come from what the note says of it. note_nlp_concept_id is filled
    where the records were loaded from OMOP and their vocabulary has a standard concept of the mention.
    """
    from builders.note_nlp import export_note_nlp
    from ground.storage.outputs import answer_file
    from ontoground.flow.session import reading

    with reading(options.open()) as connection:
        done = export_note_nlp(connection, answer_file(file))
    return options.result("export omop", _note_nlp, **done.as_dict())


Into = Annotated[Path, Argument(metavar="DIR", help="Folder to create; it must not exist yet, or must be empty")]
OfSplit = Annotated[Literal["train", "validation", "test"], Option("--split", help="Rows of this split")]


@verb(
    group,
    "A dataset as lm-evaluation-harness loads it.",
    "ontoground export lm-eval work/datasets/medieval harness",
    "ontoground export lm-eval work/datasets/medhal harness --split validation",
)
def lm_eval(dataset: BuiltDataset, folder: Into, options: InWorkspace, split: OfSplit = "test") -> Result:
    """Write a task for lm_eval --include_path: prompts in Parquet, the reading of answers and the rates of evaluate.

    Nothing of ontoground is needed to run it. The prompts hold the text of the notes.
    """
    return _harness("lm-eval", dataset, folder, options, split)


@verb(
    group,
    "A dataset as Inspect loads it.",
    "ontoground export inspect work/datasets/medieval harness",
    "ontoground export inspect work/datasets/medval harness --json",
)
def inspect(dataset: BuiltDataset, folder: Into, options: InWorkspace, split: OfSplit = "test") -> Result:
    """Write a task for inspect eval: prompts in Parquet, the reading of answers and the rates of evaluate.

    Nothing of ontoground is needed to run it. The prompts hold the text of the notes.
    """
    return _harness("inspect", dataset, folder, options, split)


def _harness(
    harness: Harness, dataset: Path, folder: Path, options: InWorkspace, split: Literal["train", "validation", "test"]
) -> Result:
    from training.asking.harness import export_harness

    done = export_harness(harness, dataset, folder, split)
    return options.result(f"export {harness}", _task, dataset=str(dataset), **done.as_dict())


def _task(payload: dict[str, Any]) -> Blocks:
    yield unfolded(f"{number(payload['rows'])} rows as the task {payload['task']} in {payload['folder']}")
    yield unfolded(f"run it: {payload['run']}")


def _note_nlp(payload: dict[str, Any]) -> Blocks:
    yield unfolded(f"{number(payload['rows'])} rows in {payload['file']}")
    yield f"{number(payload['with_concept'])} of them with a standard concept"


def _blocks(payload: dict[str, Any]) -> Blocks:
    yield unfolded(f"{len(payload['files'])} files in {payload['folder']}")
    yield unfolded(f"title: {payload['title']}")
    yield unfolded(f"left for you to write: {', '.join(payload['to_write'])} (AUTHORS: in README.md)")
