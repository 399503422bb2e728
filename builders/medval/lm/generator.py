"""The generator that asks a language model (MedVAL, Table 1 and its tables of prompts)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from pydantic import BaseModel, ConfigDict, Field

from builders.medval.items import Item, Output
from builders.medval.rows import instruction_of
from builders.texts.origin import Refusal
from ground import ROOT
from ground.contracts.rows_text import RiskLevel
from ground.lm.client import LanguageModel
from ground.lm.results import Failure, Message, Request, Result
from ground.storage.tables import read_table

__all__ = ["Generated", "LmGenerator", "generator_prompt"]

PERTURBATIONS = ROOT / "builders" / "data" / "medval_perturbations.tsv"

PROMPT = """\
### Task
Follow the instruction and write the output that it asks for, from the input alone. Think first, then write.{level}

### Instruction
{instruction}

### Input
{input}

### Form of the answer
A JSON object: "reasoning" (how you come to the output, in a sentence or two) and "output" (nothing but the output)."""
LEVEL = """
Then bring the output to this degree of agreement with the input: {instruction} The output itself must not say that \
anything was changed."""


class Generated(BaseModel):
    """What a generator answers with."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reasoning: str
    output: str = Field(min_length=1)


@cache
def _levels() -> dict[int, str]:
    rows = read_table(PERTURBATIONS, ("level", "instruction", "source"))
    return {int(row["level"]): row["instruction"] for row in rows}


def generator_prompt(item: Item, level: RiskLevel | None) -> str:
    """Return the question for an output; ``level`` None asks for a plain output, without a word about degradation."""
    how = "" if level is None else LEVEL.format(instruction=_levels()[level])
    return PROMPT.format(level=how, instruction=instruction_of(item.task), input=item.input)


class LmGenerator:
    """Asks one language model; the clean output is the source's reference where there is one (Algorithm S1, line 4).

    The perturbed output is written from the input and the level alone, as in the paper: it is no edit of the clean
    one, so it has no list of edits.
    """

    by_construction = False

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    def clean(self, items: Sequence[Item]) -> list[Output | Refusal]:
        """Return references, and what the model wrote where there is none."""
        asked = [item for item in items if item.reference is None]
        written = iter(self._write([(item, None) for item in asked]))
        return [next(written) if item.reference is None else Output(item.reference) for item in items]

    def perturb(
        self, items: Sequence[Item], clean: Sequence[Output], levels: Sequence[RiskLevel]
    ) -> list[Output | Refusal]:
        """Return what the model wrote at each level."""
        return self._write(list(zip(items, levels, strict=True)))

    def _write(self, asked: Sequence[tuple[Item, RiskLevel | None]]) -> list[Output | Refusal]:
        requests = (
            Request((Message(role="user", content=generator_prompt(item, level)),), Generated) for item, level in asked
        )
        return [_output(result) for result in self._model.complete_all(requests)]


def _output(result: Result) -> Output | Refusal:
    if isinstance(result, Failure):
        return Refusal(f"lm_{result.reason.value}")
    text = result.parsed.output.strip()
    return Output(text) if text else Refusal("lm_empty")
