"""What the sections say of the published files."""

from __future__ import annotations

from pathlib import Path

import pytest

from ground.contracts.grading import Reference
from ground.contracts.labels import parse_label
from stewardship.adjudication.discrepancy import relative_error
from stewardship.adjudication.finalise import finalise
from stewardship.benchmark.tables import read_label_table
from tests.stewardship.specification.words import MISSING, NA, labels, value_or_kind


@pytest.mark.real
def test_published_sheets_hold_to_sections_1_5_and_6(real_data: Path) -> None:
    source = real_data / "stewardship" / "source"
    sheet = read_label_table(source / "y_new_and_sampled_MD_evals.xlsx").frame
    uids = sheet["uid"].to_list()
    original, recomputed = (dict(zip(uids, labels(*sheet[role]), strict=True)) for role in ("original", "recomputed"))
    answers = {uid: parse_label(text, physician=True) for uid, text in zip(uids, sheet["physician"], strict=True)}
    # no N/A became a blank
    assert sum(value.kind is NA for value in recomputed.values()) == 66
    assert sum(value.kind is NA for value in answers.values()) == 16
    assert sum(value.number is not None for value in answers.values()) == 34
    assert sum(value.kind is MISSING for value in answers.values()) == 837
    # the file's column is the symmetric relative error
    pairs = [
        (float(printed), a.number, b.number)
        for printed, a, b in zip(sheet["rel_err"], original.values(), recomputed.values(), strict=True)
        if a.number is not None and b.number is not None
    ]
    assert len(pairs) == 783
    assert max(abs(printed - float(relative_error(a, b))) for printed, a, b in pairs) < 1e-14
    # final labels of both policies
    final = read_label_table(source / "y_final_MD_evals_incorporated.xlsx").frame
    published = dict(zip(final["uid"], labels(*final["final"]), strict=True))
    assert len(published) == 887
    released, paper = (
        {uid: item.label for uid, item in finalise(recomputed, answers, policy=policy).items()}
        for policy in ("released", "physician")
    )
    assert released == published
    assert sum(value.kind is NA for value in released.values()) == 69
    assert {uid for uid in uids if paper[uid] != published[uid]} == {"114", "117", "367", "761", "785", "824", "864"}
    assert all(paper[uid] == recomputed[uid] for uid in uids if answers[uid].kind is MISSING)
    assert all(paper[uid] == answers[uid] for uid in uids if answers[uid].kind is not MISSING)


@pytest.mark.real
def test_limits_are_those_of_both_published_files(real_data: Path) -> None:
    source = real_data / "stewardship" / "source"
    for name, rule, rows in (
        ("original_test_labels.csv.gz", "v1", 1047),
        ("medcalc_v1_corrected.csv.gz", "corrected", 887),
    ):
        frame = read_label_table(source / name).frame
        types = frame["output_type"] if rule == "v1" else [None] * rows
        ours = [
            Reference.of(value, "v1" if rule == "v1" else "corrected", kind)
            for value, kind in zip(labels(*frame["label"]), types, strict=True)
        ]
        assert len(ours) == rows
        for role in ("lower", "upper"):
            theirs = labels(*frame[role])
            assert [value_or_kind(getattr(our, role)) for our in ours] == [
                pytest.approx(value.number, abs=1e-9) if value.number is not None else value_or_kind(value)
                for value in theirs
            ]
