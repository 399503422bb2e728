"""A study file, and the cells that it stands for.

A cell is a command line of ``ontoground train`` or ``ontoground evaluate`` with a folder of its own. Lists among
options and settings are multiplied out, models and seeds too. Nothing here imports what a model needs.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Literal

from pydantic import Field

from ground.errors import UsageError
from ground.settings import Section, parse_settings, read_toml

__all__ = [
    "PAPERS",
    "AskBlock",
    "Cell",
    "EvaluateBlock",
    "Study",
    "TrainBlock",
    "cells_of",
    "file_of",
    "read_study",
    "reported",
]

PAPERS = Path(__file__).parent / "papers"
"""The study files that ship, one for each paper."""
LONGEST = 100
"""Characters of a cell's words in the names of its folders."""
Scalar = str | int | float | bool
Options = dict[str, Scalar | list[Scalar | list[Scalar]]]
"""Values by name; a list is a choice, and a list in it an option that is given several times."""
Group = Literal["train", "evaluate", "ask"]


class Model(Section):
    """A model that is no plain name.

    Attributes:
        name: hub name or folder, or what its endpoint calls it.
        endpoint: where it answers; without one it is loaded here.
        format: an evaluator's own format, in which it is asked (``asked.format``).
    """

    name: str
    endpoint: str | None = None
    format: str | None = None

    def arguments(self, *, asked: bool) -> list[str]:
        """Return how a verb is told of it; ``asked`` is by prompts, as every model with a format or endpoint is."""
        if not (asked or self.endpoint or self.format):
            return ["--model", self.name]
        where = ["--endpoint", self.endpoint] if self.endpoint else ["--set", "language_model.kind=transformers"]
        return ["--endpoint-model", self.name, *where, *(["--set", f"asked.format={self.format}"] * bool(self.format))]


class Block(Section):
    """What every block has.

    Attributes:
        models: names from the study's table of models.
        options: options of the verb by their names without dashes; true is a flag.
        settings: what ``--set`` takes; names with dots.
        hours: how long a cell is thought to take, by a measurement, until one like it is done or rehearsed.
        gib: what a cell is thought to take of a card's memory.
        paper: the paper's numbers, from 0 to 1, by cell (without its seed) and metric.
    """

    models: tuple[str, ...] = ()
    options: Options = Field(default_factory=dict)
    settings: Options = Field(default_factory=dict)
    hours: float | None = Field(default=None, gt=0)
    gib: float | None = Field(default=None, gt=0)
    paper: dict[str, dict[str, float]] = Field(default_factory=dict)


class TrainBlock(Block):
    """Runs of one training verb.

    Attributes:
        verb: of ``ontoground train``.
        models: all of the study where left out.
        after: another block, whose runs are the models that are trained further.
        seeds: one run for each; the study's where left out.
    """

    verb: Literal["classifier", "corfu", "medhal", "medval", "grpo"]
    after: str | None = None
    seeds: tuple[int, ...] = ()


class EvaluateBlock(Block):
    """One report: runs of training blocks, and models that were not trained.

    Attributes:
        verb: of ``ontoground evaluate``.
        runs: blocks whose runs are evaluated; all that the verb can read where neither runs nor models are named.
        options, settings: the same for all models of the report.
    """

    verb: Literal["quadrants", "medhal", "medval"]
    runs: tuple[str, ...] = ()


class AskBlock(Block):
    """Benchmarks' questions, put to models and to the arms of GRPO's runs (``ontoground steward ask``).

    Attributes:
        runs: blocks of the verb grpo.
        labels: two sets are held against each other on a board; one is what a regression over all is fitted to.
    """

    runs: tuple[str, ...] = ()
    labels: tuple[str, ...] = Field(default=("original", "final"), min_length=1, max_length=2)


