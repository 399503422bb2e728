"""Our own datasets under stewardship, on the small open world: what is planted wrong is found, what is right stays."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from stewardship.benchmark.folder import Benchmark
from stewardship.datasets.adopt import adopt_dataset
from stewardship.datasets.auditor import audited
from stewardship.datasets.recompute import recomputed
from stewardship.datasets.rows import evidence_of
from stewardship.reporting.estimates import label_estimates
from tests.ontoground.cli.conftest import Steward
from tests.ontoground.conftest import Demo
from tests.stewardship.datasets.folders import medhal_folder

pytestmark = pytest.mark.xdist_group("demo")

EDGE = {"head_cui": "C1", "predicate": "treats", "rela": "may_treat", "tail_cui": "C2", "sab": "X", "rui": "R1"}


def _copy(demo: Demo, folder: Path) -> Path:
    for name in ("warehouse.duckdb", "ontoground.toml"):
        shutil.copy(demo.workspace / name, folder / name)
    shutil.copytree(demo.workspace / "datasets", folder / "datasets")
    return folder


def _first(rows: list[dict[str, Any]], quadrant: str, *, taken: set[str], hops: int | None = None) -> dict[str, Any]:
    for row in rows:
        if row["quadrant"] == quadrant and row["group_id"] not in taken and hops in (None, row["hops"]):
            taken.add(row["group_id"])
            return row
    raise AssertionError(f"the demo has no {quadrant} left")


def _planted(rows: list[dict[str, Any]]) -> dict[str, str]:
    """Make labels wrong in as many ways as there are, and return which row is wrong how."""
    taken: set[str] = set()
    planted = {}

    def plant(how: str, quadrant: str, hops: int | None = None) -> dict[str, Any]:
        row = _first(rows, quadrant, taken=taken, hops=hops)
        planted[row["id"]] = how
        return row

    plant("label", "Q1")["quadrant"] = "Q4"
    row = plant("edge", "Q1", 1)
    row["path"] = [{**row["path"][0], "rui": "R000000000"}]
    plant("tier", "Q1", 1)["tier"] = "inherited"
    row = plant("span", "Q2")
    row["support_spans"] = [{**span, "begin_offset": span["begin_offset"] + 1} for span in row["support_spans"]]
    row = plant("true called false", "Q1")
    row |= {"quadrant": "Q3", "is_true": False, "path": [], "tier": None, "hops": 1, "why_false": "recombined"}
    row |= {"replaced_end": "head", "replaced_cui": "C0"}
    row = plant("false called true", "Q3")
    row |= {"quadrant": "Q1", "is_true": True, "tier": "stated", "hops": 1, "why_false": None, "path": [EDGE]}
    row |= {"replaced_end": "none", "replaced_cui": None}
    row = plant("supported called unsupported", "Q1")
    row |= {"quadrant": "Q2", "is_supported": False, "support_level": "silent", "replaced_end": "tail"}
    row |= {"replaced_cui": "C0", "support_spans": [span for span in row["support_spans"] if span["role"] == "head"]}
    row = plant("unsupported called supported", "Q2")
    row |= {"quadrant": "Q1", "is_supported": True, "support_level": "co_mentioned", "replaced_end": "none"}
    span = row["support_spans"][0]
    row["support_spans"] = [{**span, "role": role, "cui": row[f"{role}_cui"]} for role in ("head", "tail")]
    plant("replaced by itself", "Q2")
    row = rows[next(i for i, other in enumerate(rows) if planted.get(other["id"]) == "replaced by itself")]
    row["replaced_cui"] = row[f"{row['replaced_end']}_cui"]
    return planted


@pytest.fixture(scope="module")
def wrong(demo: Demo, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Benchmark, dict[str, str]]]:
    """A workspace whose dataset has planted wrong labels, its benchmark, and uid to what is wrong."""
    workspace = _copy(demo, tmp_path_factory.mktemp("planted"))
    file = workspace / "datasets" / "medieval" / "data" / "train-00000-of-00001.parquet"
    frame = pl.read_parquet(file)
    rows = frame.to_dicts()
    planted = _planted(rows)
    pl.DataFrame(rows, schema=frame.schema).write_parquet(file)
    benchmark = adopt_dataset(workspace, workspace / "datasets" / "medieval", name=None, rows=None, seed=1)
    uids = {evidence_of(item)["id"]: item["uid"] for item in benchmark.items.to_dicts()}
    yield workspace, benchmark, {uids[row]: how for row, how in planted.items()}


def test_the_auditor_finds_every_kind_of_planted_error_and_calls_nothing_else_wrong(
    wrong: tuple[Path, Benchmark, dict[str, str]],
) -> None:
    workspace, benchmark, planted = wrong
    audit_rows = {row["uid"]: row for row in audited(workspace, benchmark).to_dicts()}
    named = {how: audit_rows[uid] for uid, how in planted.items()}
    assert {row["verdict"] for row in named.values()} == {"Suspicious"}
    assert "a quadrant is what its two labels say (here Q4, expected Q1)" in named["label"]["remark"]
    assert "an edge of a path is in the graph" in named["edge"]["remark"]
    assert "a pattern of its tier" in named["tier"]["remark"]
    assert named["span"]["failure_mode"] == "feature_extraction"
    assert "called false: path" in named["true called false"]["remark"]
    assert "called true: no path" in named["false called true"]["remark"]
    assert "named as present in the context" in named["supported called unsupported"]["remark"]
    assert "replaced by another concept" in named["replaced by itself"]["remark"]
    others = [row for uid, row in audit_rows.items() if uid not in planted and row["verdict"] == "Suspicious"]
    assert len(others) <= len(audit_rows) // 100


def test_the_other_road_gives_planted_labels_back_without_sight_of_them(
    wrong: tuple[Path, Benchmark, dict[str, str]],
) -> None:
    workspace, benchmark, planted = wrong
    recomputed_labels = {row["uid"]: row["label"] for row in recomputed(workspace, benchmark).to_dicts()}
    by_how = {how: recomputed_labels[uid] for uid, how in planted.items()}
    assert by_how["label"] == "Q1"
    assert by_how["true called false"] == "Q1"
    assert by_how["false called true"] == "Q3"
    assert by_how["supported called unsupported"] == "Q1"
    assert by_how["unsupported called supported"] in ("Q2", "N/A")
    labels = {uid: event.value for uid, event in benchmark.history.latest("original").items() if uid not in planted}
    decided = {uid: label for uid, label in recomputed_labels.items() if uid in labels and label != "N/A"}
    assert len(decided) > len(labels) * 0.8
    assert [uid for uid, label in decided.items() if label != labels[uid]] == []


def test_the_evidence_that_gives_a_label_away_is_neither_in_the_key_nor_in_what_is_asked(
    wrong: tuple[Path, Benchmark, dict[str, str]],
) -> None:
    _, benchmark, _ = wrong
    for item in benchmark.items.head(40).to_dicts():
        assert not item["uid"].endswith(("Q1", "Q2", "Q3", "Q4"))
        features = json.loads(item["features"])
        assert not {"path", "tier", "quadrant", "support_spans", "why_false", "replaced_end"} & set(features)
        assert features["statement"] in item["question"]


def test_the_verbs_audit_and_recompute_a_sample_and_the_report_estimates_the_dataset(
    demo: Demo, tmp_path: Path, steward: Steward
) -> None:
    workspace = _copy(demo, tmp_path)
    dataset = workspace / "datasets" / "medieval"

    def run(*words: str) -> dict[str, Any]:
        return steward.json(*words, "--workspace", workspace)

    taken = run("adopt", str(dataset), "--rows", "40")
    assert (taken["rows"], taken["categories"]) == (40, ["Q1", "Q2", "Q3", "Q4"])
    audit = run("audit", "--engine", "evidence")
    assert (audit["runs"], audit["runs_made"], audit["summary"]["n"]) == (1, 40, 40)
    recompute = run("recompute", "--engine", "sql")
    assert recompute["runs_made"] == 40
    assert recompute["summary"]["abstained"] == 0, "a row of which nothing can be said is deferred, not N/A"
    assert run("recompute", "--engine", "sql")["runs_made"] == 0
    estimates = label_estimates(Benchmark.open(workspace))
    whole = next(estimate for estimate in estimates if estimate.source == "recomputed" and estimate.by == "all")
    assert whole.rows == pl.read_parquet(dataset / "data" / "*.parquet").height
    assert whole.taken == 40
    assert (whole.errors, whole.share) == (0, 0.0)
    assert whole.high is not None and 0 < whole.high < 0.5


def test_record_facts_of_medhal_are_read_back_into_relations_and_judged(demo: Demo, tmp_path: Path) -> None:
    workspace = _copy(demo, tmp_path)
    rows = pl.read_parquet(workspace / "datasets" / "medieval" / "data" / "*.parquet").to_dicts()
    groups: dict[str, dict[str, Any]] = {}
    for row in rows:
        groups.setdefault(row["group_id"], {})[row["quadrant"]] = row
    pairs = [
        {
            **row,
            "pair_id": f"mimic-{number}",
            "id": f"mimic-{number}-{'ab'[right]}",
            "statement": f"{row['statement'].removesuffix('.')}, and this patient's record documents both "
            f"{row['head_name']} and {row['tail_name']}.",
            # The last pair is planted: its labels are the wrong way round.
            "label": bool(right) != (number == 5),
            "explanation": None if bool(right) != (number == 5) else "It is not so.",
            "inner_id": row["id"],
            "source": "mimic",
            "task": "record_facts",
            **{
                "synthetic": True,
                "wording": "smooth",
                "licence": "own",
                "in_length_filtered": True,
                "in_balanced": True,
            },
        }
        for number, group in enumerate([groups[name] for name in sorted(groups)][:6])
        for right, row in enumerate((group["Q3"], group["Q1"]))
    ]
    folder = medhal_folder(workspace / "datasets" / "medhal", pairs)
    benchmark = adopt_dataset(workspace, folder, name=None, rows=None, seed=1)
    labels = {uid: event.value for uid, event in benchmark.history.latest("original").items()}
    judged = {row["uid"]: row["label"] for row in recomputed(workspace, benchmark).to_dicts()}
    differ = {uid for uid, label in judged.items() if label not in ("N/A", labels[uid])}
    assert sum(label != "N/A" for label in judged.values()) >= 10
    assert differ and differ <= {"mimic-5-a", "mimic-5-b"}
    audit = {row["uid"]: row for row in audited(workspace, benchmark).to_dicts()}
    assert {uid for uid, row in audit.items() if row["verdict"] == "Suspicious"} >= differ
