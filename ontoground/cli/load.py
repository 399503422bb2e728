"""``ontoground load mimic|umls|rxnorm DIR``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ontoground.cli.options import DEFAULT_WORKSPACE, Json, Overrides, WorkspaceDir, example, open_workspace

__all__ = ["group"]

group = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Load files into the warehouse; what was loaded is skipped."
)


@group.command(short_help="Load MIMIC-IV.", epilog=example("ontoground load mimic /data/mimiciv --workspace work"))
def mimic(
    folder: Annotated[
        str,
        typer.Argument(metavar="DIR", help="Folder, or URL as s3://bucket/mimiciv, that holds hosp/ and perhaps note/"),
    ],
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    overrides: Overrides = None,
    as_json: Json = False,
) -> None:
    """Load MIMIC-IV (hosp, note and icu where they are there; .csv, .csv.gz or Parquet)."""
    _load("mimic", folder, workspace, overrides, as_json)


@group.command(
    short_help="Load a UMLS release.", epilog=example("ontoground load umls /data/umls/META --workspace work")
)
def umls(
    folder: Annotated[
        str, typer.Argument(metavar="DIR", help="The release's META folder with its .RRF files, or its URL")
    ],
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    overrides: Overrides = None,
    as_json: Json = False,
) -> None:
    """Load a UMLS release (MRCONSO, MRREL, MRSTY and the other .RRF files, in pieces and gzipped too)."""
    _load("umls", folder, workspace, overrides, as_json)


@group.command(
    short_help="Load an RxNorm release.", epilog=example("ontoground load rxnorm /data/rxnorm/rrf --workspace work")
)
def rxnorm(
    folder: Annotated[
        str, typer.Argument(metavar="DIR", help="The release's rrf folder with its .RRF files, or its URL")
    ],
    workspace: WorkspaceDir = DEFAULT_WORKSPACE,
    overrides: Overrides = None,
    as_json: Json = False,
) -> None:
    """Load an RxNorm release (RXNCONSO, RXNREL, RXNSAT, RXNSTY): better codes for drug orders."""
    _load("rxnorm", folder, workspace, overrides, as_json)


def _load(source: str, named: str, root: Path, overrides: list[str] | None, as_json: bool) -> None:
    from rich.console import Console

    from ground.storage.remote import place_of
    from ontoground.cli.render import emit, number, table
    from ontoground.flow.pipeline import load_source
    from ontoground.flow.session import writing

    folder = place_of(named)
    workspace = open_workspace(root, overrides, create=True, folders={source: folder})
    with writing(workspace) as connection:
        outcome = load_source(workspace, connection, source, folder)
        rows = connection.execute(
            "select file, rows_read, rows_rejected, release from ground.load where source = ? order by file", [source]
        ).fetchall()
    names = ("file", "rows_read", "rows_rejected", "release")
    payload: dict[str, Any] = {
        "verb": f"load {source}",
        "workspace": str(root),
        "seconds": round(outcome.seconds, 2),
        "files": [dict(zip(names, row, strict=True)) for row in rows],
        "report": outcome.report,
    }

    def paint(console: Console) -> None:
        console.print(table(("file", "rows", "refused", "release"), rows))
        console.print(f"\n{number(sum(row[1] for row in rows))} rows of {len(rows)} files in {root}/warehouse.duckdb")
        for warning in outcome.report.get("warnings", []):
            console.print(f"note: {warning}")

    emit(payload, paint, as_json=as_json)
