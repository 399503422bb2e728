"""What ``ontoground steward audit`` and ``recompute`` share: where runs come from, and how those missing are made."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ground.errors import UsageError
from ontoground.cli.steward.options import OfBenchmark
from ontoground.cli.text_options import split_overrides

if TYPE_CHECKING:
    from rich.console import Console

    from ground.lm.client import LanguageModel
    from ground.settings_steward import StewardSettings
    from stewardship.benchmark.folder import Benchmark
    from stewardship.runs.engines import Engine
    from stewardship.runs.store import Phase
    from stewardship.tools.base import Tool

__all__ = ["OfRuns", "paint_runs", "runs_payload"]

TOOLS = ("calculator", "python", "reference")
NO_TOOL = "none"
ALONE = ("calculators", "evidence", "sql")
"""Engines that give the same answer each time."""


@dataclass(frozen=True, kw_only=True)
class OfRuns(OfBenchmark):
    """Options of both verbs; each has its own ``--engine``."""

    answers: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Recorded answers: uid, run1, ..., runN; or uid, run, answer"),
    ] = None
    endpoint: Annotated[
        str | None, typer.Option(metavar="URL", help="Ask a language model at this OpenAI-compatible server")
    ] = None
    endpoint_model: Annotated[str | None, typer.Option(metavar="NAME", help="The server's name of that model")] = None
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="TOML file with [language_model] settings")] = None
    tools: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Tools of the model by commas: calculator, python, reference; or none. Where left out: "
            "calculator,python, and none where labels are names",
        ),
    ] = None
    reference: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Your texts (.md, .txt, .html) that the model may search")
    ] = None
    runs: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Runs of each row; the settings' (5) where left out")
    ] = None
    rows: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="A sample of rows, in proportion to the strata; all if left out"),
    ] = None
    settle: Annotated[bool, typer.Option("--settle", help="Count runs that could not be made as empty votes")] = False
    overrides: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Override a setting, as steward.quorum=3 or language_model.concurrency=4"
        ),
    ] = None

    @property
    def of_model(self) -> tuple[str, ...]:
        """The overrides of the language model."""
        return split_overrides(self.overrides)[1]

    def kind(self, engine: str | None) -> str:
        """Return where runs come from.

        Raises:
            UsageError: options that do not go together.
        """
        kind = engine or ("recorded" if self.answers else "lm")
        if (kind == "recorded") != (self.answers is not None):
            raise UsageError("--engine recorded and --answers FILE go together", found=f"--engine {kind}")
        asked = (self.endpoint, self.endpoint_model, self.config, self.of_model, self.tools, self.reference)
        if kind != "lm" and any(asked):
            raise UsageError(
                f"--engine {kind} asks no language model",
                expected="no --endpoint, --endpoint-model, --config, --tools, --reference or language_model setting",
            )
        if kind in ALONE and self.runs not in (None, 1):
            raise UsageError(
                f"--engine {kind} gives the same answer each time", found=f"--runs {self.runs}", expected="1 run"
            )
        return kind

    def tool_names(self, default: str) -> tuple[str, ...]:
        """Return the tools of the model.

        Raises:
            UsageError: an unknown tool, or no texts to search.
        """
        given = default if self.tools is None else self.tools
        names = [] if given.strip() == NO_TOOL else [name.strip() for name in given.split(",")]
        if unknown := [name for name in names if name not in TOOLS]:
            raise UsageError("no such tool", found=", ".join(unknown), expected=f"{', '.join(TOOLS)}, or {NO_TOOL}")
        if "reference" in names and self.reference is None:
            raise UsageError("--tools reference has no folder", expected="--reference DIR with your texts")
        return tuple(name for name in TOOLS if name in names or (name == "reference" and self.reference))


def runs_payload(phase: Phase, engine: str | None, options: OfRuns) -> dict[str, Any]:
    """Make the runs of a phase that are missing, and return what ``--json`` prints; what is finished is stored."""
    from ground.progress import progress
    from ontoground.cli.render import note
    from stewardship.runs.auditing import audit_labels
    from stewardship.runs.phases import chosen_rows
    from stewardship.runs.recomputing import recompute_labels
    from stewardship.runs.sampling import stratified_sample
    from stewardship.runs.store import differences

    kind = options.kind(engine)
    own, _ = split_overrides(options.overrides)
    benchmark, settings = replace(options, overrides=own).open_benchmark()
    tools = options.tool_names(NO_TOOL if benchmark.categories else "calculator,python") if kind == "lm" else ()
    strata = dict.fromkeys(benchmark.items["uid"], "") | benchmark.column("stratum")
    uids = None if options.rows is None else stratified_sample(strata, options.rows, seed=settings.seed)
    runs = 1 if kind in ALONE else options.runs or settings.runs
    work, title = (audit_labels, "audit") if phase == "audit" else (recompute_labels, "recomputation")
    with ExitStack() as stack:
        if kind == "lm":
            source, model = _asking(phase, options, settings, benchmark, tools, stack)
        else:
            source, model = _engine(kind, options, benchmark), None
        rows = len(chosen_rows(benchmark, source, uids))
        for other, names in differences(benchmark.folder, phase, source.describe()).items():
            note(f"a new series of runs: {', '.join(names)} differ from those of {other}")
        with progress(title, rows * runs) as advance:
            outcome: Any = work(
                benchmark, source, settings, runs=runs, uids=uids, settle=options.settle, advance=advance
            )
    return {
        **options.head(phase, benchmark),
        "engine": kind,
        "tools": list(tools),
        "series": outcome.series,
        "folder": str(outcome.folder),
        "votes": str(outcome.votes),
        "rows": rows,
        "runs": runs,
        "runs_stored": outcome.made.stored,
        "runs_made": outcome.made.made,
        "runs_not_made": dict(sorted(outcome.made.passing.items())),
        "incomplete": list(outcome.incomplete),
        "events": outcome.events,
        "summary": asdict(outcome.summary),
        "language_model": {"model": model.settings.model, **model.totals.as_dict()} if model else None,
        "unparseable": outcome.unparseable,
        "unanswered": outcome.unanswered,
        **({"failure_modes": outcome.failure_modes} if phase == "audit" else {}),
    }


def _engine(kind: str, options: OfRuns, benchmark: Benchmark) -> Engine:
    """Return an engine that asks no language model."""
    from ontoground.cli.runs import require_packages

    if kind == "calculators":
        require_packages("pint", extra="steward")
        from stewardship.runs.calculating import CalculatorEngine

        return CalculatorEngine()
    from stewardship.datasets.engines import evidence_engine, sql_engine
    from stewardship.runs.engines import RecordedEngine

    if options.answers is not None:
        return RecordedEngine(options.answers)
    return (evidence_engine if kind == "evidence" else sql_engine)(options.workspace, benchmark)


def _asking(
    phase: Phase,
    options: OfRuns,
    settings: StewardSettings,
    benchmark: Benchmark,
    tools: tuple[str, ...],
    stack: ExitStack,
) -> tuple[Engine, LanguageModel]:
    """Open the language model, its tools, and the engine that asks it; the stack closes them."""
    from ground.lm.client import LanguageModel
    from ground.storage.files import private_directory
    from stewardship.runs.conversing import ModelEngine
    from stewardship.runs.prompts import audit_script, recompute_script
    from stewardship.runs.store import FOLDER
    from stewardship.tools.base import Toolbox

    model = stack.enter_context(LanguageModel(_model_settings(options), options.workspace, benchmark.licence_tier))
    results = private_directory(benchmark.folder / FOLDER) / "tools.sqlite"
    toolbox = Toolbox([_tool(name, options, settings) for name in tools], results)
    stack.callback(toolbox.close)
    said: Any = {"categories": benchmark.categories, "turns": settings.turns}
    said["manuals"] = [tool.manual() for tool in toolbox.tools.values()]
    said["looking"] = "calculator" in tools or "reference" in tools
    if phase == "audit":
        script = audit_script(**said)
    else:
        script = recompute_script(**said, computing="calculator" in tools or "python" in tools)
    return ModelEngine(model, script, toolbox=toolbox, turns=settings.turns), model


def _model_settings(options: OfRuns) -> Any:
    from pydantic import create_model

    from ground.settings import Section
    from ontoground.cli.runs import model_overrides, require_packages, run_settings
    from stewardship.runs.conversing import RunsModelSettings

    require_packages("openai", extra="lm")
    if options.endpoint_model is None and options.config is None and not options.of_model:
        raise UsageError(
            "no language model is named",
            expected="--endpoint URL --endpoint-model NAME, or --config FILE with a table [language_model]",
            do="or give recorded answers with --answers FILE",
        )
    overrides = [*options.of_model, *model_overrides(options.endpoint, options.endpoint_model)]
    shape: Any = create_model("Runs", __base__=Section, language_model=(RunsModelSettings, ...))
    return run_settings(shape, options.config, overrides).language_model


def _tool(name: str, options: OfRuns, settings: StewardSettings) -> Tool:
    from ontoground.cli.runs import require_packages
    from stewardship.tools.python import PythonTool
    from stewardship.tools.reference import ReferenceTool

    if name == "python":
        return PythonTool(seconds=settings.sandbox_seconds, memory_mb=settings.sandbox_mb)
    if name == "reference":
        assert options.reference is not None
        return ReferenceTool(options.reference)
    require_packages("pint", extra="steward")
    from stewardship.tools.calculator import CalculatorTool

    return CalculatorTool()


def paint_runs(out: Console, payload: dict[str, Any], what: str) -> None:
    """Say how many runs are empty votes (a row passes, or is deferred, for want of an answer too), and were made."""
    from ontoground.cli.render import relative

    counts = payload["unparseable"], payload["unanswered"]
    said = [f"{counts[0]:,} said something that is no {what}", f"{counts[1]:,} gave no answer"]
    if told := [line for line, count in zip(said, counts, strict=True) if count]:
        total = payload["summary"]["n"] * payload["runs"]
        out.print(f"empty votes: of {total:,} runs {', '.join(told)}", soft_wrap=True)
        if sum(counts) == total:
            out.print(f"NOT ONE RUN GAVE A {what.upper()}: see votes.csv and runs.jsonl in the folder below")
    made = f"{payload['runs_made']:,} runs made, {payload['runs_stored']:,} stored before"
    out.print(f"{payload['rows']:,} rows, {payload['runs']} runs a row: {made}; {payload['events']:,} new events")
    if payload["incomplete"]:
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in payload["runs_not_made"].items())
        out.print(
            f"{len(payload['incomplete']):,} rows wait for runs that could not be made ({reasons or 'not asked'}): "
            "run again, or --settle to count them as empty",
            soft_wrap=True,
        )
    out.print(f"in {relative(Path(payload['folder']))}", soft_wrap=True)
