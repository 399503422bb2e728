"""The whole flow on the real open inputs makes at least as many rows as was measured."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import pytest

from builders.concepts import map_codes
from builders.medieval.build import build_medieval
from builders.validate import ValidationReport, validate_medieval
from ehr.load import load_mimic
from ehr.notes import find_mentions, split_notes
from ground.contracts.rows import QUADRANTS
from ground.storage.warehouse import connect
from ground.storage.workspace import Workspace
from kg.build import build_graph
from kg.load import load_rxnorm, load_umls
from tests.builders.medieval_world import Row, table_of

pytestmark = pytest.mark.real


@pytest.fixture(scope="session")
def real(
    real_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[list[Row], list[dict[str, object]], ValidationReport]:
    """Rows, baselines and validation of the dataset of the real inputs, with default settings."""
    workspace = Workspace.create(tmp_path_factory.mktemp("real") / "work")
    connection = connect(workspace.warehouse, workspace.settings.run)
    meta = real_data / "open_meta"
    load_umls(connection, meta / "META", workspace.settings.load)
    load_rxnorm(connection, meta / "rxnorm" / "rrf", workspace.settings.load)
    load_mimic(connection, real_data / "mimic_iv_demo", workspace.settings.load)
    build_graph(connection, workspace.graph, workspace.settings.load)
    map_codes(connection)
    split_notes(connection, workspace.settings)
    find_mentions(connection, workspace.settings)
    report = build_medieval(workspace, connection)
    validation = validate_medieval(workspace, connection, workspace.dataset("medieval"))
    connection.close()
    return table_of(workspace.dataset("medieval")).to_pylist(), report.baselines, validation


def test_the_real_dataset_reaches_the_floors(
    real: tuple[list[Row], list[dict[str, object]], ValidationReport],
) -> None:
    rows, _, validation = real
    assert validation.disagreements == []
    assert validation.rows == len(rows)
    for quadrant in QUADRANTS:
        of = [row for row in rows if row["quadrant"] == quadrant]
        assert len({(r["hadm_id"], r["head_cui"], r["predicate"], r["tail_cui"]) for r in of}) >= 200, quadrant
        assert len({row["predicate"] for row in of}) >= 4, quadrant
        pairs = Counter((row["head_cui"], row["tail_cui"]) for row in of)
        assert max(pairs.values()) <= math.ceil(0.03 * len(of)), quadrant
    assert sum(row["hops"] > 1 for row in rows) >= 0.25 * len(rows)
    groups = Counter(row["group_id"] for row in rows)
    assert sum(n == 4 for n in groups.values()) >= 0.6 * len(groups)


def test_neither_side_of_the_real_dataset_tells_the_label(
    real: tuple[list[Row], list[dict[str, object]], ValidationReport],
) -> None:
    shortcuts = [auc for auc in real[1] if (auc["view"], auc["label"]) != ("statement", "is_true")]
    assert {(auc["view"], auc["label"]) for auc in shortcuts} == {
        ("statement", "is_supported"),
        ("context", "is_supported"),
        ("context", "is_true"),
    }
    for auc in shortcuts:
        assert float(str(auc["low"])) <= 0.5 <= float(str(auc["high"])) < 0.58, auc
