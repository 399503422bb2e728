"""What the programs of this package share: their parser, and how errors become an exit code."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from ground.errors import OntogroundError
from ontoground.cli.render import note

__all__ = ["parser", "run"]

INTERRUPTED = 130


def parser(program: str, description: str, *examples: str) -> argparse.ArgumentParser:
    """Return a parser whose help ends with examples."""
    return argparse.ArgumentParser(
        prog=f"python -m benchmarks.{program}",
        description=description,
        epilog="\n".join(["example:", *(f"  {line}" for line in examples)]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def run(main: Callable[[list[str]], int]) -> None:
    """Run a program and leave with its exit code; an error that was foreseen is told without a traceback."""
    try:
        code = main(sys.argv[1:])
    except OntogroundError as error:
        note(f"error: {error}")
        code = error.exit_code
    except KeyboardInterrupt:
        code = INTERRUPTED
    sys.exit(code)
