"""What a run is thought to need of memory, estimated once for all runs of a kind: it takes longer than their training.

``tests/training/runs/test_memory.py`` asks the estimate itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from training.runs import folder, memory
from training.runs.models import load_config

__all__ = ["estimate_each_kind_once"]

_known: dict[tuple[str, ...], memory.Estimate] = {}


def _estimate(model: str, task: Any, step: Callable[..., Any], lora: Any, hardware: Any, **more: Any) -> Any:
    options = {name: callable(value) or value for name, value in more.items()}
    kind = (load_config(model).to_json_string(), task, step.__qualname__, str(lora), str(hardware), str(options))
    if kind not in _known:
        _known[kind] = memory.estimate_memory(model, task, step, lora, hardware, **more)
    return replace(_known[kind], free=memory.free_memory(_known[kind].device))


def estimate_each_kind_once() -> None:
    """Have all runs of this process do so, whatever the sizes of their rows."""
    vars(folder)["estimate_memory"] = _estimate
