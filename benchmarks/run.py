"""Measure every stage on an open world of a given size, beside its yardsticks: ``make bench [SCALE=...]``.

A scale of 1 has the sizes of the real releases. First the whole flow, each step in a process of its own; then each
stage of ``benchmarks.stages`` with its yardsticks; last one table of all ratios. What has been measured is kept in the
folder at once: with ``--folder`` a run that was stopped goes on where it ended, and ``--steps`` and ``--stages`` can be
measured one after another into one report. The exit code is 1 where the dataset does not validate or a stage failed;
with ``--strict`` also where a limit is not kept.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from benchmarks import stages
from benchmarks.command import parser, run
from benchmarks.flow import STEPS, flow_checks, generated, run_flow, whole_run
from benchmarks.kept import Kept
from benchmarks.measures import Measure, Result
from benchmarks.measuring import OURS, Inputs, machine, save
from benchmarks.tables import print_checks, print_flow, print_result
from ground.errors import OntogroundError
from ground.storage.files import private_directory, write_text
from ground.storage.workspace import Workspace
from ontoground.cli.render import console, note
from openworld import World, render

__all__ = ["STAGES", "Options", "main", "measured", "results_of", "workspace_of"]

SCALE = 0.002
GENERATE = "generate"
NO_STAGES = ("bare", "loading")
STAGES = {
    name.replace("_", "-"): f"{stages.__name__}.{name}"
    for _, name, _ in iter_modules(stages.__path__)
    if name not in NO_STAGES
}
"""Stages with yardsticks; each module has ``measure(inputs)``."""


@dataclass(frozen=True)
class Options:
    """What is measured where; ``again``: also what the folder has measures of; ``concepts``: 0 for the world's own."""

    scale: float
    workers: int
    threads: int
    memory_limit: str
    stages: Sequence[str]
    steps: Sequence[str]
    world: Path | None = None
    again: bool = False
    concepts: int = 0

    @property
    def settings(self) -> Mapping[str, object]:
        """What all measures of a folder and of a report have in common."""
        names = ("scale", "workers", "threads", "memory_limit")
        more = {"concepts": self.concepts} if self.concepts else {}
        return {name: getattr(self, name) for name in names} | more


def warm_up(folder: Path) -> None:
    """Run the flow on five patients, so that compiled searches are there: they are compiled once an installation."""
    note("compiling on five patients ...")
    with tempfile.TemporaryDirectory(prefix="warm-", dir=folder) as scratch:
        root = private_directory(Path(scratch) / "workspace")
        write_text(root / "ontoground.toml", "[build]\nbalance_trials = 1\nbalance_rounds = 1\n")
        run_flow(root, render(Path(scratch) / "world", 5))


def settings_text(options: Options) -> str:
    """Return the settings of the workspace that is measured."""
    lines = ["[run]", f"workers = {options.workers}", f"threads = {options.threads}"]
    return "\n".join([*lines, f'memory_limit = "{options.memory_limit}"', ""])


def workspace_of(folder: Path, options: Options, kept: Kept) -> Path:
    """Return the workspace of a folder: empty where all steps are measured again, or else as it was left."""
    root = folder / "workspace"
    if options.again and all(step in options.steps and kept.get(step) for step in STEPS):
        # What a step adds to the disk is seen in an empty workspace only.
        shutil.rmtree(root, ignore_errors=True)
    private_directory(root)
    write_text(root / "ontoground.toml", settings_text(options))
    Workspace.create(root)
    return root


def measured(
    folder: Path, options: Options, kept: Kept, tell: Callable[[Sequence[Result]], object] = lambda _results: None
) -> list[Result]:
    """Measure a world below a folder, print each table when it is there, and return all that the folder has.

    Args:
        folder: world, workspace and scratch folders are left in it.
        options: what is measured.
        kept: what has been measured in this folder; it is not measured again, unless that is wanted.
        tell: is given all results, again and again, so that hours of measuring do not hang on the last stage.
    """

    def keep(name: str, result: Result) -> None:
        kept.put(name, result)
        tell(results_of(kept, options.scale))

    def keep_step(step: str, measure: Measure) -> None:
        note(f"{step}: {measure.seconds:.1f} s")
        keep(step, Result(step, [measure], flow_checks(step, measure), kind="step"))

    wanted = _to_do(kept, options)
    world = World(options.world or folder / "world")
    if options.world is None and kept.get(GENERATE) is None:
        result = Result(
            GENERATE, [generated(world.folder, options.scale, options.workers, options.concepts)], kind="step"
        )
        print_result(result)
        keep(GENERATE, result)
    root = workspace_of(folder, options, kept)
    run_flow(root, world, [step for step in options.steps if step in wanted], keep_step)
    flow = [result for result in results_of(kept, options.scale) if result.kind == "step"]
    if options.steps:
        print_flow(flow)
    inputs = Inputs(world, root, private_directory(folder / "scratch"), options.scale, options.workers)
    for name in options.stages:
        if _stage_key(name) in wanted:
            result = _stage(name, inputs)
            print_result(result)
            keep(_stage_key(name), result)
    results = results_of(kept, options.scale)
    print_checks(results)
    for result in results:
        if result.remark and result.kind == "step":
            console().print(result.remark)
    return results


