"""Stages notice a change of their code, and of no other."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from ground import ROOT
from ground.errors import InputError
from ground.flow import fingerprints
from ground.flow.fingerprints import CODE, code_digest
from ground.storage.sqlfiles import sql_root
from ontoground.flow.stages import STAGES, Stage


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of all code that stages are made of, which digests are taken of."""
    root = tmp_path_factory.mktemp("code")
    for room in {place.split("/")[0] for stage in STAGES for place in stage.code}:
        shutil.copytree(sql_root() if room == "sql" else ROOT / room, root / room)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fingerprints, "ROOT", root)
        patch.setattr(fingerprints, "sql_root", lambda: root / "sql")
        yield root


def digests() -> dict[str, str]:
    return {stage.name: code_digest.__wrapped__(stage.code) for stage in STAGES}


def test_one_byte_makes_exactly_its_stages_stale(copy: Path) -> None:
    before = digests()
    for place in sorted({place for stage in STAGES for place in stage.code}):
        inside = [one for one in sorted([copy / place, *(copy / place).rglob("*")]) if one.suffix in CODE]
        # One file of each folder and kind: the others of it are read in the same way.
        for file in {(one.parent, one.suffix): one for one in inside}.values():
            whole = file.read_bytes()
            file.write_bytes(whole[:-1] + b" ")
            changed = {name for name, digest in digests().items() if digest != before[name]}
            file.write_bytes(whole)
            assert changed == {
                stage.name for stage in STAGES if any(file.is_relative_to(copy / one) for one in stage.code)
            }
    assert digests() == before


def test_a_new_a_lost_and_a_renamed_file_are_changes(copy: Path) -> None:
    before = code_digest.__wrapped__(("kg",))
    (copy / "kg" / "zebra.py").write_text("")
    assert code_digest.__wrapped__(("kg",)) != before
    (copy / "kg" / "zebra.py").unlink()
    (copy / "kg" / "graph.py").rename(copy / "kg" / "graphs.py")
    assert code_digest.__wrapped__(("kg",)) != before
    (copy / "kg" / "graphs.py").rename(copy / "kg" / "graph.py")
    assert code_digest.__wrapped__(("kg",)) == before


@pytest.mark.parametrize("place", ["kg/no_such_module.py", "no_such_room", "sql/no_such_folder", "docs"])
def test_a_place_without_code_is_an_error(place: str) -> None:
    with pytest.raises(InputError, match="no code is there"):
        code_digest.__wrapped__((place,))


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_every_place_of_a_stage_holds_code(stage: Stage) -> None:
    assert code_digest.__wrapped__(stage.code)
