"""``ontoground steward effect``: what the labels that a policy learned from do to its answers elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from ontoground.cli.options import InWorkspace, Result, verb
from ontoground.cli.render import Blocks, table
from ontoground.cli.runs import require_packages
from ontoground.cli.steward.options import group
from ontoground.cli.steward.shares import ends, percent

if TYPE_CHECKING:
    import polars as pl

__all__ = ["effect"]


@verb(
    group,
    "Compare policies over benchmarks and decodings by a regression.",
    "ontoground steward effect --policy arm-recomputed --policy arm-original \\",
    "    --benchmark medqa:original --benchmark verified:original",
)
def effect(
    options: InWorkspace,
    policies: Annotated[
        list[str],
        Option("--policy", metavar="NAME", help="As `steward ask` names it; the first is the reference"),
    ],
    benchmarks: Annotated[
        list[str],
        Option("--benchmark", metavar="NAME:LABELS", help="Benchmark and labels; repeatable"),
    ],
    files: Annotated[
        list[Path] | None,
        Option("--file", metavar="FILE", help="Answers of `steward ask --out`; default: all of the benchmark"),
    ] = None,
) -> Result:
    """Fit a linear probability model of right answers on the policy, with benchmark and decoding as controls.

    Answers are those of `steward ask`, all of their responses. Standard errors are clustered by row, since responses to
    one row are not independent.
    """
    require_packages("statsmodels", extra="steward")
    import polars as pl

    from stewardship.grading.regression import linear_probability

    rows = pl.concat([_answers(options, named, policies, files) for named in benchmarks])
    cells = rows.group_by("benchmark", "temperature", "policy", maintain_order=True).agg(
        pl.len().alias("n"), pl.col("correct").mean().alias("accuracy")
    )
    return options.result(
        "steward effect",
        _blocks,
        policies=policies,
        cells=cells.to_dicts(),
        effects=linear_probability(rows, policies[0]),
    )


def _answers(options: InWorkspace, named: str, policies: list[str], files: list[Path] | None) -> pl.DataFrame:
    """Return every graded response of the policies to a benchmark: row, policy, temperature, correct."""
    import polars as pl

    from ground.errors import InputError
    from stewardship.benchmark.folder import Benchmark
    from stewardship.grading.grades import grade_rows, label_set, read_answers

    name, _, against = named.partition(":")
    benchmark = Benchmark.open(options.workspace, name)
    labels, parts = label_set(benchmark, against or "original"), []
    for file in files or sorted((benchmark.folder / "answers").glob("*.parquet")):
        policy, heat, of = pl.read_parquet(file, columns=["policy", "temperature", "benchmark"], glob=False).row(0)
        for answers in read_answers(file, "tagged") if policy in policies and of == name else ():
            graded = grade_rows(benchmark, labels, answers, "abstention", missing="leave_out")
            known = {"benchmark": name, "policy": policy, "temperature": heat}
            graded = graded.with_columns(**{key: pl.lit(value) for key, value in known.items()})
            parts.append(graded.select("benchmark", "uid", "policy", "temperature", "correct"))
    if lacking := [policy for policy in policies if not any((part["policy"] == policy).any() for part in parts)]:
        do = "ask it: `ontoground steward ask --benchmark " + name + "`"
        raise InputError("a policy has not answered this benchmark", file=benchmark.folder, found=lacking[0], do=do)
    return pl.concat(parts)


def _blocks(payload: dict[str, Any]) -> Blocks:
    policies = payload["policies"]
    shares = {(one["benchmark"], one["temperature"], one["policy"]): one for one in payload["cells"]}
    rows = []
    for benchmark, heat in dict.fromkeys((one["benchmark"], one["temperature"]) for one in payload["cells"]):
        cells = [shares.get((benchmark, heat, policy)) for policy in policies]
        rows.append((benchmark, heat, *("-" if one is None else percent(one["accuracy"]) for one in cells)))
    yield table(("benchmark", "temperature", *policies), rows)
    heads = ("policy", f"less {policies[0]}, points", "95% interval", "p", "responses")
    effects = [
        (one["policy"], f"{100 * one['value']:+.2f}", ends(one), f"{one['p']:.2g}", one["n"])
        for one in payload["effects"]
    ]
    yield table(heads, effects, title="linear probability model, clustered by row")
