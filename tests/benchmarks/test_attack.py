"""A small part of ``make attack``: what it finds wrong is wrong, and some of its tries are made here each time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks.attack import inputs, kills, reach
from benchmarks.attack.__main__ import BEGIN, END, PAGE, PARTS, attack, commit, table
from benchmarks.attack.target import SECRET, SETTINGS, Outcome, Target, Tries
from ground.storage.warehouse import open_database
from openworld import render

pytestmark = pytest.mark.xdist_group("attack")


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Target:
    """The world, loaded and no more: the tries that are made here need nothing else."""
    made = Target(tmp_path_factory.mktemp("attack"), share=0.02)
    render(made.world.folder, 3, made.seed)
    made.work.mkdir(mode=0o700)
    (made.work / "ontoground.toml").write_text(SETTINGS)
    for kind, folder in (("mimic", made.world.mimic), ("umls", made.world.meta)):
        assert made.call("load", kind, str(folder), "--workspace", str(made.work)).code == 0
    return made


def named(tries: Tries, *wanted: str) -> Iterator[tuple[str, str | None]]:
    found = {name: attempt for name, attempt in tries if any(one in name for one in wanted)}
    assert len(found) >= len(wanted)
    return ((name, attempt()) for name, attempt in found.items())


def test_a_killed_load_loses_nothing(target: Target) -> None:
    assert [wrong for _, wrong in named(kills.tries(target), "load umls") if wrong] == []


def test_some_damaged_files_are_refused_or_counted(target: Target) -> None:
    every = Target(target.folder, 1.0)
    wanted = ("admissions.csv.gz: an identifier of a half", "discharge.csv.gz: a link to nothing", "key twice")
    assert [one for one in named(inputs.tries(every), *wanted) if one[1]] == []


def test_no_spelling_of_another_host_and_no_redirect_gets_through(target: Target) -> None:
    assert [one for one in ((name, attempt()) for name, attempt in reach.gates(target)) if one[1]] == []


def test_a_load_connects_nowhere_and_a_connection_would_be_seen(target: Target) -> None:
    if not reach.watching():
        pytest.skip("neither strace nor a namespace of its own is to be had")
    assert [one for one in named(reach.connections(target), "is seen", "load mimic") if one[1]] == []


def test_what_is_written_is_its_owners_and_a_query_writes_nothing(target: Target) -> None:
    assert [one for one in named(reach.modes(target), "all of", "sql, CSV") if one[1]] == []
    assert [one for one in named(reach.queries(target), "copy (select", "read_blob('/etc") if one[1]] == []


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (Outcome(70, "", "error: x"), "exit code 70"),
        (Outcome(-9, "", ""), "exit code -9"),
        (Outcome(3, "", f"found: {SECRET}"), "a value of a patient"),
        (Outcome(3, "", ""), "without a word"),
        (Outcome(1, "", "Traceback (most recent call last)"), "a traceback"),
    ],
)
def test_bad_manners_are_seen(target: Target, outcome: Outcome, said: str) -> None:
    assert said in (target.bad_manners(outcome) or "")
    assert target.bad_manners(Outcome(3, "", "error: a file cannot be read")) is None
    assert target.bad_manners(Outcome(3, "", f"where: {target.identifiers[0]}")) is not None


def test_a_row_that_is_lost_is_seen(target: Target) -> None:
    done = target.call("load", "mimic", str(target.world.mimic), "--workspace", str(target.folder / "fewer"), "--json")
    assert inputs.in_silence(target, target.folder / "fewer", done, "") is None
    with open_database(target.folder / "fewer" / "warehouse.duckdb") as connection:
        connection.execute("delete from mimiciv_hosp.prescriptions where rowid = 0")
    assert "prescriptions has other rows" in (inputs.in_silence(target, target.folder / "fewer", done, "") or "")


def test_the_table_counts_tries_and_what_did_not_hold() -> None:
    made = table({"kills": {"run 0, 6 kills": None, "run 1, 6 kills": "lost"}, "gates": {"a": None}}, 0.5)
    assert "2, of up to 12 kills" in made and "of size 0.5" in made and f"on commit {commit()}" in made
    page = PAGE.read_text(encoding="utf-8")
    assert BEGIN in page and END in page and all(part in page for part in PARTS)


def test_what_did_not_hold_is_not_tried_until_it_holds(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter(["lost", None])
    monkeypatch.setitem(PARTS, "gates", ("", lambda _: iter([("a", lambda: next(answers))])))
    assert attack(target, ["gates"]) == attack(target, ["gates"]) == {"gates": {"a": "lost"}}
