"""The verbs of the command line, one module or folder each; nothing heavy is imported before a verb runs."""

from ontoground.cli import (
    build,
    demo,
    diff,
    evaluate,
    graph,
    load,
    notes,
    publish,
    run,
    sql,
    status,
    steward,
    train,
    validate,
)
from ontoground.cli.app import app

__all__ = [
    "app",
    "build",
    "demo",
    "diff",
    "evaluate",
    "graph",
    "load",
    "notes",
    "publish",
    "run",
    "sql",
    "status",
    "steward",
    "train",
    "validate",
]
