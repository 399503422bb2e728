"""``ontoground build medieval``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ontoground.cli.builds.options import group
from ontoground.cli.options import Force, Result, Sharded, verb
from ontoground.cli.render import Blocks, dataset_in_words, note, unfolded

__all__ = ["medieval"]


@verb(group, "Build the quadrant statements.", "ontoground build medieval --workspace work --set build.seed=7")
def medieval(options: Sharded, force: Force = False) -> Result:
    """Build the quadrant statements (true or false, supported or not) into datasets/medieval.

    Earlier stages that are missing or stale run first.
    """
    from ontoground.flow.pipeline import run_stages
    from ontoground.flow.session import writing
    from ontoground.flow.status import dataset_counts, quadrant_table

    opened = options.open()
    with writing(opened) as connection:
        outcomes = run_stages(opened, connection, ["medieval"], force=force, say=note)
        quadrants = quadrant_table(connection)
    return options.result(
        "build medieval",
        _blocks,
        dataset=dataset_counts(opened.dataset("medieval")),
        quadrants=quadrants,
        stages=[outcome.as_dict() for outcome in outcomes],
    )


def _blocks(payload: dict[str, Any]) -> Blocks:
    from ontoground.cli.run import quadrant_blocks
    from ontoground.flow.status import few_patients

    yield from quadrant_blocks(payload["quadrants"])
    yield unfolded(dataset_in_words(payload["dataset"]))
    yield from filter(None, [few_patients(Path(payload["dataset"]["folder"]))])
