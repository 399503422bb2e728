"""The history of labels: only ever added to, whole or not at all, and what was altered is found."""

from __future__ import annotations

import multiprocessing
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ground.contracts.labels import LabelKind
from ground.errors import InputError, UsageError
from stewardship.history.log import Event, History, Role


def event(uid: str, value: str | None, role: Role = "recomputed", **more: object) -> Event:
    return Event.model_validate({"uid": uid, "role": role, "value": value, "status": "said", "by": "me", **more})


def values(history: History, role: Role = "recomputed") -> dict[str, str | None]:
    return {uid: event.value for uid, event in history.latest(role).items()}


def test_the_last_event_of_a_role_is_the_label(tmp_path: Path) -> None:
    history = History(tmp_path)
    assert history.append([event("1", "4"), event("2", "N/A"), event("1", "5", "original")]) == "0001"
    assert history.append([event("1", "6")]) == "0002"
    for seen in (history, History(tmp_path)):
        assert values(seen) == {"1": "6", "2": "N/A"}
        assert values(seen, "original") == {"1": "5"}
        assert [event.value for event in seen.row("1")] == ["4", "5", "6"]
        assert seen.labels("recomputed")["2"].kind is LabelKind.ABSTENTION


def test_only_events_of_the_statuses_asked_for_count(tmp_path: Path) -> None:
    history = History(tmp_path)
    history.append([event("1", "4", status="high_confidence")])
    history.append([event("1", "9", status="rule")])
    assert values(history) == {"1": "9"}
    assert history.latest("recomputed", statuses=["high_confidence"])["1"].value == "4"
    assert history.latest("recomputed", without=["rule"])["1"].value == "4"
    assert history.latest("recomputed", without=["high_confidence", "rule"]) == {}


def test_a_physicians_words_without_a_digit_are_an_abstention(tmp_path: Path) -> None:
    history = History(tmp_path)
    history.append([event("1", "Multiple", "physician"), event("1", "Multiple", "final")])
    assert history.labels("physician")["1"].kind is LabelKind.ABSTENTION
    assert history.labels("final")["1"].kind is LabelKind.UNPARSEABLE


def test_a_batch_is_taken_back_and_taken_up_again(tmp_path: Path) -> None:
    history = History(tmp_path)
    history.append([event("1", "4")])
    second = history.append([event("1", "5"), event("2", "7")])
    history.append([event("2", "8")])
    taken_back = history.revert(second, by="me", why="wrong factor")
    assert values(history) == {"1": "4", "2": "8"}
    with pytest.raises(UsageError, match="already reverted"):
        history.revert(second, by="me", why="again")
    history.revert(taken_back, by="me", why="it was right")
    assert values(history) == values(History(tmp_path)) == {"1": "5", "2": "8"}
    assert [batch.holds for batch in history.batches()] == [True, True, True, False, True]
    with pytest.raises(UsageError, match="no such batch"):
        history.revert("0009", by="me", why="")


def test_a_batch_without_events_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="without events"):
        History(tmp_path).append([])


def test_a_history_that_is_open_sees_what_another_one_adds(tmp_path: Path) -> None:
    first, second = History(tmp_path), History(tmp_path)
    assert first.append([event("1", "4")]) == "0001"
    assert second.append([event("1", "5")]) == "0002"
    assert values(first.refresh()) == values(second) == {"1": "5"}


def test_wherever_a_write_is_cut_off_nothing_before_it_is_lost(tmp_path: Path) -> None:
    history = History(tmp_path)
    history.append([event("1", "4"), event("2", "line\nend")])
    seal = (tmp_path / "history.seal").read_bytes()
    before = history.file.read_bytes()
    history.append([event("1", "5"), event("3", "6")])
    after = history.file.read_bytes()
    assert after.startswith(before)
    for cut in range(len(before), len(after) + 1):
        history.file.write_bytes(after[:cut])
        (tmp_path / "history.seal").write_bytes(seal)
        assert values(History(tmp_path)) == {"1": "4", "2": "line\nend"}
    again = History(tmp_path)
    assert again.append([event("1", "7")]) == "0002"
    assert values(History(tmp_path)) == {"1": "7", "2": "line\nend"}


def test_the_line_that_was_altered_is_named(tmp_path: Path) -> None:
    history = History(tmp_path)
    history.append([event(str(uid), str(uid)) for uid in range(9)])
    lines = history.file.read_bytes().splitlines(keepends=True)
    for number, line in enumerate(lines, start=1):
        altered = line.replace(b'"value":"%d"' % (number - 1), b'"value":"%d"' % (9 - number + 1))
        changed = altered != line
        history.file.write_bytes(b"".join([*lines[: number - 1], altered, *lines[number:]]))
        if changed:
            with pytest.raises(InputError, match="was altered") as result:
                History(tmp_path)
            assert result.value.line == number


@pytest.mark.parametrize("value", ["7", "a longer label than the one before"])
def test_a_line_that_was_altered_is_named_whatever_its_new_length(tmp_path: Path, value: str) -> None:
    history = History(tmp_path)
    history.append([event(str(uid), "25.24") for uid in range(9)])
    lines = history.file.read_text(encoding="utf-8").splitlines(keepends=True)
    lines[4] = lines[4].replace("25.24", value)
    history.file.write_text("".join(lines), encoding="utf-8")
    with pytest.raises(InputError, match="was altered") as result:
        History(tmp_path)
    assert result.value.line == 5


