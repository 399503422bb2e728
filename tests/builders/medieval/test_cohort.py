"""Which patients train, validate and are tested: shares and folds are settings, and Python deals as SQL does."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from builders.texts.origin import Origin, Seeds, split_of
from ground.errors import UsageError
from ground.settings import BuildSettings, settings_from
from ground.storage.sqlfiles import sql_text
from ground.storage.warehouse import open_database, set_variables

PATIENTS = 4000


def dealt(settings: BuildSettings) -> list[tuple[Any, ...]]:
    """Return (subject_id, split, fold) of so many patients."""
    train, validation = settings.split_ends
    with open_database() as connection:
        connection.execute(
            "create schema ehr; create table ehr.discharge_note as "
            "select range as subject_id, range + 7 as hadm_id, 'n' || range as note_id, 1 as seq_num "
            f"from range({PATIENTS})"
        )
        connection.execute(
            "create table ehr.patient as select range as subject_id, if(range < 900, 'test', null) as split "
            f"from range({PATIENTS})"
        )
        values: dict[str, object] = {"seed": settings.seed, "train_end": train, "validation_end": validation}
        set_variables(connection, values | {"folds": settings.folds, "patient_splits": settings.patient_splits})
        connection.execute(sql_text("builders/medieval/support/cohort"))
        return connection.execute("select subject_id, split, fold from cohort").fetchall()


@pytest.mark.parametrize("shares", [(0.1, 0.1), (0.0, 0.3), (0.125, 0.25), (0.2, 0.0)])
def test_sql_and_python_deal_alike_in_the_shares_that_are_set(shares: tuple[float, float]) -> None:
    settings = BuildSettings(validation_share=shares[0], test_share=shares[1])
    found = dealt(settings)
    for patient, split, _ in found:
        assert split == split_of(settings.seed, Origin("mimic", "", "", "train", patient), settings.split_ends)
    counts = Counter(split for _, split, _ in found)
    for name, share in zip(("validation", "test"), shares, strict=True):
        assert abs(counts[name] / PATIENTS - share) < 0.03 and (counts[name] > 0) == (share > 0)


def test_splits_of_the_source_go_before_the_shares() -> None:
    settings = BuildSettings(patient_splits="source")
    seeds = Seeds(7, settings.seed, settings.split_ends, dict.fromkeys(range(900), "test"))
    shares = {patient: split for patient, split, _ in dealt(BuildSettings())}
    for patient, split, _ in dealt(settings):
        assert split == seeds.split(Origin("mimic", "", "", "train", patient))
        assert split == ("test" if patient < 900 else shares[patient])


def test_the_fold_knows_nothing_of_the_split() -> None:
    found = Counter((split == "test", fold) for _, split, fold in dealt(BuildSettings(folds=4, test_share=0.5)))
    assert {fold for _, fold in found} == {0, 1, 2, 3}
    assert max(found.values()) < 1.3 * min(found.values())


def test_shares_that_leave_nobody_to_train_on_are_refused() -> None:
    with pytest.raises(UsageError) as caught:
        settings_from({"build": {"validation_share": 0.5, "test_share": 0.5}})
    assert "leave some patients" in (caught.value.expected or "")
