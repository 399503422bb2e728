"""The ground: errors, storage, stages, contracts between rooms, settings, language models. No clinical logic."""

import os
from pathlib import Path

# Set in every process and worker, since every room imports this one: all files are private to their owner, also part
# files and the logs of databases.
os.umask(0o077)
# A mistyped folder of a model must not be looked up on a hub. Libraries read this when they are imported.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")

__version__ = "0.1.0"

ROOT = Path(__file__).resolve().parents[1]
"""The folder in which the rooms lie: a checkout, or where the wheel was installed."""
