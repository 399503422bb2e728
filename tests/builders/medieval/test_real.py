"""The whole flow on the real open inputs makes at least as many rows as was measured."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from builders.concepts import ConceptReport, map_codes
from builders.medieval.build import build_medieval
from ehr.notes import find_mentions, split_notes
from ehr.sources.mimic import load_mimic
from ground.contracts.rows import QUADRANTS
from ground.storage.warehouse import connect
from ground.storage.workspace import Workspace
from kg.build import build_graph
from kg.load import load_rxnorm, load_umls
from stewardship.second_road.validation import ValidationReport, validate_medieval
from tests.builders.medieval_world import Row, table_of

pytestmark = pytest.mark.real


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


class Real(NamedTuple):
    """What came out of the real inputs with default settings."""

    mapped: ConceptReport
    rows: list[Row]
    baselines: list[dict[str, object]]
    validation: ValidationReport
    named: list[tuple[object, ...]]


@pytest.fixture(scope="session")
def real(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Real:
    """The dataset of the real inputs."""
    workspace = Workspace.create(tmp_path_factory.mktemp("real") / "work")
    connection = connect(workspace.warehouse, workspace.settings.run)
    meta = real_data / "open_meta"
    load_umls(connection, meta / "META", workspace.settings.load)
    load_rxnorm(connection, meta / "rxnorm" / "rrf", workspace.settings.load)
    load_mimic(connection, real_data / "mimic_iv_demo", workspace.settings.load)
    build_graph(connection, workspace.graph, workspace.settings.load)
    mapped = map_codes(connection)
    split_notes(connection, workspace.settings)
    find_mentions(connection, workspace.settings)
    report = build_medieval(workspace, connection)
    validation = validate_medieval(workspace, connection, workspace.dataset("medieval"))
    files = str(workspace.dataset("medieval") / "data" / "*.parquet")
    named = connection.execute(NAMED, [files]).fetchall()
    connection.close()
    return Real(mapped, table_of(workspace.dataset("medieval")).to_pylist(), report.baselines, validation, named)


def test_coverage_of_the_open_demo_does_not_fall(real: Real) -> None:
    report = real.mapped
    rows = {(count.source, count.method): count.rows for count in report.counts}
    # The README of the release counts 836 + 652 rows by their own code, 7,576 orders by NDC, 9,671 by exact name.
    assert rows["diagnoses_icd", "exact"] == 836 + 652
    assert rows["prescriptions_ndc", "ndc_rxcui"] == 7_576
    assert rows["prescriptions_ndc", "ndc_ingredient"] == 9_311 - 7_576
    assert rows["prescriptions_drug", "drug_name"] >= 9_671
    # The README's best: 1,983 + 1,888 of 4,506 diagnosis rows, 86.4% of orders.
    assert report.share("diagnoses_icd") >= (1_983 + 1_888) / 4_506
    assert report.share("prescriptions") >= 0.95
    assert report.share("procedures_icd") >= 0.49


def test_no_unsupported_end_is_named_in_the_text(real: Real) -> None:
    assert real.named == []


def test_the_real_dataset_reaches_the_floors(real: Real) -> None:
    rows, validation = real.rows, real.validation
    assert validation.disagreements == []
    assert validation.rows == len(rows)
    for quadrant in QUADRANTS:
        of = [row for row in rows if row["quadrant"] == quadrant]
        assert len({(r["hadm_id"], r["head_cui"], r["predicate"], r["tail_cui"]) for r in of}) >= 150, quadrant
        assert len({row["predicate"] for row in of}) >= 4, quadrant
        pairs = Counter((row["head_cui"], row["tail_cui"]) for row in of)
        assert max(pairs.values()) <= math.ceil(0.03 * len(of)), quadrant
    assert sum(row["hops"] > 1 for row in rows) >= 0.25 * len(rows)
    groups = Counter(row["group_id"] for row in rows)
    assert sum(n == 4 for n in groups.values()) >= 0.6 * len(groups)


def test_neither_side_of_the_real_dataset_tells_the_label(real: Real) -> None:
    shortcuts = [auc for auc in real.baselines if (auc["view"], auc["label"]) != ("statement", "is_true")]
    assert {(auc["view"], auc["label"]) for auc in shortcuts} == {
        ("statement", "is_supported"),
        ("context", "is_supported"),
        ("context", "is_true"),
    }
    for auc in shortcuts:
        assert float(str(auc["low"])) <= 0.5 <= float(str(auc["high"])) < 0.58, auc