class Study(Section):
    """A study file.

    Attributes:
        title: of the report.
        basis: what the hours and the memory of its blocks rest on, in words.
        dataset: folder of a dataset; the workspace's own of each verb where left out.
        seeds: one run for each in every training block.
        models: hub name or folder, by the name that cells have.
        train, evaluate, ask: the blocks by name.
    """

    title: str
    basis: str = ""
    dataset: str | None = None
    seeds: tuple[int, ...] = (42,)
    models: dict[str, str | Model] = Field(min_length=1)
    train: dict[str, TrainBlock] = Field(default_factory=dict)
    evaluate: dict[str, EvaluateBlock] = Field(default_factory=dict)
    ask: dict[str, AskBlock] = Field(default_factory=dict)

    def model(self, name: str) -> Model:
        """Return a model of its table."""
        known = self.models[name]
        return Model(name=known) if isinstance(known, str) else known


@dataclass(frozen=True)
class Cell:
    """One command line of a study.

    Attributes:
        block: name of its block.
        group: of its block.
        name: of the cell: model, variant and seed in words.
        arguments: of ``ontoground``; the folder that the cell writes is not among them.
        folder: where it lies: a hash of the arguments is in its name, so that a changed cell is another one.
        needs: cells that are done first.
        labels: what its answers are graded against, of a benchmark's question.
        hours, gib: of its block.
    """

    block: str
    group: Group
    name: str
    arguments: tuple[str, ...]
    folder: Path
    needs: tuple[Cell, ...] = ()
    labels: tuple[str, ...] = ()
    hours: float | None = None
    gib: float | None = None

    @property
    def run(self) -> Path:
        """A run folder, named as the cell since reports name it so; an evaluation's report; a file of answers."""
        words, _, known = self.folder.name.rpartition("-")
        # Words that were cut may be those of two cells.
        name = words if len(words) < LONGEST else f"{words}-{known}"
        return self.folder / {"train": name, "evaluate": "report", "ask": "answers.parquet"}[self.group]

    @property
    def model(self) -> str:
        """The model that is trained, evaluated or asked, or the run folder of what the cell needs."""
        return self.option("--model") or self.option("--endpoint-model") or ""

    @property
    def base_model(self) -> str:
        """The model that the cell begins with: an untrained one, whatever it became on the way."""
        return self.needs[0].base_model if self.needs else self.model

    @property
    def plain_name(self) -> str:
        """The name without its seed, by which the study gives the paper's numbers."""
        return re.sub(r", seed \d+", "", self.name)

    @property
    def command(self) -> list[str]:
        """All arguments."""
        resumed = ["--resume"] if self.group == "train" else []
        return [*self.arguments, "--out", str(self.run), *resumed]

    def option(self, name: str) -> str | None:
        """Return the value of an option, None where it is left out."""
        return self.arguments[self.arguments.index(name) + 1] if name in self.arguments else None


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
    for group in ("evaluate", "ask"):
        for name, report in getattr(study, group).items():
            _known(file, f"{group}.{name}.models", report.models, study.models)
            _known(file, f"{group}.{name}.runs", report.runs, study.train)
    for name, asked in study.ask.items():
        _known(file, f"ask.{name}.runs", asked.runs, [run for run in study.train if study.train[run].verb == "grpo"])
    return study


def _known(file: Path, place: str, names: Iterable[str], known: Iterable[str]) -> None:
    if unknown := [name for name in names if name not in set(known)]:
        raise UsageError(f"{place} names what is not there", file=file, found=unknown[0], expected=", ".join(known))


def _ancestors(study: Study, name: str) -> list[str]:
    line: list[str] = []
    after = study.train[name].after
    while after is not None and after not in line:
        line.append(after)
        after = study.train[after].after
    return line


