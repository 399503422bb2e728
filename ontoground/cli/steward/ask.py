"""``ontoground steward ask``: a language model answers a benchmark's questions, for ``grade`` and ``board``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from ontoground.cli.options import Endpoint, EndpointModel, ModelConfig, Result, verb
from ontoground.cli.render import Blocks, relative, unfolded
from ontoground.cli.runs import short_name
from ontoground.cli.steward.options import InBenchmark, group
from ontoground.cli.text_options import ModelOptions, language_model_settings

if TYPE_CHECKING:
    from ground.lm.results import Request
    from ground.lm.results import Result as Answer

__all__ = ["ask"]

COLUMNS = ("uid", "answer", "model", "policy", "temperature", "benchmark")
MAX_TOKENS = 4096
"""Room for reasoning before the answer, where nothing else is said."""


@dataclass(frozen=True, kw_only=True)
class Asking(InBenchmark):
    """Options of the verb."""

    endpoint: Endpoint = None
    endpoint_model: EndpointModel = None
    config: ModelConfig = None
    overrides: Annotated[
        list[str] | None,
        Option(
            "--set",
            metavar="KEY=VALUE",
            help="Setting of the language model, as language_model.kind=transformers for a folder or an arm of "
            "`train grpo`, or language_model.temperature=0.6",
        ),
    ] = None
    responses: Annotated[int, Option(min=1, help="Responses to each row; beyond the first each is a model's name")] = 1
    rows: Annotated[int, Option(min=0, help="Ask about so many rows, a stable choice; 0: all")] = 0
    name: Annotated[str | None, Option(metavar="NAME", help="What the model is called; default: its own name")] = None
    out: Annotated[
        Path | None, Option(metavar="FILE", help="Parquet file of the answers; default: among the benchmark's answers")
    ] = None


@verb(
    group,
    "Ask a language model a benchmark's questions.",
    "ontoground steward ask --endpoint http://127.0.0.1:8000/v1 \\",
    "    --endpoint-model Qwen3-8B",
    "ontoground steward ask --endpoint-model work/runs/RUN/arm-recomputed \\",
    "    --set language_model.kind=transformers",
)
def ask(options: Asking) -> Result:
    """Ask a model about every row, as `train grpo` asks its policies, and keep the answers in the benchmark's folder.

    `grade` and `board` read these answers where no file is named. What was answered is not asked again.
    """
    import polars as pl

    from ground.lm.client import LanguageModel
    from ground.progress import progress
    from ground.storage.files import atomic_path, private_directory

    benchmark = options.adopted
    asked = ModelOptions(options.endpoint, options.endpoint_model, options.config, tuple(options.overrides or ()))
    settings = language_model_settings(asked)["language_model"]
    if "max_tokens" not in settings.model_fields_set:
        settings = settings.model_copy(update={"max_tokens": MAX_TOKENS})
    prompts = benchmark.prompts(options.rows, settings.seed)
    requests = _requests(list(prompts.values()), benchmark.categories, options.responses)
    with (
        LanguageModel(settings, options.workspace, benchmark.licence_tier) as model,
        progress(f"asking {short_name(settings.model)}", len(requests)) as advance,
    ):
        results = model.complete_all(requests, advance)
        spent = model.totals.as_dict()
    name, heat = options.name or short_name(settings.model), settings.temperature
    shown = name if heat == 0 else f"{name}, temperature {heat}"
    names = [shown if n == 0 else f"{shown}, response {n + 1}" for n in range(options.responses)]
    rows = [
        dict(zip(COLUMNS, (uid, text, names[n], name, str(heat), benchmark.name), strict=True))
        for (uid, n), text in zip(
            ((uid, n) for uid in prompts for n in range(options.responses)), map(_text, results), strict=True
        )
    ]
    file = options.out or benchmark.folder / "answers" / f"{short_name(shown)}.parquet"
    private_directory(file.parent)
    with atomic_path(file) as temporary:
        pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String)).write_parquet(temporary)
    return options.result(
        "ask",
        _blocks,
        model=shown,
        rows=len(prompts),
        responses=options.responses,
        failed=_failed(results),
        file=str(file),
        language_model=spent,
    )


def _requests(prompts: Sequence[str], categories: Sequence[str], responses: int) -> list[Request]:
    from ground.lm.results import Message, Request
    from training.grpo.prompts import system_prompt

    system = Message(role="system", content=system_prompt(categories))
    return [
        Request((system, Message(role="user", content=prompt)), sample=n)
        for prompt in prompts
        for n in range(responses)
    ]


def _text(answer: Answer) -> str | None:
    from ground.lm.results import Completion

    return answer.text if isinstance(answer, Completion) else None


def _failed(answers: Sequence[Answer]) -> Mapping[str, int]:
    from ground.lm.results import Failure

    reasons = Counter(answer.reason.value for answer in answers if isinstance(answer, Failure))
    return dict(sorted(reasons.items()))


def _blocks(payload: dict[str, Any]) -> Blocks:
    failed = ", ".join(f"{reason} {n:,}" for reason, n in payload["failed"].items())
    yield f"{payload['model']}: {payload['rows']:,} rows, responses to each: {payload['responses']}" + (
        f"; without an answer: {failed}" if failed else ""
    )
    yield unfolded(f"answers   {relative(Path(payload['file']))}")
