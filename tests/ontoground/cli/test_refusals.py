"""What verbs refuse: a line for each, with the exit code and the words that say why or what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ontoground.cli.schemas import answer_to
from tests.ontoground.conftest import Demo

pytestmark = pytest.mark.xdist_group("demo")

LONG = "select count(*) from range(100000000) as a, range(100000000) as b where hash(a.range + b.range) = 1"

ON_DEMO = [
    (["graph", "show", "lisinop"], 3, "lisinopril"),
    (["graph", "show", "lisinoprill"], 3, "expected: C9950001 lisinopril"),
    (["graph", "show", "C0000000"], 3, "there is no concept C0000000"),
    (["notes", "mentions", "--hadm", "1"], 3, "no discharge summary"),
    (["explain", "nothing"], 3, "an id of medieval"),
    (["sql", "mentions_by_assertion", "assertions=absent"], 2, "there is no such column\n  found: assertions"),
    (["sql", "mentions_by_assertion", "absent"], 2, "COLUMN=VALUE"),
    (["sql", "-c", "select * from mention"], 2, 'Did you mean "ground.mention"?'),
    (["graph", "export", "--predicate", "cures"], 3, "no such predicate"),
]
ON_EMPTY = [
    (["demo"], 3, "holds other data"),
    (["explain", "nothing"], 3, "ontoground build medieval"),
    (["graph", "build", "--set", "run.memory_limit=abc"], 2, "such as 4GB"),
    (["rules", "secions"], 2, "sections"),
    (["sql", "quadrants_by_predicat"], 2, "did you mean quadrants_by_predicate?"),
    (["sql", "mentions_by_section"], 2, "found: ground.mention\n  do: `ontoground notes mentions` makes it"),
    (["sql", "-c", "select count(*) from medhal"], 2, "found: medhal\n  do: `ontoground build medhal` makes it"),
    (["sql", "-c", "create table t (i int)"], 2, "only one statement that reads"),
    (["sql", "-c", "copy (select 1) to 'x.csv'"], 2, "only one statement that reads"),
    (["sql", "-c", "install httpfs"], 2, "only one statement that reads"),
    (["sql", "-c", "set threads = 1"], 2, "only one statement that reads"),
    (["sql", "-c", "delete from ground.load"], 2, "only one statement that reads"),
    (["sql", "-c", "select * from read_csv('/etc/passwd')"], 2, "other files are shut off"),
    (["sql", "-c", "select * from read_text('/etc/passwd')"], 2, "other files are shut off"),
    (["sql", "-c", "select * from '/etc/passwd'"], 2, "other files are shut off"),
    (["sql", "-c", "select * from '/etc/passwd'"], 2, "the query failed"),
    (["sql", "-c", "select * from read_parquet('https://example.org/x.parquet')"], 2, "the query failed"),
    (["sql", "-c", "select cast('secret' || range as int) from range(2)"], 3, "check casts"),
    (["sql", "-c", LONG, "--timeout", "0.2"], 3, "longer than 0.2 s"),
    (["sql", "-c", LONG, "--timeout", "0.2", "--format", "csv"], 3, "longer than 0.2 s"),
    (["sql", "loads", "--format", "xlsx"], 2, "for '--format': 'xlsx' is not one of"),
    (["explore", "--allow-host", "0.0.0.0"], 2, "other machines need a reason"),
    (["explore", "--why", "x"], 2, "other machines need a reason"),
    (["explore", "--model-reader", "x"], 2, "readers are named without a batch"),
    (["explore", "--review", "sample-1"], 3, "no benchmark yet"),
    (["explore", "--allow-host", "192.0.2.1", "--why", "x"], 2, "this port cannot be used"),
]


@pytest.mark.parametrize(
    ("place", "arguments", "code", "words"),
    [*(("demo", *case) for case in ON_DEMO), *(("empty", *case) for case in ON_EMPTY)],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else "",
)
def test_a_refusal_has_its_exit_code_and_says_why(
    place: str, arguments: list[str], code: int, words: str, demo: Demo, empty_workspace: Path
) -> None:
    workspace = demo.workspace if place == "demo" else empty_workspace
    answer = answer_to(*arguments, "--workspace", workspace)
    assert (answer.code, answer.out) == (code, "")
    assert words in answer.err and not any(word in answer.err for word in ("root:", "secret0", "Traceback"))
