"""Stages run where they have to, in order, and can be stopped between any two."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ground.errors import InputError
from ground.settings import settings_from
from ground.storage.workspace import Workspace
from ontoground.flow import stages as flow
from ontoground.flow.pipeline import run_stages
from ontoground.flow.session import reading, writing
from ontoground.flow.stages import STAGES, upstream

pytestmark = pytest.mark.xdist_group("demo")


def test_stages_are_listed_after_what_they_need() -> None:
    seen: set[str] = set()
    for one in STAGES:
        assert set(one.after) <= seen
        seen.add(one.name)


def test_a_stage_brings_all_that_it_needs_and_no_more() -> None:
    assert [one.name for one in upstream(("mentions",))] == ["graph", "concepts", "sections", "mentions"]
    assert [one.name for one in upstream(("medieval",))] == [one.name for one in STAGES]
    assert [one.name for one in upstream(("concepts",))] == ["concepts"]


def test_a_workspace_without_data_names_the_loads_that_are_missing(empty_workspace: Path) -> None:
    workspace = Workspace.existing(empty_workspace)
    with writing(workspace) as connection, pytest.raises(InputError) as caught:
        run_stages(workspace, connection, ["medieval"])
    assert "ontoground load umls DIR" in str(caught.value)


def test_a_stage_that_fails_does_not_pass_for_done_and_runs_again(
    demo_copy: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = Workspace.existing(demo_copy())
    changed = Workspace(workspace.root, settings_from({"notes": {"fuzzy": False}}))

    def stopped(*_: object) -> object:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, writing(changed) as connection:
        patch.setattr("ehr.notes.find_mentions", stopped)
        with pytest.raises(KeyboardInterrupt):
            run_stages(changed, connection, ["mentions"])
        states = {one.name: flow.state_of(connection, changed, one).state for one in STAGES}
    assert states["sections"] == "current" and states["mentions"] == states["medieval"] == "stale"
    with writing(changed) as connection:
        connection.execute("delete from ground.stage where stage = 'flow.mentions'")  # as before a first build
        state = flow.state_of(connection, changed, flow.stage("mentions"))
        assert (state.state, state.reason) == ("not built", "a first build that was not finished")
        outcomes = run_stages(changed, connection, ["mentions"])
    assert [outcome.state for outcome in outcomes] == ["current", "current", "current", "done"]


def test_force_runs_the_wanted_stage_and_not_those_before_it(demo_copy: Callable[[], Path]) -> None:
    workspace = Workspace.existing(demo_copy())
    with writing(workspace) as connection:
        outcomes = run_stages(workspace, connection, ["mentions"], force=True)
        assert [outcome.state for outcome in outcomes] == ["current", "current", "current", "done"]
        assert not outcomes[-1].report["skipped"]


def test_reading_cannot_change_the_warehouse(empty_workspace: Path) -> None:
    with reading(Workspace.existing(empty_workspace)) as connection, pytest.raises(Exception, match="read-only"):
        connection.execute("create table ground.extra (i int)")
