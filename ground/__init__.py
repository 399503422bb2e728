"""The ground: errors, storage, stages, contracts between rooms, settings, language models. No clinical logic."""

from pathlib import Path

__version__ = "0.1.0"

ROOT = Path(__file__).resolve().parents[1]
"""The folder in which the rooms lie: a checkout, or where the wheel was installed."""
