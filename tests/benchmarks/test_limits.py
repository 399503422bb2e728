"""Least times that follow from the machine and from yardsticks of the same run."""

from __future__ import annotations

from typing import Any

from benchmarks.limits import cores_markdown, limits_markdown


def measure(name: str, rows: int, seconds: float, **figures: float) -> dict[str, Any]:
    return {"name": name, "rows": rows, "seconds": seconds, "cpu_seconds": seconds, "figures": figures, "failed": ""}


def result(kind: str, stage: str, *measures: dict[str, Any]) -> dict[str, Any]:
    return {"kind": kind, "stage": stage, "measures": list(measures)}


def test_limits_come_from_the_machine_and_from_yardsticks_and_others_are_left_out() -> None:
    machine = result("stage", "machine", measure("read", 1_000_000_000, 1.0), measure("random reads", 10_000_000, 1.0))
    load = result("step", "load umls", measure("ontoground", 5, 8.0, **{"MB of files": 2000.0}))
    mentions = result("step", "mentions", measure("ontoground", 5, 50.0, **{"MB of text": 60.0}))
    graph = result("stage", "graph", measure("ontoground", 5, 3.0), measure("sorted distinct scan", 5, 2.0))
    concepts = result(
        "stage", "concepts", measure("ontoground", 5, 3.0), measure("DuckDB", 0, 0.0) | {"failed": "killed"}
    )
    text = limits_markdown({"stages": [machine, load, mentions, graph, concepts]})
    assert text.splitlines()[2:] == [
        "| load umls | its files read from the disk | 2 | 8 | 4 |",
        "| graph | MRREL sorted | 2 | 3 | 1.5 |",
        "| mentions | one random read of memory for each word | 1 | 50 | 50 |",
    ]
    assert limits_markdown({"stages": []}) == ""


def test_what_one_core_does_alone_bounds_what_sixteen_would_take() -> None:
    steps = {"half": (75.0, 100.0), "alone": (100.0, 100.0), "shared": (50.0, 100.0)}
    results = [
        result("step", name, measure("ontoground", 5, seconds) | {"cpu_seconds": cpu})
        for name, (seconds, cpu) in steps.items()
    ]
    payload = {"machine": {"cores": 2}, "settings": {"threads": 2}, "stages": results}
    assert cores_markdown(payload).splitlines()[2:] == [
        "| half | 75 | 100 | 0.50 | 53.1 |",
        "| alone | 100 | 100 | 1.00 | 100 |",
        "| shared | 50 | 100 | 0.00 | 6.25 |",
        "| all |  |  |  | 159 |",
    ]
    assert cores_markdown(payload | {"machine": {"cores": 1}}) == ""