def cells_of(study: Study, workspace: Path, root: Path) -> list[Cell]:
    """Return the cells of a study below its folder, each after those that it needs.

    Raises:
        UsageError: the paper's numbers are of a cell that there is not, or a report has a choice of values.
    """
    trained: dict[str, list[Cell]] = {}
    for name in sorted(study.train, key=lambda name: len(_ancestors(study, name))):
        trained[name] = list(_training(study, name, workspace, root, trained))
    cells = [cell for block in trained.values() for cell in block]
    cells += [cell for name in study.evaluate for cell in _evaluations(study, name, workspace, root, trained)]
    cells += [cell for name in study.ask for cell in _questions(study, name, workspace, root, trained)]
    for group in ("train", "evaluate", "ask"):
        for name, block in getattr(study, group).items():
            own = [cell.plain_name for cell in cells if (cell.group, cell.block) == (group, name)]
            _known(root, f"{group}.{name}.paper", block.paper, own)
    return cells


def _training(
    study: Study, name: str, workspace: Path, root: Path, trained: Mapping[str, Sequence[Cell]]
) -> Iterator[Cell]:
    block = study.train[name]
    bases: list[tuple[str, str, tuple[Cell, ...]]] = (
        [(f"{cell.block} {cell.name}", str(cell.run), (cell,)) for cell in trained[block.after]]
        if block.after
        else [(model, study.model(model).name, ()) for model in block.models or study.models]
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
    shared = ["evaluate", block.verb, *reported(study, name, workspace)]
    runs = block.runs or (() if block.models else tuple(study.train))
    for cell in (cell for run in runs for cell in trained[run]):
        own = [*shared, "--model", str(cell.run)]
        yield _cell(name, "evaluate", f"{cell.block} {cell.name}", own, root, (cell,), block)
    for model in block.models:
        own = [*shared, *study.model(model).arguments(asked=False)]
        yield _cell(name, "evaluate", model, own, root, (), block)


def reported(study: Study, name: str, workspace: Path) -> list[str]:
    """Return the arguments of a report behind its verb, but for its models and its folder."""
    block = study.evaluate[name]
    variants = list(_variants(block.options, block.settings))
    if len(variants) != 1:
        raise UsageError(f"evaluate.{name} has a list", expected="one value for each option; a block for each report")
    return [*_places(study, "evaluate", block.verb, workspace), *variants[0].arguments]


def _questions(
    study: Study, name: str, workspace: Path, root: Path, trained: Mapping[str, Sequence[Cell]]
) -> Iterator[Cell]:
    block = study.ask[name]
    asked: list[tuple[str, Model, tuple[Cell, ...]]] = [(model, study.model(model), ()) for model in block.models]
    for cell in (cell for run in block.runs for cell in trained[run]):
        arms = [value for flag, value in zip(cell.arguments, cell.arguments[1:], strict=False) if flag == "--arm"]
        asked += [
            (f"{cell.block} {cell.name}, arm {arm}", Model(name=str(cell.run / f"arm-{arm}")), (cell,))
            for arm in arms or ("original", "recomputed")
        ]
    for (base, model, needs), variant in product(asked, _variants(block.options, block.settings)):
        own = ["--workspace", str(workspace), *model.arguments(asked=True), "--name", base, *variant.arguments]
        words = ", ".join([base, *variant.words])
        yield _cell(name, "ask", words, ["steward", "ask", *own], root, needs, block)


def _places(study: Study, group: Group, verb: str, workspace: Path) -> list[str]:
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
            for choice in own if isinstance(own, list) else [own]:
                arguments += _argument(flag, name, choice)
            words += [f"{name} {own}"] if isinstance(value, list) and len(value) > 1 else []
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
    group: Group,
    name: str,
    arguments: Sequence[str],
    root: Path,
    needs: tuple[Cell, ...],
    of: Block,
) -> Cell:
    # The same wherever the workspace lies, and however it was named.
    own = [word.removeprefix(f"{root}/") for word in arguments]
    at = own.index("--workspace")
    known = hashlib.sha256(json.dumps(own[:at] + own[at + 2 :]).encode()).hexdigest()[:8]
    words = "-".join("".join(letter if letter.isalnum() else " " for letter in f"{block} {name}").split())
    folder = root / "cells" / f"{words[:LONGEST]}-{known}"
    labels = of.labels if isinstance(of, AskBlock) else ()
    return Cell(block, group, name, tuple(arguments), folder, needs, labels, of.hours, of.gib)
