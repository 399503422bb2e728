"""Silence for the libraries of training: their bars and load reports say nothing that a user could act on."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["quiet"]

LOGGERS = ("transformers", "peft", "trl", "accelerate", "datasets", "bitsandbytes")


@contextmanager
def quiet() -> Iterator[None]:
    """Keep transformers, peft and trl from writing anything but errors; what was set before is set again after."""
    from transformers.utils import logging as transformers_logging

    levels = {name: logging.getLogger(name).level for name in LOGGERS}
    bars = transformers_logging.is_progress_bar_enabled()
    for name in LOGGERS:
        logging.getLogger(name).setLevel(logging.ERROR)
    transformers_logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            for name in LOGGERS:
                warnings.filterwarnings("ignore", module=rf"{name}(\.|$)")
            yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
        if bars:
            transformers_logging.enable_progress_bar()
