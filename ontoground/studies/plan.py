"""A study file, and the cells that it stands for.

A cell is a command line of ``ontoground train`` or ``ontoground evaluate`` with a folder of its own. Lists among
options and settings are multiplied out, models and seeds too. Nothing here imports what a model needs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Literal

from pydantic import Field

from ground.errors import UsageError
from ground.settings import Section, parse_settings, read_toml

__all__ = ["PAPERS", "Cell", "EvaluateBlock", "Study", "TrainBlock", "cells_of", "evaluation", "file_of", "read_study"]

PAPERS = Path(__file__).parent / "papers"
"""The study files that ship, one for each paper."""
Scalar = str | int | float | bool
Options = dict[str, Scalar | list[Scalar]]


class TrainBlock(Section):
    """Runs of one training verb.

    Attributes:
        verb: of ``ontoground train``.
        models: names from the study's table of models; all where left out.
        after: another block, whose runs are the models that are trained further.
        seeds: one run for each; the study's where left out.
        options: options of the verb by their names without dashes; true is a flag.
        settings: what ``--set`` takes; names with dots.
        hours: how long a cell is thought to take, by a measurement, until one like it is done.
        gib: what a cell is thought to take of a card's memory.
    """

    verb: Literal["classifier", "corfu", "medhal", "medval", "grpo"]
    models: tuple[str, ...] = ()
    after: str | None = None
    seeds: tuple[int, ...] = ()
    options: Options = Field(default_factory=dict)
    settings: Options = Field(default_factory=dict)
    hours: float | None = Field(default=None, gt=0)
    gib: float | None = Field(default=None, gt=0)


class EvaluateBlock(Section):
    """One report: runs of training blocks, and models that were not trained.

    Attributes:
        verb: of ``ontoground evaluate``.
        runs: blocks whose runs are evaluated; all that the verb can read where neither runs nor models are named.
        models: names from the study's table, as they are.
        options, settings, hours, gib: as of `TrainBlock`; they are the same for all models of the report.
    """

    verb: Literal["quadrants", "medhal", "medval"]
    runs: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    options: Options = Field(default_factory=dict)
    settings: Options = Field(default_factory=dict)
    hours: float | None = Field(default=None, gt=0)
    gib: float | None = Field(default=None, gt=0)


class Study(Section):
    """A study file.

    Attributes:
        title: of the report.
        dataset: folder of a dataset; the workspace's own of each verb where left out.
        seeds: one run for each in every training block.
        models: hub name or folder, by the name that cells have.
        train, evaluate: the blocks by name.
    """

    title: str
    dataset: str | None = None
    seeds: tuple[int, ...] = (42,)
    models: dict[str, str] = Field(min_length=1)
    train: dict[str, TrainBlock] = Field(default_factory=dict)
    evaluate: dict[str, EvaluateBlock] = Field(default_factory=dict)


@dataclass(frozen=True)
class Cell:
    """One command line of a study.

    Attributes:
        block: name of its block.
        group: ``train`` or ``evaluate``.
        name: of the cell: model, variant and seed in words.
        arguments: of ``ontoground``; the folder that the cell writes is not among them.
        folder: where it lies: a hash of the arguments is in its name, so that a changed cell is another one.
        needs: cells that are done first.
        hours, gib: of its block.
    """

    block: str
    group: Literal["train", "evaluate"]
    name: str
    arguments: tuple[str, ...]
    folder: Path
    needs: tuple[Cell, ...] = ()
    hours: float | None = None
    gib: float | None = None

    @property
    def run(self) -> Path:
        """The run folder of a training cell, named as the cell since reports name it so, or an evaluation's report."""
        return self.folder / (self.folder.name if self.group == "train" else "report")

    @property
    def model(self) -> str:
        """The model that is trained or evaluated, or the run folder of what the cell needs."""
        return self.arguments[self.arguments.index("--model") + 1]

    @property
    def base_model(self) -> str:
        """The model that the cell begins with: an untrained one, whatever it became on the way."""
        return self.needs[0].base_model if self.needs else self.model

    @property
    def command(self) -> list[str]:
        """All arguments."""
        resumed = ["--resume"] if self.group == "train" else []
        return [*self.arguments, "--out", str(self.run), *resumed]


def file_of(study: str) -> Path:
    """Return the file of a study: a path, or the name of one that ships.

    Raises:
        UsageError: it is neither.
    """
    shipped = {file.stem: file for file in sorted(PAPERS.glob("*.toml"))}
    if study in shipped and not Path(study).is_file():
        return shipped[study]
    if not Path(study).is_file():
        raise UsageError("there is no such study", found=study, expected=f"a TOML file, or {', '.join(shipped)}")
    return Path(study)


def read_study(file: Path) -> Study:
    """Read a study file.

    Raises:
        UsageError: no TOML, an unknown key, a block or model that is named and not there.
    """
    study = parse_settings(Study, read_toml(file), file)
    for name, block in study.train.items():
        _known(file, f"train.{name}.models", block.models, study.models)
        _known(file, f"train.{name}.after", [block.after] if block.after else (), study.train)
        if name in _ancestors(study, name):
            raise UsageError("a block comes after itself", file=file, found=f"train.{name}")
    for name, report in study.evaluate.items():
        _known(file, f"evaluate.{name}.models", report.models, study.models)
        _known(file, f"evaluate.{name}.runs", report.runs, study.train)
    return study


