"""The losses of a run, whatever trained it, and the few lines of them that a person reads."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import Any

__all__ = ["loss_parts", "loss_records"]

PARTS = 5


def loss_records(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the steps of a run's ``training.json`` in order: stage, step (from 1), loss and what else was logged."""
    kind = record["kind"]
    if kind == "corfu":
        return [
            {"stage": stage["stage"], **one, "step": number}
            for stage in record["stages"]
            for number, one in enumerate(stage["records"], 1)
        ]
    if kind == "encoder":
        return [{"stage": "", "step": step, "loss": loss} for step, loss in enumerate(record["losses"], 1)]
    if kind == "classifier":
        return [{"stage": "", **one, "step": number} for number, one in enumerate(record["losses"], 1)]
    return [{"stage": "", **one} for one in record["history"]]


def loss_parts(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the mean loss of about a fifth of the recorded steps of each stage at a time."""
    parts = []
    for stage, group in groupby(loss_records(record), key=lambda one: one["stage"]):
        steps = list(group)
        size = -(-len(steps) // PARTS)
        for begin in range(0, len(steps), size):
            part = steps[begin : begin + size]
            parts.append(
                {
                    "stage": stage,
                    "first_step": part[0]["step"],
                    "last_step": part[-1]["step"],
                    "loss": sum(one["loss"] for one in part) / len(part),
                }
            )
    return parts
