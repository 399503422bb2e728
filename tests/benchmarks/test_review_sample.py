"""The draw for readers depends on seed and ids only, and its files stay private."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from benchmarks.review_sample import COLUMNS, REPOSITORY, draw, write_sample
from ground.errors import InputError, RefusedError, UsageError
from ground.stable import stable_hash
from ground.storage.workspace import Workspace
from tests.benchmarks.small_dataset import NOTE, NOTE_ID, sample, workspace_with

DRUG, DISORDER = "C0000001", "C0000003"
PER_QUADRANT = 12


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    begin = NOTE.index("Zestril")
    place = {"begin_offset": begin, "end_offset": begin + 7, "text": "Zestril", "section": "hospital_course"}
    spans = [{"role": "head", "cui": "C0000002", **place}]
    rows = [
        sample(number, f"Q{number % 4 + 1}", DRUG, "treats", DISORDER, support_spans=spans)
        for number in range(4 * PER_QUADRANT)
    ]
    return workspace_with(tmp_path_factory.mktemp("review") / "work", rows)


def test_the_lowest_hashes_of_each_quadrant_are_drawn(workspace: Workspace) -> None:
    dataset = workspace.dataset("medieval")
    for seed in (1, 2):
        ranked = sorted(range(4 * PER_QUADRANT), key=lambda number: stable_hash(seed, "review", f"sample-{number}"))
        expected = {f"Q{k + 1}": [f"sample-{n}" for n in ranked if n % 4 == k][:3] for k in range(4)}
        drawn = draw(dataset, seed, 3)
        assert {q: [row["id"] for row in drawn if row["quadrant"] == q] for q in expected} == expected
    assert {row["id"] for row in draw(dataset, 1, 3)} != {row["id"] for row in draw(dataset, 2, 3)}


def test_a_larger_draw_holds_the_smaller_one(workspace: Workspace) -> None:
    dataset = workspace.dataset("medieval")
    smaller, larger = ({row["id"] for row in draw(dataset, 5, n)} for n in (2, 6))
    assert smaller < larger


def test_the_sheet_shows_the_evidence_and_the_note_keeps_its_offsets(workspace: Workspace, tmp_path: Path) -> None:
    output = tmp_path / "sheet"
    assert write_sample(workspace, workspace.dataset("medieval"), output, 5, 2) == dict.fromkeys(
        ("Q1", "Q2", "Q3", "Q4"), 2
    )
    assert output.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in output.iterdir()} == {0o600}
    with (output / "review.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS
    assert rows[0]["path"] == "lisinopril treats hypertension [may_treat, NDFRT]"
    assert f"head 'Zestril' in hospital_course at {NOTE.index('Zestril')}" == rows[0]["spans"]
    assert rows[0]["note"] == f"{NOTE_ID}.txt"
    with (output / rows[0]["note"]).open(encoding="utf-8", newline="") as file:
        assert file.read() == NOTE


@pytest.mark.parametrize("place", ["docs", "docs/reviews/sheet", "sheet", "tests/../docs/sheet"])
def test_the_repository_is_refused(workspace: Workspace, place: str) -> None:
    before = (REPOSITORY / place).exists()
    with pytest.raises(RefusedError):
        write_sample(workspace, workspace.dataset("medieval"), REPOSITORY / place, 5, 2)
    assert (REPOSITORY / place).exists() == before


def test_a_link_into_the_repository_is_refused(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(REPOSITORY / "docs", target_is_directory=True)
    with pytest.raises(RefusedError):
        write_sample(workspace, workspace.dataset("medieval"), tmp_path / "link" / "sheet", 5, 2)


def test_a_folder_that_holds_something_is_left_alone(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UsageError):
        write_sample(workspace, workspace.dataset("medieval"), tmp_path, 5, 2)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_folder_without_a_dataset_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        draw(tmp_path, 1, 1)
