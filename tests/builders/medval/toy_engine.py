"""A generator and a validator whose answers can be worked out by hand."""

from __future__ import annotations

import re
from collections.abc import Sequence

from builders.medval.items import Edit, Item, Judgement, Output, Peers
from builders.texts.origin import Origin, Refusal
from ground.contracts.rows_text import MedvalErrorRow, MedvalTask, RiskLevel

__all__ = ["ToyGenerator", "ToyValidator", "item", "open_toy"]

MARK = re.compile(r"\[worse by (\d)\]")


def item(number: int, text: str = "", task: MedvalTask = "query2question", **origin: object) -> Item:
    """Return an item with a reference."""
    values = {"source": "toy", "inner_id": str(number), "document": str(number), "split": "train", **origin}
    return Item(Origin(**values), task, text or f"input {number}", f"output {number}")  # type: ignore[arg-type]


class ToyGenerator:
    """The reference, and behind it a mark that tells the level; refuses inputs that say so."""

    by_construction = False

    def clean(self, items: Sequence[Item]) -> list[Output | Refusal]:
        """Return references."""
        return [Refusal("no_clean") if "no clean" in one.input else Output(one.reference or "") for one in items]

    def perturb(
        self, items: Sequence[Item], clean: Sequence[Output], levels: Sequence[RiskLevel]
    ) -> list[Output | Refusal]:
        """Add the mark; an input that says ``same`` is left as it was."""
        made: list[Output | Refusal] = []
        for one, before, level in zip(items, clean, levels, strict=True):
            mark = f" [worse by {level - 1}]"
            edit = Edit("mark", "fabricated_claim" if level > 1 else None, "", mark, len(before.text), "toy")
            refused, same = "no perturb" in one.input, "same" in one.input
            made.append(Refusal("no_perturb") if refused else before if same else Output(before.text + mark, (edit,)))
        return made


class ToyValidator:
    """Reads the mark; what the input says of it makes it one level too high, or refuse."""

    def judge(self, items: Sequence[Item], outputs: Sequence[str]) -> list[Judgement | Refusal]:
        """Return the level of the mark."""
        judged: list[Judgement | Refusal] = []
        for one, output in zip(items, outputs, strict=True):
            mark = MARK.search(output)
            level = int(mark[1]) + 1 if mark else 1
            if "harsh" in one.input:
                level = 4
            refused = "no judge" in one.input and ("perturbed only" not in one.input or mark is not None)
            error = MedvalErrorRow(
                category="fabricated_claim", text="it is worse", quote=mark[0] if mark else None, quoted_from="output"
            )
            errors = (error,) if level > 1 else ()
            judged.append(
                Refusal("no_judge") if refused else Judgement("I looked for the mark.", errors, level)  # type: ignore[arg-type]
            )
        return judged


def open_toy(_peers: Peers) -> tuple[ToyGenerator, ToyValidator]:
    """Open the engine, in whatever process."""
    return ToyGenerator(), ToyValidator()
