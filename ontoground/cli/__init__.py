"""The verbs of the command line, one module or folder each; nothing heavy is imported before a verb runs.

The folder of `build` is called ``builds``, since many tools pass over folders called ``build``.
"""

from ontoground.cli import (
    builds,
    demo,
    diff,
    evaluate,
    explain,
    explore,
    export,
    graph,
    load,
    notes,
    predict,
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
    "builds",
    "demo",
    "diff",
    "evaluate",
    "explain",
    "explore",
    "export",
    "graph",
    "load",
    "notes",
    "predict",
    "publish",
    "run",
    "sql",
    "status",
    "steward",
    "train",
    "validate",
]
