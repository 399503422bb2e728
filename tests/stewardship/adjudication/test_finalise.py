"""Final labels: both policies."""

from __future__ import annotations

from pathlib import Path

from ground.contracts.labels import parse_label
from stewardship.adjudication.finalise import Policy, finalise
from stewardship.history.log import Event
from tests.stewardship.labelled import adopted, finalised


def final(recomputed: str, physician: str, policy: Policy, uid: str) -> tuple[str, str]:
    result = finalise({uid: parse_label(recomputed)}, {uid: parse_label(physician, physician=True)}, policy=policy)
    return result[uid].label.text(), result[uid].source


def test_an_exception_holds_for_its_labels_only() -> None:
    assert final("8", "7", "released", uid="864") == ("8", "recomputed")
    assert final("8", "7", "physician", uid="864") == ("7", "physician")
    assert final("8", "7", "released", uid="865") == ("7", "physician")
    assert final("9", "7", "released", uid="864") == ("7", "physician")


def test_a_final_label_says_who_labelled_the_row_as_far_as_it_was_declared(tmp_path: Path) -> None:
    benchmark = adopted(tmp_path)
    settled = {"raters": ["ann", "bob"], "labels": ["3", "3"]}
    item = Event(uid="1", role="physician", value="2", status="labelled", by="robot", evidence={"sheet": "s-1"})
    two = Event(uid="2", role="physician", value="3", status="adjudicated", by="raters", evidence=dict(settled))
    benchmark.history.append([item, two])
    finalised(benchmark)
    why = {uid: event.why for uid, event in benchmark.history.latest("final").items()}
    assert "labelled by robot, not declared a language model" in why["1"]
    assert "labelled by ann, bob, not declared" in why["2"]
    assert sum("the physicians of sheet.csv, as that file says" in item for item in why.values()) >= 1
    assert not any("a physician reviewed" in item for item in why.values())