def results_of(kept: Kept, scale: float) -> list[Result]:
    """Return all that a folder has: generation, steps of the flow, their sum where all were measured, and stages."""
    flow = kept.results(STEPS)
    whole = [whole_run([result.ours for result in flow], scale)] if len(flow) == len(STEPS) else []
    return [*kept.results([GENERATE]), *flow, *whole, *kept.results([_stage_key(name) for name in STAGES])]


def _to_do(kept: Kept, options: Options) -> list[str]:
    """Return the names, in the folder, of what is to be measured."""
    names = [*options.steps, *(_stage_key(name) for name in options.stages)]
    return [name for name in names if options.again or kept.get(name) is None]


def _stage_key(name: str) -> str:
    # A stage may have the name of a step.
    return f"stage {name}"


def _stage(name: str, inputs: Inputs) -> Result:
    """Measure a stage; one that fails costs its own figures only."""
    try:
        result: Result = import_module(STAGES[name]).measure(inputs)
    except OntogroundError as error:
        return Result(name, [Measure(OURS, failed=" ".join(str(error).split()))])
    return result


def validates(results: Sequence[Result]) -> bool:
    """Return whether the validation of the dataset, where it was run, found nothing."""
    return not any(result.ours.figures.get("disagrees") for result in results)


def _arguments(values: list[str]) -> argparse.Namespace:
    options = parser(
        "run",
        __doc__ or "",
        "make bench SCALE=0.01",
        "python -m benchmarks.run --scale 0.333 --folder DIR --save",
        "python -m benchmarks.run --scale 0.333 --folder DIR --save --stages queries --again",
    )
    options.add_argument("--scale", type=float, default=SCALE, help=f"1 = the real releases (default {SCALE})")
    options.add_argument("--concepts", type=int, default=0, help="that notes can speak of (0: the world's own)")
    options.add_argument("--world", type=Path, help="a world of that scale (python -m openworld DIR --scale F)")
    options.add_argument("--folder", type=Path, help="a folder to work in, which is kept; go on with what it has")
    options.add_argument("--workers", type=int, help="processes (default: as many as cores)")
    options.add_argument("--threads", type=int, help="threads of DuckDB (default: as many as cores)")
    options.add_argument("--memory-limit", default="4GB", help="memory of DuckDB (default 4GB)")
    options.add_argument("--stages", nargs="*", choices=STAGES, help="stages with yardsticks (default: all)")
    options.add_argument("--steps", nargs="*", choices=STEPS, help="steps of the flow (default: all)")
    options.add_argument("--again", action="store_true", help="measure them although the folder has their measures")
    options.add_argument("--no-warm-up", action="store_true", help="do not run the flow on five patients first")
    options.add_argument("--strict", action="store_true", help="exit code 1 where a limit is not kept")
    options.add_argument("--save", action="store_true", help="write benchmarks/results/run-SCALE.json")
    return options.parse_args(values)


def _options(arguments: argparse.Namespace, cores: int) -> Options:
    return Options(
        arguments.scale,
        arguments.workers or cores,
        arguments.threads or cores,
        arguments.memory_limit,
        list(STAGES) if arguments.stages is None else arguments.stages,
        STEPS if arguments.steps is None else arguments.steps,
        arguments.world.absolute() if arguments.world else None,
        arguments.again,
        arguments.concepts,
    )


@contextmanager
def _working(folder: Path | None) -> Iterator[Path]:
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="ontoground-bench-") as temporary:
            yield Path(temporary)
        return
    yield folder.absolute()


def main(values: list[str]) -> int:
    """Measure, print the tables, and say whether the dataset validates."""
    arguments = _arguments(values)
    described = machine()
    options = _options(arguments, described["cores"])

    def write(results: Sequence[Result], *, say: bool = False) -> None:
        if arguments.save:
            # Growth is of one world: a run with other concepts has a name of its own.
            of_concepts = f"concepts-{options.concepts}-" if options.concepts else ""
            save(f"{of_concepts}run-{options.scale:g}", results, options.settings, say=say)

    with _working(arguments.folder) as folder:
        kept = Kept.open(folder, {**options.settings, "world": str(options.world or "")})
        if not arguments.no_warm_up and _to_do(kept, options):
            warm_up(folder)
        results = measured(folder, options, kept, write)
    write(results, say=True)
    versions = ", ".join(f"{name} {number}" for name, number in described["packages"].items())
    valid = "yes" if validates(results) else "NO"
    line = f"{described['cores']} cores, {described['memory_gib']} GiB, {described['system']}"
    console().print(f"{line}, Python {described['python']}, {versions}; the dataset validates: {valid}")
    kept_limits = all(result.met for result in results) or not arguments.strict
    return 0 if validates(results) and kept_limits and not any(result.ours.failed for result in results) else 1


if __name__ == "__main__":
    run(main)
