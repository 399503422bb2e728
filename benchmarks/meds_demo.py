"""The MIMIC-IV demo as MEDS, made by the field's own package (mimic-iv-meds), against the same demo as CSV.

Codes per admission are compared exactly. Drugs are compared with a CSV folder whose prescriptions are those that MEDS
has too: the drug, its NDC and its times, of hosp/pharmacy; there an order's admission is stated, in MEDS it is found by
time. Notes are those of the CSV folder, written as MEDS rows.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.command import parser, run
from ground.storage.warehouse import open_database
from ground.storage.workspace import Workspace
from ontoground.cli.render import console
from ontoground.flow.pipeline import load_source, run_stages
from ontoground.flow.session import writing

__all__ = ["main"]

NOTE = """
    select subject_id::bigint as subject_id, charttime::timestamp as time, 'NOTE//' || note_type as code,
        text as text_value, hadm_id::bigint as hadm_id, note_id
    from read_csv('{demo}/note/discharge.csv.gz', all_varchar = true, max_line_size = 10000000)
"""
SHARD = """
    copy (
        select * from read_parquet('{shard}')
        union all by name
        select * from ({note}) where subject_id in (select subject_id from read_parquet('{shard}'))
        order by subject_id, time nulls first
    ) to '{new}' (format parquet)
"""
PRESCRIPTIONS = """
    copy (
        select p.subject_id, p.hadm_id, p.pharmacy_id, p.starttime, p.stoptime, 'MAIN' as drug_type,
            coalesce(p.medication, 'UNK') as drug, '' as gsn, nullif(any_value(o.ndc), '0') as ndc, '' as prod_strength
        from read_csv('{demo}/hosp/pharmacy.csv.gz', all_varchar = true) as p
        left join read_csv('{demo}/hosp/prescriptions.csv.gz', all_varchar = true) as o
            on p.pharmacy_id = o.pharmacy_id and o.drug_type = 'MAIN'
        where p.starttime is not null
        group by all
    ) to '{new}' (header)
"""
CODES = "select distinct hadm_id, vocabulary, code from {side}.ehr.{kind}"
ORDER = """
    select subject_id, coalesce(name, 'UNK') as name, time, list(distinct hadm_id) as stays
    from {side}.ehr.drug
    group by all
"""
PLACED = """
    select
        count(*) as orders,
        count(*) filter (where c.stays is null) as without_csv_row,
        count(*) filter (where list_has_any(c.stays, m.stays)) as same_admission,
        count(*) filter (where m.stays = [null]) as no_admission,
        count(*) filter (where m.stays <> [null] and not list_has_any(c.stays, m.stays)) as other_admission
    from ({meds}) as m
    left join ({csv}) as c
        on m.subject_id = c.subject_id and m.name = c.name and m.time = c.time
"""
ALIKE = {
    "concepts of diagnoses": "select hadm_id, cui from {side}.ground.admission_concept where kind = 'diagnosis'",
    "concepts of procedures": "select hadm_id, cui from {side}.ground.admission_concept where kind = 'procedure'",
    "concepts of drugs": "select hadm_id, cui from {side}.ground.admission_concept where kind = 'drug'",
    "mentions": "select note_id, begin_offset, end_offset, cuis, assertion from {side}.ground.mention",
    "mentions with certainty": "select note_id, begin_offset, end_offset, cuis, certainty from {side}.ground.mention",
    "statements": "select hadm_id, statement, quadrant, is_true, is_supported from {side}.ground.medieval",
}


def write_inputs(meds: Path, demo: Path, folder: Path) -> dict[str, Path]:
    """Write the MEDS dataset with the notes, and the CSV folder with the drug orders that MEDS has."""
    shutil.copytree(meds / "metadata", folder / "meds" / "metadata")
    for shard in sorted((meds / "data").rglob("*.parquet")):
        new = folder / "meds" / shard.relative_to(meds)
        new.parent.mkdir(parents=True, exist_ok=True)
        duckdb.sql(SHARD.format(shard=shard, new=new, note=NOTE.format(demo=demo)))
    for module in ("hosp", "note"):
        shutil.copytree(demo / module, folder / "csv" / module)
    (folder / "csv" / "hosp" / "prescriptions.csv.gz").unlink()
    duckdb.sql(PRESCRIPTIONS.format(demo=demo, new=folder / "csv" / "hosp" / "prescriptions.csv"))
    return {"meds": folder / "meds", "mimic": folder / "csv"}


def build(folder: Path, records: str, source: Path, releases: Mapping[str, Path]) -> tuple[Path, dict[str, Any]]:
    """Load one side and build its statements; return its warehouse, and what the load said."""
    workspace = Workspace.create(folder)
    with writing(workspace) as connection:
        for name, release in releases.items():
            load_source(workspace, connection, name, release)
        loaded = load_source(workspace, connection, records, source)
        run_stages(workspace, connection, ["medieval"])
    said = {"seconds": round(loaded.seconds, 2), "warnings": loaded.report["warnings"]}
    return folder / "warehouse.duckdb", said


def compare(csv: Path, meds: Path) -> dict[str, Any]:
    """Return how many rows both sides have, and how many one alone has."""
    connection = open_database()
    for side, file in (("of_csv", csv), ("of_meds", meds)):
        connection.execute(f"attach '{file}' as {side} (read_only)")
    queries = {f"codes of {kind}": CODES.replace("{kind}", kind) for kind in ("diagnosis", "procedure")} | ALIKE
    result: dict[str, Any] = {name: _alike(connection, query) for name, query in queries.items()}
    placed = connection.execute(PLACED.format(meds=ORDER.format(side="of_meds"), csv=ORDER.format(side="of_csv")))
    names = [column[0] for column in placed.description or ()]
    result["drug orders"] = dict(zip(names, placed.fetchall()[0], strict=True))
    return result


def _alike(connection: duckdb.DuckDBPyConnection, query: str) -> dict[str, int]:
    csv, meds = query.format(side="of_csv"), query.format(side="of_meds")
    counts = connection.execute(
        f"select (select count(*) from ({csv} intersect {meds})), (select count(*) from ({csv} except {meds})), "
        f"(select count(*) from ({meds} except {csv}))"
    ).fetchall()[0]
    return dict(zip(("both", "csv alone", "meds alone"), counts, strict=True))


def main(arguments: list[str]) -> int:
    """Compare, and print the figures as JSON."""
    asked = parser(
        "meds_demo",
        __doc__ or "",
        "python -m benchmarks.meds_demo DEMO_MEDS mimic_iv_demo META work --rxnorm rxnorm/rrf",
    )
    asked.add_argument("meds", type=Path, help="what mimic-iv-meds made of the demo")
    asked.add_argument("demo", type=Path, help="the demo's folder with hosp/ and note/")
    asked.add_argument("umls", type=Path, help="META folder of a release")
    asked.add_argument("work", type=Path, help="a new folder for both workspaces")
    asked.add_argument("--rxnorm", type=Path, help="rrf folder of a release")
    options = asked.parse_args(arguments)
    releases = {"umls": options.umls} | ({"rxnorm": options.rxnorm} if options.rxnorm else {})
    folders = write_inputs(options.meds, options.demo, options.work / "inputs")
    built = {name: build(options.work / name, name, folder, releases) for name, folder in folders.items()}
    result = {"loads": {name: said for name, (_, said) in built.items()}}
    result |= compare(built["mimic"][0], built["meds"][0])
    console().print_json(json.dumps(result))
    return 0


if __name__ == "__main__":
    run(main)
