"""What ``ontoground steward audit`` and ``ontoground steward recompute`` do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ground.errors import UsageError
from ontoground.cli.steward.shares import percent
from ontoground.cli.text_options import ModelOptions

if TYPE_CHECKING:
    from rich.console import Console

    from ground.lm.client import LanguageModel
    from ground.lm.settings import LmSettings
    from ground.settings import StewardSettings
    from stewardship.benchmark.folder import Benchmark
    from stewardship.runs.auditing import AuditOutcome
    from stewardship.runs.engines import Engine
    from stewardship.runs.recomputing import RecomputeOutcome
    from stewardship.tools.base import Tool, Toolbox

__all__ = ["RunsAsked", "paint_audit", "paint_recompute", "runs_job"]

TOOLS = ("calculator", "python", "reference")
DEFAULT_TOOLS = "calculator,python"
NO_TOOL = "none"
RESULTS = "tools.sqlite"
EngineKind = Literal["lm", "recorded", "calculators", "evidence", "sql"]
ALONE = ("calculators", "evidence", "sql")
"""Engines that give the same answer each time."""
WHENCE = {"calculators": "from the extracted features alone, right or wrong", "sql": "by SQL and a second reading"}
TITLES = {"audit": "audit", "recompute": "recomputation"}


@dataclass(frozen=True)
class RunsAsked:
    """What a verb was asked for; ``settings`` are those of the workspace, with overrides."""

    phase: Literal["audit", "recompute"]
    workspace: Path
    settings: StewardSettings
    benchmark: str | None
    engine: EngineKind | None
    answers: Path | None
    model: ModelOptions
    tools: str | None
    reference: Path | None
    runs: int | None
    rows: int | None
    settle: bool
    say: Callable[[str], None]


def runs_job(asked: RunsAsked) -> dict[str, Any]:
    """Make the runs of a phase that are missing, and return what ``--json`` prints.

    Raises:
        UsageError: options that do not go together, or a setting is wrong.
        InputError: no such benchmark, it lacks columns, or the engine cannot go on; what was finished is stored.
        RefusedError: credentialed rows, and a language model that is not on this machine.
    """
    from ground.progress import progress
    from stewardship.benchmark.folder import Benchmark
    from stewardship.runs.auditing import audit_labels
    from stewardship.runs.phases import chosen_rows
    from stewardship.runs.recomputing import recompute_labels
    from stewardship.runs.store import differences

    kind = _engine_kind(asked)
    benchmark = Benchmark.open(asked.workspace, asked.benchmark)
    tools = _tool_names(asked, kind, NO_TOOL if benchmark.categories else DEFAULT_TOOLS)
    uids = _sampled(benchmark, asked)
    number = 1 if kind in ALONE else asked.runs or asked.settings.runs
    with _opened(asked, kind, tools, benchmark) as (engine, model):
        rows = len(chosen_rows(benchmark, engine, uids))
        for other, names in differences(benchmark.folder, asked.phase, engine.describe()).items():
            asked.say(f"a new series of runs: {', '.join(names)} differ from those of {other}")
        with progress(TITLES[asked.phase], rows * number) as advance:
            work = audit_labels if asked.phase == "audit" else recompute_labels
            outcome: AuditOutcome | RecomputeOutcome = work(
                benchmark,
                engine,
                asked.settings,
                runs=number,
                uids=uids,
                settle=asked.settle,
                advance=advance,
            )
        totals = {"model": model.settings.model, **model.totals.as_dict()} if model is not None else None
    found = {
        "verb": f"steward {asked.phase}",
        "workspace": str(asked.workspace),
        "benchmark": benchmark.name,
        "engine": kind,
        "tools": list(tools),
        "series": outcome.series,
        "folder": str(outcome.folder),
        "votes": str(outcome.votes),
        "rows": rows,
        "runs": number,
        "runs_stored": outcome.made.stored,
        "runs_made": outcome.made.made,
        "runs_not_made": dict(sorted(outcome.made.passing.items())),
        "incomplete": list(outcome.incomplete),
        "events": outcome.events,
        "summary": asdict(outcome.summary),
        "language_model": totals,
    }
    return found | _own(outcome)


def _own(outcome: AuditOutcome | RecomputeOutcome) -> dict[str, Any]:
    from stewardship.runs.auditing import AuditOutcome

    unread = {"unparseable": outcome.unparseable, "unanswered": outcome.unanswered}
    return unread | ({"failure_modes": outcome.failure_modes} if isinstance(outcome, AuditOutcome) else {})


def _engine_kind(asked: RunsAsked) -> EngineKind:
    kind = asked.engine or ("recorded" if asked.answers else "lm")
    if (kind == "recorded") != (asked.answers is not None):
        raise UsageError("--engine recorded and --answers FILE go together", found=f"--engine {kind}")
    if kind != "lm" and (asked.model.given or asked.tools or asked.reference):
        raise UsageError(
            f"--engine {kind} asks no language model",
            expected="no --endpoint, --endpoint-model, --config, --tools, --reference or language_model setting",
        )
    if kind in ALONE and asked.runs not in (None, 1):
        raise UsageError(
            f"--engine {kind} gives the same answer each time", found=f"--runs {asked.runs}", expected="1 run"
        )
    return kind


def _tool_names(asked: RunsAsked, kind: str, default: str) -> tuple[str, ...]:
    if kind != "lm":
        return ()
    given = default if asked.tools is None else asked.tools
    names = [] if given.strip() == NO_TOOL else [name.strip() for name in given.split(",")]
    if unknown := [name for name in names if name not in TOOLS]:
        raise UsageError("no such tool", found=", ".join(unknown), expected=f"{', '.join(TOOLS)}, or {NO_TOOL}")
    if "reference" in names and asked.reference is None:
        raise UsageError("--tools reference has no folder", expected="--reference DIR with your texts")
    if asked.reference is not None and "reference" not in names:
        names.append("reference")
    return tuple(name for name in TOOLS if name in names)


def _sampled(benchmark: Benchmark, asked: RunsAsked) -> frozenset[str] | None:
    from stewardship.runs.sampling import stratified_sample

    if asked.rows is None:
        return None
    strata = dict.fromkeys(benchmark.items["uid"], "") | benchmark.column("stratum")
    return stratified_sample(strata, asked.rows, seed=asked.settings.seed)


@contextmanager
def _opened(
    asked: RunsAsked, kind: str, tools: tuple[str, ...], benchmark: Benchmark
) -> Iterator[tuple[Engine, LanguageModel | None]]:
    """Open the engine, and the language model where there is one."""
    if kind == "recorded":
        from stewardship.runs.engines import RecordedEngine

        assert asked.answers is not None
        yield RecordedEngine(asked.answers), None
        return
    if kind in ("evidence", "sql"):
        from stewardship.datasets.engines import evidence_engine, sql_engine

        yield (evidence_engine if kind == "evidence" else sql_engine)(asked.workspace, benchmark), None
        return
    if kind == "calculators":
        from ontoground.cli.runs import require_packages
        from stewardship.runs.calculating import CalculatorEngine

        require_packages("pint", extra="steward")
        yield CalculatorEngine(), None
        return
    from ground.lm.client import LanguageModel
    from stewardship.runs.conversing import ModelEngine

    with LanguageModel(_model_settings(asked.model), asked.workspace, benchmark.licence_tier) as model:
        toolbox = _toolbox(asked, tools, benchmark)
        try:
            script = _script(asked, toolbox, benchmark)
            yield ModelEngine(model, script, toolbox=toolbox, turns=asked.settings.turns), model
        finally:
            toolbox.close()


def _model_settings(options: ModelOptions) -> LmSettings:
    from pydantic import create_model

    from ground.settings import Section
    from ontoground.cli.runs import model_overrides, require_packages, run_settings
    from stewardship.runs.conversing import RunsModelSettings

    require_packages("openai", extra="lm")
    if options.endpoint_model is None and options.config is None and not options.overrides:
        raise UsageError(
            "no language model is named",
            expected="--endpoint URL --endpoint-model NAME, or --config FILE with a table [language_model]",
            do="or give recorded answers with --answers FILE",
        )
    overrides = [*options.overrides, *model_overrides(options.endpoint, options.endpoint_model)]
    shape = create_model("Runs", __base__=Section, language_model=(RunsModelSettings, ...))
    found: LmSettings = getattr(run_settings(shape, options.config, overrides), "language_model")  # noqa: B009
    return found


def _toolbox(asked: RunsAsked, names: tuple[str, ...], benchmark: Benchmark) -> Toolbox:
    from ground.storage.files import private_directory
    from stewardship.runs.store import FOLDER
    from stewardship.tools.base import Toolbox

    folder = private_directory(benchmark.folder / FOLDER)
    return Toolbox([_tool(name, asked) for name in names], folder / RESULTS)


def _tool(name: str, asked: RunsAsked) -> Tool:
    from ontoground.cli.runs import require_packages
    from stewardship.tools.python import PythonTool
    from stewardship.tools.reference import ReferenceTool

    if name == "python":
        return PythonTool(seconds=asked.settings.sandbox_seconds, memory_mb=asked.settings.sandbox_mb)
    if name == "reference":
        assert asked.reference is not None
        return ReferenceTool(asked.reference)
    require_packages("pint", extra="steward")
    from stewardship.tools.calculator import CalculatorTool

    return CalculatorTool()


def _script(asked: RunsAsked, toolbox: Toolbox, benchmark: Benchmark) -> Any:
    from stewardship.runs.prompts import audit_script, recompute_script

    manuals = [tool.manual() for tool in toolbox.tools.values()]
    looking = bool({"calculator", "reference"} & set(toolbox.tools))
    computing = bool({"calculator", "python"} & set(toolbox.tools))
    said: dict[str, Any] = {"categories": benchmark.categories, "manuals": manuals, "turns": asked.settings.turns}
    if asked.phase == "audit":
        return audit_script(**said, looking=looking)
    return recompute_script(**said, looking=looking, computing=computing)


def paint_audit(screen: Console, payload: dict[str, Any]) -> None:
    """Show what phase 1 came to."""
    from ontoground.cli.render import table

    summary = payload["summary"]
    rows: list[list[Any]] = [
        ["likely errors", summary["flagged"], percent(summary["rate"])],
        ["passed", summary["n"] - summary["flagged"], percent(_rest(summary["rate"]))],
    ]
    screen.print(table(["verdict", "rows", "share"], rows))
    if set(payload["failure_modes"]) - {"not named"}:
        modes = [[mode, count] for mode, count in payload["failure_modes"].items()]
        screen.print()
        screen.print(table(["failure mode of likely errors", "rows"], modes))
    screen.print()
    if summary["strata"]:
        screen.print(f"{summary['strata_touched']} of {summary['strata']} strata have a likely error")
    _paint_unread(screen, payload, "verdict")
    _paint_runs(screen, payload)


def paint_recompute(screen: Console, payload: dict[str, Any]) -> None:
    """Show what phase 2 came to."""
    from ontoground.cli.render import table

    summary = payload["summary"]
    count = max(summary["n"], 1)
    rows: list[list[Any]] = [
        ["high confidence", summary["high"], percent(summary["coverage"])],
        ["  by near-consensus", summary["near"], percent(summary["near"] / count)],
        ["  abstentions (N/A)", summary["abstained"], percent(summary["abstained"] / count)],
        ["deferred", summary["deferred"], percent(_rest(summary["coverage"]))],
    ]
    screen.print(table(["consensus", "rows", "share"], rows))
    screen.print()
    if payload["engine"] in WHENCE:
        screen.print(f"one run a row, {WHENCE[payload['engine']]}: no consensus of several", soft_wrap=True)
    _paint_unread(screen, payload, "label")
    _paint_runs(screen, payload)


def _paint_unread(screen: Console, payload: dict[str, Any], what: str) -> None:
    """Say how many runs are empty votes: a row passes, or is deferred, for want of an answer too."""
    counts = payload["unparseable"], payload["unanswered"]
    said = [f"{counts[0]:,} said something that is no {what}", f"{counts[1]:,} gave no answer"]
    if told := [line for line, count in zip(said, counts, strict=True) if count]:
        total = payload["summary"]["n"] * payload["runs"]
        screen.print(f"empty votes: of {total:,} runs {', '.join(told)}", soft_wrap=True)
        if sum(counts) == total:
            screen.print(f"NOT ONE RUN GAVE A {what.upper()}: see votes.csv and runs.jsonl in the folder below")


def _paint_runs(screen: Console, payload: dict[str, Any]) -> None:
    from ontoground.cli.render import relative

    made = f"{payload['runs_made']:,} runs made, {payload['runs_stored']:,} stored before"
    screen.print(f"{payload['rows']:,} rows, {payload['runs']} runs a row: {made}; {payload['events']:,} new events")
    if payload["incomplete"]:
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in payload["runs_not_made"].items())
        screen.print(
            f"{len(payload['incomplete']):,} rows wait for runs that could not be made ({reasons or 'not asked'}): "
            "run again, or --settle to count them as empty",
            soft_wrap=True,
        )
    screen.print(f"in {relative(Path(payload['folder']))}", soft_wrap=True)


def _rest(value: float | None) -> float | None:
    return None if value is None else 1 - value
