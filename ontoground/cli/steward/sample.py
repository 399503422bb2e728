"""``ontoground steward sample``."""

from __future__ import annotations

from typing import Annotated

import typer

from ontoground.cli.options import Result, verb
from ontoground.cli.steward.group import group
from ontoground.cli.steward.sheets import OfSheets, written_sheets

__all__ = ["sample"]


@verb(
    group,
    "Write sheets of a balanced sample, for review by several.",
    "ontoground steward sample --rows 200 --rater ann --rater bob",
)
def sample(
    *,
    rows: Annotated[int, typer.Option(min=1, metavar="N", help="Rows to draw")] = 200,
    raters_per_row: Annotated[
        int | None,
        typer.Option(min=1, metavar="K", help="Experts who label the same row; all of them where left out"),
    ] = None,
    options: OfSheets,
) -> Result:
    """Draw as many rows of each label (quadrant), spread over strata (relations), and write a sheet for each expert.

    Where labels are numbers and dates, the sample is balanced over strata (calculators). Of rows about one context one
    is drawn. All experts label all rows, each in another order.
    """
    return written_sheets(options, "sample", rows, raters_per_row)