@pytest.mark.parametrize(
    ("damage", "line"),
    [
        (lambda lines: lines[:-1], None),
        (lambda lines: [*lines[:3], *lines[4:], b"x" * len(lines[3])], 4),
        (lambda lines: [*lines[:3], lines[4], lines[3], *lines[5:]], 4),
        (lambda lines: [*lines, lines[-1]], 10),
        (lambda _: [], None),
    ],
    ids=["last line lost", "a line removed", "two lines exchanged", "a line added by hand", "emptied"],
)
def test_lines_that_were_lost_moved_or_added_are_found(tmp_path: Path, damage: object, line: int | None) -> None:
    history = History(tmp_path)
    history.append([event(str(uid), "1") for uid in range(9)])
    lines = history.file.read_bytes().splitlines(keepends=True)
    history.file.write_bytes(b"".join(damage(lines)))  # type: ignore[operator]
    with pytest.raises(InputError) as result:
        History(tmp_path)
    assert result.value.line == line


def test_a_history_without_its_seal_is_not_taken_for_a_new_one(tmp_path: Path) -> None:
    history = History(tmp_path)
    history.append([event("1", "4")])
    (tmp_path / "history.seal").unlink()
    with pytest.raises(InputError, match="seal is missing"):
        History(tmp_path)
    with pytest.raises(InputError, match="seal is missing"):
        history.append([event("1", "5")])


def test_a_seal_that_says_something_else_than_the_lines_is_found(tmp_path: Path) -> None:
    history = History(tmp_path)
    history.append([event("1", "4"), event("2", "5")])
    seal = tmp_path / "history.seal"
    seal.write_text(seal.read_text().replace('"events":2', '"events":3'))
    with pytest.raises(InputError, match="does not end as its seal says"):
        History(tmp_path)
    seal.write_text("half a se")
    with pytest.raises(InputError, match="seal cannot be read"):
        History(tmp_path)


def _write(folder: Path, writer: int) -> None:
    for turn in range(5):
        History(folder).append([event(f"{writer}-{turn}", str(part)) for part in range(4)])


def test_writers_at_the_same_time_wait_for_one_another(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_write, args=(tmp_path, writer)) for writer in range(3)]
    for item in writers:
        item.start()
    for item in writers:
        item.join()
    history = History(tmp_path)
    assert len(history.events) == 3 * 5 * 4
    assert [batch.name for batch in history.batches()] == [f"{n:04d}" for n in range(1, 16)]
    assert all(item.batch <= other.batch for item, other in pairwise(history.events)), "a batch stays together"


def test_a_check_before_writing_sees_what_others_wrote_and_can_refuse(tmp_path: Path) -> None:
    history, other = History(tmp_path), History(tmp_path)
    other.append([event("1", "4")])

    def check() -> None:
        assert history.labels("recomputed")["1"].number == 4
        raise UsageError("not now")

    with pytest.raises(UsageError, match="not now"):
        history.append([event("1", "5")], check=check)
    assert len(History(tmp_path).events) == 1
    assert history.append([event("1", "5")], check=lambda: None) == "0002"


def test_when_it_was_said_is_no_part_of_the_digest(tmp_path: Path) -> None:
    first, second = History(tmp_path / "a"), History(tmp_path / "b")
    first.append([event("1", "4", at="2026-01-01T00:00:00+00:00")])
    second.append([event("1", "4", at="2027-02-02T00:00:00+00:00")])
    assert first.digest() == second.digest() != History(tmp_path / "c").digest()
    assert first.chain != second.chain
    second.append([event("1", "5")])
    assert first.digest() == second.digest(1) != second.digest()


UIDS = st.sampled_from(["1", "2", "3"])
SAID = st.lists(st.tuples(UIDS, st.sampled_from(["original", "recomputed", "final"]), st.integers(0, 9)), min_size=1)
STEPS = st.lists(st.one_of(SAID, st.integers(1, 9)), max_size=8)


@settings(max_examples=40, deadline=None)
@given(STEPS)
def test_any_sequence_of_adding_and_taking_back_gives_the_labels_of_a_simple_model(
    steps: list[list[tuple[str, Role, int]] | int],
) -> None:
    # The model: a list of batches, each with what it says and the batch that it takes back, walked anew each time.
    model: list[tuple[list[tuple[str, Role, int]], int | None]] = []

    def holds(index: int) -> bool:
        return not any(target == index and holds(later) for later, (_, target) in enumerate(model) if later > index)

    with TemporaryDirectory() as folder:
        history = History(Path(folder))
        for step in steps:
            if isinstance(step, int):
                if step <= len(model) and holds(step - 1):
                    history.revert(f"{step:04d}", by="me", why="")
                    model.append(([], step - 1))
                else:
                    with pytest.raises(UsageError):
                        history.revert(f"{step:04d}", by="me", why="")
            else:
                history.append([event(uid, str(value), role) for uid, role, value in step])
                model.append((step, None))
            expected: dict[Role, dict[str, str]] = {"original": {}, "recomputed": {}, "final": {}}
            for index, (batch, _) in enumerate(model):
                for uid, role, value in batch if holds(index) else []:
                    expected[role][uid] = str(value)
            for role, labels in expected.items():
                assert values(history, role) == labels
        again = History(Path(folder))
        assert again.events == history.events
        assert all(values(again, role) == values(history, role) for role in expected_roles())


def expected_roles() -> tuple[Role, ...]:
    return ("original", "recomputed", "final")
