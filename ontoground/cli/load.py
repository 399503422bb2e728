"""``ontoground load``: records of a hospital, and ontologies."""

from __future__ import annotations

from typing import Annotated, Any

from typer import Argument

from ontoground.cli.app import group_of
from ontoground.cli.options import Configured, Result, verb
from ontoground.cli.render import Blocks, listing, number

__all__ = ["group"]

group = group_of("load")


@verb(
    group,
    "Load MIMIC-IV.",
    "ontoground load mimic /data/mimiciv /data/mimic-iv-note --workspace work",
)
def mimic(
    folders: Annotated[
        list[str],
        Argument(
            metavar="DIR...",
            help="Folders, or URLs such as s3://bucket/mimiciv, with hosp/ and optionally note/ and icu/",
        ),
    ],
    options: Configured,
) -> Result:
    """Load MIMIC-IV (hosp, and note and icu if present; .csv, .csv.gz or Parquet).

    MIMIC-IV-Note is a separate download: name both folders in one command.
    """
    return _load("mimic", folders, options)


@verb(
    group,
    "Load an OMOP CDM.",
    "ontoground load omop /data/omop --workspace work",
    "ontoground load omop /data/cdm.duckdb --workspace work",
)
def omop(
    place: Annotated[
        str,
        Argument(metavar="DIR|DUCKDB", help="Folder or URL with files named after the tables, or a DuckDB file"),
    ],
    options: Configured,
) -> Result:
    """Load an OMOP Common Data Model (5.3 or 5.4) with its vocabulary: .csv, .csv.gz, Parquet, or a DuckDB file."""
    return _load("omop", [place], options)


@verb(group, "Load a MEDS dataset.", "ontoground load meds /data/meds --workspace work")
def meds(
    folder: Annotated[str, Argument(metavar="DIR", help="The folder with data/ and metadata/, or its URL")],
    options: Configured,
) -> Result:
    """Load a MEDS dataset (version 0.4), by patterns of its codes (`ontoground rules meds_codes`)."""
    return _load("meds", [folder], options)


@verb(group, "Load a table of notes, and one of codes.", "ontoground load table /data/notes --workspace work")
def table(
    folder: Annotated[
        str,
        Argument(metavar="DIR", help="Folder or URL with notes and perhaps codes (.csv, .csv.gz, Parquet)"),
    ],
    options: Configured,
) -> Result:
    """Load notes (id, patient, text; optional admission, time, kind), and codes where there are any.

    Columns of codes: vocabulary, code and patient or admission; optional time, kind (diagnosis, procedure, drug), name.
    """
    return _load("table", [folder], options)


@verb(group, "Load a UMLS release.", "ontoground load umls /data/umls/META --workspace work")
def umls(
    folder: Annotated[str, Argument(metavar="DIR", help="The release's META folder with its .RRF files, or its URL")],
    options: Configured,
) -> Result:
    """Load a UMLS release (MRCONSO, MRREL, MRSTY and the other .RRF files; also split or gzipped)."""
    return _load("umls", [folder], options)


@verb(group, "Load an RxNorm release.", "ontoground load rxnorm /data/rxnorm/rrf --workspace work")
def rxnorm(
    folder: Annotated[str, Argument(metavar="DIR", help="The release's rrf folder with its .RRF files, or its URL")],
    options: Configured,
) -> Result:
    """Load an RxNorm release (RXNCONSO, RXNREL, RXNSAT, RXNSTY), which improves the mapping of drug orders."""
    return _load("rxnorm", [folder], options)


@verb(
    group,
    "Load ontologies.",
    "ontoground load ontology doid.obo hp.obo mondo.sssom.tsv --workspace work",
)
def ontology(
    files: Annotated[
        list[str],
        Argument(
            metavar="FILE...",
            help="OBO, OBO graphs, OWL, SKOS, RDF, SSSOM, MED-RT, MeSH descriptors or ICD-10-CM, by name",
        ),
    ],
    options: Configured,
) -> Result:
    """Load ontologies beside UMLS, or instead of it with RxNorm (docs/ontologies.md).

    Name all files in one command: they take the place of those that were loaded before. Imports are not fetched.
    """
    return _load("ontology", files, options)


def _load(source: str, named: list[str], options: Configured) -> Result:
    from ground.storage.remote import place_of
    from ontoground.flow.pipeline import load_source
    from ontoground.flow.session import records, writing

    places = tuple(map(place_of, named))
    folder = places if len(places) > 1 else places[0]
    workspace = options.open(create=True, folders={source: folder})
    with writing(workspace) as connection:
        outcome = load_source(workspace, connection, source, folder)
        query = "select file, rows_read, rows_rejected, release from ground.load where source = ? order by file"
        files = records(connection.execute(query, [source]))
    return options.result(
        f"load {source}", _blocks, seconds=round(outcome.seconds, 2), files=files, report=outcome.report
    )


def _blocks(payload: dict[str, Any]) -> Blocks:
    files = payload["files"]
    yield listing(files, "file, rows_read: rows, rows_rejected: refused, release")
    read = number(sum(file["rows_read"] for file in files))
    yield f"{read} rows of {len(files)} files in {payload['workspace']}/warehouse.duckdb"
    yield from (f"note: {warning}" for warning in payload["report"].get("warnings", []))
