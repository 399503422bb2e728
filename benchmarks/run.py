"""Measure every stage on an open world of a given size, beside its yardsticks: ``make bench [SCALE=...]``.

A scale of 1 has the sizes of the real releases. First the whole flow, each step in a process of its own; then each
stage of ``benchmarks.stages`` with its yardsticks; last one table of all ratios. The exit code is 1 where the dataset
does not validate or a stage failed; with ``--strict`` also where a limit is not kept.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from app.openworld import World, render
from app.render import Cell, console, note, table
from benchmarks import stages
from benchmarks.command import parser, run
from benchmarks.flow import STEPS, flow_checks, generated, run_flow, whole_run
from benchmarks.measuring import OURS, Check, Inputs, Measure, Result, machine, print_result, save
from ontoground.errors import OntogroundError, UsageError
from ontoground.files import private_directory, write_text
from ontoground.workspace import Workspace

__all__ = ["STAGES", "main", "measured"]

SCALE = 0.002
NO_STAGES = ("bare", "loading")
STAGES = {
    name.replace("_", "-"): f"{stages.__name__}.{name}"
    for _, name, _ in iter_modules(stages.__path__)
    if name not in NO_STAGES
}
"""Stages with yardsticks; each module has ``measure(inputs)``."""


@dataclass(frozen=True)
class Options:
    """What is measured where."""

    scale: float
    workers: int
    threads: int
    memory_limit: str
    stages: Sequence[str]
    steps: Sequence[str]


def warm_up(folder: Path) -> None:
    """Run the flow on five patients, so that compiled searches are there: they are compiled once an installation."""
    note("compiling on five patients ...")
    root = private_directory(folder / "warm")
    write_text(root / "ontoground.toml", "[build]\nbalance_trials = 1\nbalance_rounds = 1\n")
    run_flow(root, render(folder / "warm-world", 5))


def settings_text(options: Options) -> str:
    """Return the settings of the workspace that is measured."""
    lines = ["[run]", f"workers = {options.workers}", f"threads = {options.threads}"]
    return "\n".join([*lines, f'memory_limit = "{options.memory_limit}"', ""])


def measured(
    folder: Path,
    options: Options,
    world: World | None = None,
    keep: Callable[[Sequence[Result]], object] = lambda _results: None,
) -> list[Result]:
    """Measure a world below a folder, and print each table when it is there.

    Args:
        folder: an empty folder; world, workspace and scratch folders are left in it.
        options: what is measured.
        world: a world of this scale that is there already.
        keep: is given what there is, again and again, so that hours of measuring do not hang on the last stage.
    """
    results = []
    if world is None:
        world = World(folder / "world")
        results.append(Result("generate", [generated(world.folder, options.scale, options.workers)]))
        print_result(results[-1])
    root = private_directory(folder / "workspace")
    write_text(root / "ontoground.toml", settings_text(options))
    Workspace.create(root)
    flow = run_flow(root, world, options.steps, note)
    results += [Result(step, [one], flow_checks(step, one)) for step, one in flow.items()]
    if flow:
        results.append(whole_run(list(flow.values()), options.scale))
        console().print(_table("the flow, each step from nothing", results))
    keep(results)
    inputs = Inputs(world, root, private_directory(folder / "scratch"), options.scale, options.workers)
    for name in options.stages:
        results.append(_stage(name, inputs))
        print_result(results[-1])
        keep(results)
    console().print(_checks(results))
    return results


def _stage(name: str, inputs: Inputs) -> Result:
    """Measure a stage; one that fails costs its own figures only."""
    try:
        result: Result = import_module(STAGES[name]).measure(inputs)
    except OntogroundError as error:
        return Result(name, [Measure(OURS, failed=" ".join(str(error).split()))])
    return result


def _table(title: str, results: Sequence[Result]) -> object:
    columns = ("stage", "rows", "of", "seconds", "CPU s", "rows/s", "peak MiB", "private MiB", "disk MiB", "processes")
    return table(columns, [_line(one.stage, one.ours) for one in results], title=title)


def _line(stage: str, one: Measure) -> tuple[Cell, ...]:
    memory = (round(one.peak_bytes / 2**20), round(one.private_bytes / 2**20), round(one.disk_bytes / 2**20, 1))
    speed = (f"{one.seconds:.2f}", f"{one.cpu_seconds:.2f}", round(one.rows_per_second))
    return (stage, one.rows, one.unit, *speed, *memory, one.processes)


def _checks(results: Sequence[Result]) -> object:
    rows = [_check_line(one.stage, check) for one in results for check in one.checks]
    return table(("stage", "figure", "found", "to reach", "reached"), rows, title="ratios and limits")


def _check_line(stage: str, check: Check) -> tuple[Cell, ...]:
    limit = f"{check.bound} {check.limit:g}" if check.bound else ""
    return (stage, check.what, f"{check.found:,.4g}", limit, ("yes" if check.met else "no") if check.bound else "")


def validates(results: Sequence[Result]) -> bool:
    """Return whether the validation of the dataset, where it was run, found nothing."""
    return not any(one.ours.figures.get("disagrees") for one in results)


def _arguments(values: list[str]) -> argparse.Namespace:
    options = parser(
        "run", __doc__ or "", "make bench SCALE=0.01", "python -m benchmarks.run --scale 0.333 --world DIR --save"
    )
    options.add_argument("--scale", type=float, default=SCALE, help=f"1 = the real releases (default {SCALE})")
    options.add_argument("--world", type=Path, help="a world of that scale (python -m app.openworld DIR --scale F)")
    options.add_argument("--folder", type=Path, help="an empty folder to work in, which is kept (default: temporary)")
    options.add_argument("--workers", type=int, help="processes (default: as many as cores)")
    options.add_argument("--threads", type=int, help="threads of DuckDB (default: as many as cores)")
    options.add_argument("--memory-limit", default="4GB", help="memory of DuckDB (default 4GB)")
    options.add_argument("--stages", nargs="*", choices=STAGES, help="stages with yardsticks (default: all)")
    options.add_argument("--steps", nargs="*", choices=STEPS, help="steps of the flow (default: all)")
    options.add_argument("--no-warm-up", action="store_true", help="do not run the flow on five patients first")
    options.add_argument("--strict", action="store_true", help="exit code 1 where a limit is not kept")
    options.add_argument("--save", action="store_true", help="write benchmarks/results/run-SCALE.json")
    return options.parse_args(values)


@contextmanager
def _working(folder: Path | None) -> Iterator[Path]:
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="ontoground-bench-") as temporary:
            yield Path(temporary)
        return
    if folder.exists() and any(folder.iterdir()):
        raise UsageError("the folder is not empty", found=str(folder), expected="an empty folder")
    yield private_directory(folder.absolute())


def main(values: list[str]) -> int:
    """Measure, print the tables, and say whether the dataset validates."""
    arguments = _arguments(values)
    described = machine()
    cores = described["cores"]
    options = Options(
        arguments.scale,
        arguments.workers or cores,
        arguments.threads or cores,
        arguments.memory_limit,
        list(STAGES) if arguments.stages is None else arguments.stages,
        STEPS if arguments.steps is None else arguments.steps,
    )
    world = World(arguments.world.absolute()) if arguments.world else None
    with _working(arguments.folder) as folder:
        if not arguments.no_warm_up:
            warm_up(folder)
        results = measured(folder, options, world, _keeper(options) if arguments.save else lambda _results: None)
    versions = ", ".join(f"{name} {number}" for name, number in described["packages"].items())
    valid = "yes" if validates(results) else "NO"
    line = f"{cores} cores, {described['memory_gib']} GiB, {described['system']}, Python {described['python']}"
    console().print(f"{line}, {versions}; the dataset validates: {valid}", soft_wrap=True)
    kept = all(one.met for one in results) or not arguments.strict
    return 0 if validates(results) and kept and not any(one.ours.failed for one in results) else 1


def _keeper(options: Options) -> Callable[[Sequence[Result]], object]:
    settings: dict[str, object] = {"scale": options.scale, "workers": options.workers, "threads": options.threads}
    settings["memory_limit"] = options.memory_limit
    return lambda results: save(f"run-{options.scale:g}", results, settings)


if __name__ == "__main__":
    run(main)
