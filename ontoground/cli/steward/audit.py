"""``ontoground steward audit|recompute``: labels judged, or made anew, by independent runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ground.errors import UsageError
from ontoground.cli.options import Endpoint, EndpointModel, ModelConfig, Paint, Result, verb
from ontoground.cli.render import Blocks, note, relative, table, unfolded
from ontoground.cli.runs import require_packages
from ontoground.cli.steward.options import ConfiguredBenchmark, group
from ontoground.cli.steward.shares import percent, unread_blocks
from ontoground.cli.text_options import ModelOptions, split_overrides

if TYPE_CHECKING:
    from rich.table import Table

    from ground.lm.client import LanguageModel
    from ground.settings import Quorum, StewardSettings
    from stewardship.benchmark.folder import Benchmark
    from stewardship.runs.engines import Engine
    from stewardship.runs.phases import Outcome, RunCounts
    from stewardship.runs.store import Phase
    from stewardship.tools.base import Tool

__all__ = ["audit", "recompute"]

QUORUMS: dict[str, Quorum] = {"steward audit": "audit_quorum", "steward recompute": "quorum"}
TOOLS = ("calculator", "python", "reference")
NO_TOOL = "none"
ALONE = ("calculators", "evidence", "sql")
"""Engines that gives the same answer each time."""
WHENCE = {"calculators": "from the extracted features alone, right or wrong", "sql": "by SQL and a second reading"}


@dataclass(frozen=True, kw_only=True)
class OfRuns(ConfiguredBenchmark):
    """Options of both verbs; each has its own ``--engine``."""

    answers: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Recorded answers: uid, run1, ..., runN; or uid, run, answer")
    ] = None
    endpoint: Endpoint = None
    endpoint_model: EndpointModel = None
    config: ModelConfig = None
    tools: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Tools of the model, separated by commas: calculator, python, reference; or none. Default: "
            "calculator,python, and none where labels are names",
        ),
    ] = None
    reference: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Your texts (.md, .txt, .html) that the model may search")
    ] = None
    runs: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Runs of each row; default: as in the settings (5), or all of --answers"),
    ] = None
    rows: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Size of a sample of rows, in proportion to the strata; default: all rows"
        ),
    ] = None
    settle: Annotated[bool, typer.Option("--settle", help="Count failed runs as empty votes")] = False
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
        """Return where runs come from, where the options go together."""
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
        """Return the tools of the model."""
        given = default if self.tools is None else self.tools
        names = [] if given.strip() == NO_TOOL else [name.strip() for name in given.split(",")]
        if unknown := [name for name in names if name not in TOOLS]:
            raise UsageError("no such tool", found=", ".join(unknown), expected=f"{', '.join(TOOLS)}, or {NO_TOOL}")
        if "reference" in names and self.reference is None:
            raise UsageError("--tools reference has no folder", expected="--reference DIR with your texts")
        return tuple(name for name in TOOLS if name in names or (name == "reference" and self.reference))


@verb(
    group,
    "Phase 1: audit labels by independent runs.",
    "ontoground steward audit --endpoint http://127.0.0.1:8000/v1 \\",
    "    --endpoint-model Qwen3-32B --tools calculator,reference \\",
    "    --reference guidelines",
    "ontoground steward audit --answers verdicts.csv",
    "ontoground steward audit --engine evidence",
)
def audit(
    *,
    engine: Annotated[
        Literal["lm", "recorded", "evidence"] | None,
        typer.Option(
            help="Where runs come from; evidence: each label derived again from its row (datasets of ours), one run; "
            "recorded where --answers is given, else lm",
            show_default=False,
        ),
    ] = None,
    options: OfRuns,
) -> Result:
    """Judge each label by runs that see it with its features and derivation; 4 of 5 Suspicious make a likely error.

    Each run is stored when it ends, with its prompt and raw answer. A second call makes only the runs that
    are missing. The model answers at temperature 1 unless language_model.temperature says otherwise.
    """
    return _run_phase("audit", engine, options, _blocks_of_audit)


@verb(
    group,
    "Phase 2: recompute labels by independent runs.",
    "ontoground steward recompute --endpoint http://127.0.0.1:8000/v1 \\",
    "    --endpoint-model Qwen3-32B --tools calculator,python --rows 500",
    "ontoground steward recompute --answers runs.jsonl",
    "ontoground steward recompute --engine calculators",
    "ontoground steward recompute --engine sql",
)
def recompute(
    *,
    engine: Annotated[
        Literal["lm", "recorded", "calculators", "sql"] | None,
        typer.Option(
            help="Where runs come from; calculators: from the extracted features alone, one run; sql: our own "
            "datasets by SQL over the warehouse, one run; recorded where --answers is given, else lm",
            show_default=False,
        ),
    ] = None,
    options: OfRuns,
) -> Result:
    """Recompute labels by runs that see only context and question; 4 of 5 equal answers make a label, else deferred.

    3 of 5 are enough if another answer is close. Each run is stored when it ends, with its prompt and raw answer.
    A second call makes only the runs that are missing. The model answers at temperature 1 unless
    language_model.temperature says otherwise.
    """
    return _run_phase("recompute", engine, options, _blocks_of_recompute)


def _run_phase(phase: Phase, engine: str | None, options: OfRuns, paint: Paint) -> Result:
    """Make the runs of a phase that are missing; what is finished is stored."""
    from ground.progress import progress
    from stewardship.runs.auditing import audit_labels
    from stewardship.runs.calculating import unread_features
    from stewardship.runs.phases import chosen_rows, runs_and_quorum
    from stewardship.runs.recomputing import extracted, recompute_labels
    from stewardship.runs.sampling import stratified_sample
    from stewardship.runs.store import differences

    kind = options.kind(engine)
    own, _ = split_overrides(options.overrides)
    settings, benchmark = replace(options, overrides=own).settings, options.adopted
    tools = options.tool_names(NO_TOOL if benchmark.categories else "calculator,python") if kind == "lm" else ()
    if kind == "calculators" or "calculator" in tools:
        require_packages("pint", "simpleeval", extra="steward")
    strata = dict.fromkeys(benchmark.items["uid"], "") | benchmark.column("stratum")
    uids = None if options.rows is None else stratified_sample(strata, options.rows, seed=settings.seed)
    work, title = (audit_labels, "audit") if phase == "audit" else (recompute_labels, "recomputation")
    with ExitStack() as stack:
        if kind == "lm":
            source, model, tools = _asking(phase, options, settings, benchmark, tools, stack)
        else:
            source, model = _engine(kind, options, benchmark), None
        rows = len(chosen_rows(benchmark, source, uids))
        runs, _ = runs_and_quorum(source, options.runs, settings, QUORUMS[f"steward {phase}"])
        for other, names in differences(benchmark.folder, phase, source.describe()).items():
            note(f"a new series of runs begins: {', '.join(names)} differ from those of {other}")
        with progress(title, rows * runs) as advance:
            outcome: Any = work(
                benchmark, source, settings, runs=runs, uids=uids, settle=options.settle, advance=advance
            )
    results = _of_outcome(outcome)
    if kind == "calculators":
        unread = unread_features(extracted(benchmark, chosen_rows(benchmark, source, uids)))
        results["unread"] = [{"uid": uid, "features": list(names)} for uid, names in unread.items()]
    used = {"model": model.settings.model, **model.totals.as_dict()} if model else None
    results = {"engine": kind, "tools": tools, "rows": rows, "runs": runs, **results, "language_model": used}
    return options.result(phase, paint, **results)


def _of_outcome(outcome: Outcome) -> dict[str, Any]:
    fields = dict(vars(outcome))
    counts: RunCounts = fields.pop("counts")
    runs = {"runs_stored": counts.stored, "runs_made": counts.made}
    passing = dict(sorted(counts.passing.items()))
    return {**runs, "runs_not_made": passing, **fields, "summary": asdict(fields["summary"])}


def _engine(kind: str, options: OfRuns, benchmark: Benchmark) -> Engine:
    """Return an engine that asks no language model."""
    if options.answers is not None:
        from stewardship.runs.engines import RecordedEngine

        return RecordedEngine(options.answers)
    if kind == "calculators":
        from stewardship.runs.calculating import CalculatorEngine

        return CalculatorEngine()
    from stewardship.datasets.engines import DatasetEngine

    return DatasetEngine("evidence" if kind == "evidence" else "sql", options.workspace, benchmark)


def _asking(
    phase: Phase,
    options: OfRuns,
    settings: StewardSettings,
    benchmark: Benchmark,
    tools: tuple[str, ...],
    stack: ExitStack,
) -> tuple[Engine, LanguageModel, tuple[str, ...]]:
    """Open the language model, its tools, and the engine that asks it; the stack closes them.

    Of tools that nobody named those are left out that do not run on this machine.
    """
    from ground.lm.client import LanguageModel
    from ground.storage.files import private_directory
    from stewardship.datasets.provenance import require_not_noted
    from stewardship.runs.conversing import ModelEngine
    from stewardship.runs.prompts import audit_script, recompute_script
    from stewardship.runs.store import FOLDER
    from stewardship.tools.base import Toolbox

    if benchmark.licence_tier == "open":
        # Notes may have been loaded since the rows were taken up.
        require_not_noted(options.workspace, benchmark.items)
    model = stack.enter_context(LanguageModel(_model_settings(options), options.workspace, benchmark.licence_tier))
    results = private_directory(benchmark.folder / FOLDER) / "tools.sqlite"
    toolbox = Toolbox(list(_tools(tools, options, settings)), results)
    tools = tuple(toolbox.tools)
    stack.callback(toolbox.close)
    asked: Any = {"categories": benchmark.categories, "turns": settings.turns}
    asked["manuals"] = [tool.manual() for tool in toolbox.tools.values()]
    asked["looking"] = "calculator" in tools or "reference" in tools
    computing = "calculator" in tools or "python" in tools
    script = audit_script(**asked) if phase == "audit" else recompute_script(**asked, computing=computing)
    return ModelEngine(model, script, toolbox=toolbox, turns=settings.turns), model, tools


def _model_settings(options: OfRuns) -> Any:
    from stewardship.runs.conversing import RunsModelSettings

    asked = ModelOptions(options.endpoint, options.endpoint_model, options.config, options.of_model)
    do = "or give recorded answers with --answers FILE"
    return asked.settings(do=do, language_model=(RunsModelSettings, ...)).language_model


def _tools(names: tuple[str, ...], options: OfRuns, settings: StewardSettings) -> Iterator[Tool]:
    for name in names:
        try:
            yield _tool(name, options, settings)
        except UsageError as error:
            if name != "python" or options.tools is not None:
                raise
            note(f"{error.what} ({error.found}): the model computes with the tool calculator alone")


def _tool(name: str, options: OfRuns, settings: StewardSettings) -> Tool:
    if name == "python":
        from stewardship.tools.python import PythonTool

        return PythonTool(seconds=settings.sandbox_seconds, memory_mb=settings.sandbox_mb, image=settings.sandbox_image)
    if name == "reference" and options.reference is not None:
        from stewardship.tools.reference import ReferenceTool

        return ReferenceTool(options.reference)
    from stewardship.tools.calculator import CalculatorTool

    return CalculatorTool()


def _blocks_of_audit(payload: dict[str, Any]) -> Blocks:
    summary = payload["summary"]
    counts = {"likely errors": summary["flagged"], "passed": summary["n"] - summary["flagged"]}
    yield _shares("verdict", counts, summary["n"])
    if set(payload["failure_modes"]) - {"not named"}:
        yield table(("failure mode of likely errors", "rows"), list(payload["failure_modes"].items()))
    if summary["strata"]:
        yield f"{summary['strata_touched']} of {summary['strata']} strata have a likely error"
    yield from _blocks_of_runs(payload, "verdict")


def _blocks_of_recompute(payload: dict[str, Any]) -> Blocks:
    summary = payload["summary"]
    counts = {
        "high confidence": summary["high"],
        "  by near-consensus": summary["near"],
        "  abstentions (N/A)": summary["abstained"],
        "deferred": summary["deferred"],
    }
    yield _shares("consensus", counts, summary["n"])
    yield from unread_blocks(payload.get("unread", ()))
    if payload["engine"] in WHENCE:
        yield unfolded(f"one run a row, {WHENCE[payload['engine']]}: no consensus of several")
    yield from _blocks_of_runs(payload, "label")


def _shares(what: str, counts: dict[str, int], n: int) -> Table:
    rows = [(name, count, percent(count / n if n else None)) for name, count in counts.items()]
    return table((what, "rows", "share"), rows)


def _blocks_of_runs(payload: dict[str, Any], what: str) -> Blocks:
    """Say how many runs are empty votes (a row passes, or is deferred, for want of an answer too), and were made."""
    empty = {f"said something that is no {what}": payload["unparseable"], "gave no answer": payload["unanswered"]}
    if lines := [f"{count:,} {how}" for how, count in empty.items() if count]:
        total = payload["summary"]["n"] * payload["runs"]
        yield unfolded(f"empty votes: of {total:,} runs {', '.join(lines)}")
        if sum(empty.values()) == total:
            yield f"NOT ONE RUN GAVE A {what.upper()}: see votes.csv and runs.jsonl in the folder below"
    made = f"{payload['runs_made']:,} runs made, {payload['runs_stored']:,} stored before"
    runs = "1 run" if payload["runs"] == 1 else f"{payload['runs']} runs"
    yield f"{payload['rows']:,} rows, {runs} a row: {made}; {payload['events']:,} new events"
    if payload["engine"] == "recorded" and payload["runs"] == 1:
        yield f"one run a row agrees with nothing: --set steward.{QUORUMS[payload['verb']]}=1 takes its word"
    if payload["incomplete"]:
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in payload["runs_not_made"].items())
        yield unfolded(
            f"{len(payload['incomplete']):,} rows wait for runs that could not be made ({reasons or 'not asked'}): "
            "run again, or --settle to count them as empty"
        )
    yield unfolded(f"in {relative(Path(payload['folder']))}")
