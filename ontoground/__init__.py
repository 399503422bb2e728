"""Ground of ontoground: errors, row contracts, settings, manifest, seeds and SQL files. No clinical logic."""

__version__ = "0.1.0"
