"""``python -m openworld FOLDER --patients N | --scale F``: render the open world."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from ground.errors import OntogroundError
from openworld import render, render_scale


def main(arguments: list[str] | None = None) -> int:
    """Render a world and print the rows of its files as one JSON object; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m openworld", description="Render the embedded open world.")
    parser.add_argument("folder", type=Path, help="replaced as a whole")
    parser.add_argument("--patients", type=int, default=120)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--scale", type=float, help="size of the real releases times this (0.0005 to 1), nothing else")
    parser.add_argument("--concepts", type=int, default=0, help="that notes can speak of (0: the world's own)")
    parser.add_argument("--workers", type=int, default=1, help="processes that make patients")
    options = parser.parse_args(arguments)
    try:
        rest = {"seed": options.seed, "workers": options.workers, "concepts": options.concepts}
        if options.scale is None:
            world = render(options.folder, options.patients, **rest)
        else:
            world = render_scale(options.folder, options.scale, **rest)
    except OntogroundError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    sys.stdout.write(json.dumps(world.counts) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
