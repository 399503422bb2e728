"""The ground: errors, storage, stages, contracts between rooms, settings, language models. No clinical logic."""

import os
from pathlib import Path

# First of all, in every process and worker, since every room stands on this one: what is written is its owner's alone,
# part files and logs of databases too, whoever writes them.
os.umask(0o077)
# A mistyped folder of a model must not be asked for elsewhere. Libraries read this with their import.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")

__version__ = "0.1.0"

ROOT = Path(__file__).resolve().parents[1]
"""The folder in which the rooms lie: a checkout, or where the wheel was installed."""
