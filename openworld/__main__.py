"""``python -m openworld FOLDER --patients N | --scale F``: render the open world."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from ground.errors import OntogroundError
from openworld import World, render, render_scale


def main(arguments: list[str] | None = None) -> int:
    """Render a world and print the rows of its files as one JSON object; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m openworld", description="Render the embedded open world.")
    parser.add_argument("folder", type=Path, help="replaced as a whole")
    parser.add_argument("--patients", type=int, default=120)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--scale-concepts", type=float, default=1.0, help="more adds filler concepts for benchmarks")
    parser.add_argument("--names-per-filler", type=int, default=4)
    parser.add_argument("--relations-per-filler", type=int, default=7)
    parser.add_argument("--scale", type=float, help="size of the real releases times this (0.0005 to 1), nothing else")
    parser.add_argument("--concepts", type=int, default=0, help="that notes can speak of (0: the world's own)")
    parser.add_argument("--workers", type=int, default=1, help="processes that make patients")
    options = parser.parse_args(arguments)
    try:
        world = _rendered(options)
    except OntogroundError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    sys.stdout.write(json.dumps(world.counts) + "\n")
    return 0


def _rendered(options: argparse.Namespace) -> World:
    if options.scale is not None:
        return render_scale(options.folder, options.scale, options.seed, options.workers, options.concepts)
    return render(
        options.folder,
        options.patients,
        options.seed,
        scale_concepts=options.scale_concepts,
        names_per_filler=options.names_per_filler,
        relations_per_filler=options.relations_per_filler,
        workers=options.workers,
        concepts=options.concepts,
    )


if __name__ == "__main__":
    sys.exit(main())
