"""``ontoground export physionet DATASET_DIR DIR``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ontoground.cli.app import group_of
from ontoground.cli.options import InWorkspace, Result, verb

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["group"]

group = group_of("export")


@verb(
    group,
    "A folder as PhysioNet asks for derived data.",
    "ontoground export physionet work/datasets/medieval upload",
    "ontoground export physionet work/datasets/medieval upload --cui-only",
)
def physionet(
    dataset: Annotated[Path, typer.Argument(metavar="DATASET_DIR", help="A dataset that was built")],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Is made; it must not be there, or be empty")],
    options: InWorkspace,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Of the project; made where left out")] = None,
    cui_only: Annotated[
        bool, typer.Option("--cui-only", help="CUIs in place of the release's names (medieval)")
    ] = False,
) -> Result:
    """Write README.md with PhysioNet's sections, data, croissant.json, manifest, LICENSE.txt and SHA256SUMS.txt.

    Nothing is sent. What only you can say is marked AUTHORS: in README.md, and listed. Some sources of UMLS may not be
    passed on as strings (MRSAB.RRF, SRL above 0): --cui-only gives CUIs in place of names; words of notes stay.
    """
    from builders.physionet import export_physionet

    done = export_physionet(dataset, folder, title=title, cui_only=cui_only)
    return options.result("export physionet", _paint, dataset=str(dataset), **done.as_dict())


def _paint(out: Console, payload: dict[str, Any]) -> None:
    out.print(f"{len(payload['files'])} files in {payload['folder']}", soft_wrap=True)
    out.print(f"title: {payload['title']}", soft_wrap=True)
    out.print(f"left for you to write: {', '.join(payload['to_write'])} (AUTHORS: in README.md)", soft_wrap=True)
