"""The verbs of the command line, one module or folder each; nothing heavy is imported before a verb runs."""

from importlib import import_module

from ontoground.cli.app import VERBS, app

__all__ = ["app"]

for name in VERBS:
    import_module(f"{__name__}.{name}")
