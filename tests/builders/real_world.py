"""The whole flow on the real open inputs with default settings, for all tests that look at what comes out."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from builders.concepts import ConceptReport, map_codes
from builders.medieval.build import build_medieval
from ehr.notes import find_mentions, split_notes
from ehr.sources.mimic import load_mimic
from ground.storage.warehouse import connect
from ground.storage.workspace import Workspace
from kg.build import GraphReport, build_graph
from kg.graph import ConceptGraph
from kg.load import load_rxnorm, load_umls
from stewardship.second_road.validation import ValidationReport, validate_medieval
from tests.builders.medieval_world import Row, table_of

# Unsupported ends of which a name stands in the text of a note, whatever the mentions say.
NAMED = """
with note as (
    select hadm_id, concat(' ', regexp_replace(lower(text), '[^a-z0-9]+', ' ', 'g'), ' ') as words
    from mimiciv_note.discharge
),
put_in as (
    select distinct hadm_id, if(replaced_end = 'head', head_cui, tail_cui) as cui
    from read_parquet(?) where not is_supported
)
select put_in.hadm_id, name.normalized
from put_in
inner join kg.name as name using (cui)
inner join note using (hadm_id)
where len(name.normalized) > 3 and contains(note.words, concat(' ', name.normalized, ' '))
"""
MENTIONS = "select note_id, begin_offset, end_offset from ground.mention"


class Real(NamedTuple):
    """What came out."""

    graph: ConceptGraph
    graph_report: GraphReport
    mapped: ConceptReport
    mentions: list[tuple[str, int, int]]
    """Note, begin and end of each."""
    rows: list[Row]
    baselines: list[dict[str, object]]
    validation: ValidationReport
    named: list[tuple[object, ...]]


def real_world(data: Path, root: Path) -> Real:
    """Take the inputs through the flow."""
    workspace = Workspace.create(root)
    connection = connect(workspace.warehouse, workspace.settings.run)
    meta = data / "open_meta"
    load_umls(connection, meta / "META", workspace.settings.load)
    load_rxnorm(connection, meta / "rxnorm" / "rrf", workspace.settings.load)
    load_mimic(connection, data / "mimic_iv_demo", workspace.settings.load)
    graph_report = build_graph(connection, workspace.graph, workspace.settings.load)
    mapped = map_codes(connection)
    split_notes(connection, workspace.settings)
    find_mentions(connection, workspace.settings)
    report = build_medieval(workspace, connection)
    folder = workspace.dataset("medieval")
    validation = validate_medieval(workspace, connection, folder)
    mentions = connection.execute(MENTIONS).fetchall()
    named = connection.execute(NAMED, [str(folder / "data" / "*.parquet")]).fetchall()
    connection.close()
    graph = ConceptGraph.open(workspace.graph)
    rows = table_of(folder).to_pylist()
    return Real(graph, graph_report, mapped, mentions, rows, report.baselines, validation, named)