def _known(file: Path, place: str, names: Iterable[str], known: Mapping[str, object]) -> None:
    if unknown := [name for name in names if name not in known]:
        raise UsageError(f"{place} names what is not there", file=file, found=unknown[0], expected=", ".join(known))


def _ancestors(study: Study, name: str) -> list[str]:
    line: list[str] = []
    after = study.train[name].after
    while after is not None and after not in line:
        line.append(after)
        after = study.train[after].after
    return line


def cells_of(study: Study, workspace: Path, root: Path) -> list[Cell]:
    """Return the cells of a study below its folder, each after those that it needs."""
    trained: dict[str, list[Cell]] = {}
    for name in sorted(study.train, key=lambda name: len(_ancestors(study, name))):
        trained[name] = list(_training(study, name, workspace, root, trained))
    cells = [cell for block in trained.values() for cell in block]
    return cells + [cell for name in study.evaluate for cell in _evaluations(study, name, workspace, root, trained)]


def _training(
    study: Study, name: str, workspace: Path, root: Path, trained: Mapping[str, Sequence[Cell]]
) -> Iterator[Cell]:
    block = study.train[name]
    bases: list[tuple[str, str, tuple[Cell, ...]]] = (
        [(f"{cell.block} {cell.name}", str(cell.run), (cell,)) for cell in trained[block.after]]
        if block.after
        else [(model, study.models[model], ()) for model in block.models or study.models]
    )
    # A seed that a base was trained with is its own.
    seeds: Sequence[int | None] = block.seeds or ((None,) if block.after else study.seeds)
    for (base, model, needs), variant, own_seed in product(bases, _variants(block.options, block.settings), seeds):
        seed = _seed_of(needs[0]) if own_seed is None else own_seed
        own = [*variant.arguments, "--set", f"seed={seed}"]
        words = [base, *variant.words] + ([] if needs else [f"seed {seed}"])
        arguments = ["train", block.verb, *_places(study, "train", block.verb, workspace), "--model", model, *own]
        yield _cell(name, "train", ", ".join(words), arguments, root, needs, block)


def _seed_of(cell: Cell) -> int:
    return int(next(word for word in reversed(cell.arguments) if word.startswith("seed=")).removeprefix("seed="))


def _evaluations(
    study: Study, name: str, workspace: Path, root: Path, trained: Mapping[str, Sequence[Cell]]
) -> Iterator[Cell]:
    block = study.evaluate[name]
    runs = block.runs or (() if block.models else tuple(study.train))
    bases: list[tuple[str, str, tuple[Cell, ...]]] = [
        (f"{cell.block} {cell.name}", str(cell.run), (cell,)) for run in runs for cell in trained[run]
    ]
    bases += [(model, study.models[model], ()) for model in block.models]
    for base, model, needs in bases:
        own = [*evaluation(study, name, workspace), "--model", model]
        yield _cell(name, "evaluate", base, own, root, needs, block)


def evaluation(study: Study, name: str, workspace: Path) -> list[str]:
    """Return the arguments of a report, but for its models and its folder."""
    block = study.evaluate[name]
    variants = list(_variants(block.options, block.settings))
    if len(variants) != 1:
        raise UsageError(f"evaluate.{name} has a list", expected="one value for each option; a block for each report")
    return ["evaluate", block.verb, *_places(study, "evaluate", block.verb, workspace), *variants[0].arguments]


def _places(study: Study, group: Literal["train", "evaluate"], verb: str, workspace: Path) -> list[str]:
    option = "--reference" if group == "evaluate" and verb != "quadrants" else "--dataset"
    places = ["--workspace", str(workspace)]
    return places if study.dataset is None or verb == "grpo" else [*places, option, study.dataset]


@dataclass(frozen=True)
class _Variant:
    words: tuple[str, ...]
    arguments: tuple[str, ...]


def _variants(options: Options, settings: Options) -> Iterator[_Variant]:
    """Yield each way to choose one value for each option and setting; words name what there is a choice of."""
    named = [(f"--{name.replace('_', '-')}", name, value) for name, value in options.items()]
    named += [("--set", name, value) for name, value in settings.items()]
    choices = [value if isinstance(value, list) else [value] for _, _, value in named]
    for chosen in product(*choices):
        words, arguments = [], []
        for (flag, name, value), own in zip(named, chosen, strict=True):
            arguments += _argument(flag, name, own)
            words += [f"{name} {own}"] if isinstance(value, list) else []
        yield _Variant(tuple(words), tuple(arguments))


def _argument(flag: str, name: str, value: Scalar) -> list[str]:
    if flag == "--set":
        return [flag, f"{name}={json.dumps(value) if isinstance(value, bool) else value}"]
    if isinstance(value, bool):
        # As typer names the other side of a switch.
        return [flag if value else f"{flag[:2]}no-{flag[2:]}"]
    return [flag, str(value)]


def _cell(
    block: str,
    group: Literal["train", "evaluate"],
    name: str,
    arguments: Sequence[str],
    root: Path,
    needs: tuple[Cell, ...],
    of: TrainBlock | EvaluateBlock,
) -> Cell:
    known = hashlib.sha256(json.dumps(arguments).encode()).hexdigest()[:8]
    words = "-".join("".join(letter if letter.isalnum() else " " for letter in f"{block} {name}").split())
    folder = root / "cells" / f"{words[:100]}-{known}"
    return Cell(block, group, name, tuple(arguments), folder, needs, of.hours, of.gib)
