"""``ontoground steward rule``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from ground.errors import UsageError
from ontoground.cli.options import Result, verb
from ontoground.cli.steward.options import ConfiguredBenchmark, group

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console

    from stewardship.versions.rules import Effect

__all__ = ["rule"]


@verb(
    group,
    "Put right a fault that physicians found, on the rows that share it.",
    "ontoground steward rule methadone.toml           # shows, writes nothing",
    "ontoground steward rule methadone.toml --apply",
    "ontoground steward rule --revert 0005 --by NAME --why 'wrong factor'",
    "",
    "  # methadone.toml",
    "  name = 'methadone'",
    "  by = 'Dr A'",
    "  why = 'methadone was multiplied by 12 at every dose'",
    "  evidence = ['992', '1007']          # reviewed rows that show it",
    "  [rows]",
    "  strata = ['49']                     # or uids; and, if wanted,",
    '  where = """features->>\'Methadone Dose\' is not null"""',
    "  unlabelled = false                  # true: deferred rows too",
    "  [do]                                # one of",
    "  take = 'original'                   # or 'runs'",
    "  # calculator = 'corrected'          # or 'v1.0'",
    "  # abstain = true",
    "  # value = '12'",
    "  # multiply = 0.39",
    "  # add = -1                          # days, where labels are dates",
)
def rule(
    options: ConfiguredBenchmark,
    file: Annotated[Path | None, Argument(metavar="RULE.toml", help="The rule", show_default=False)] = None,
    apply: Annotated[bool, Option("--apply", help="Store the new labels; without it they are only shown")] = False,
    force: Annotated[
        bool, Option("--force", help="Apply even if the rule agrees with fewer physicians' labels than before")
    ] = False,
    revert: Annotated[str | None, Option("--revert", metavar="BATCH", help="Revert a batch of the history")] = None,
    by: Annotated[str, Option("--by", metavar="NAME", help="Who reverts it")] = "",
    why: Annotated[str, Option("--why", metavar="TEXT", help="Why it is reverted")] = "",
) -> Result:
    """Apply a rule to the unreviewed rows that share a fault, as one batch that can be reverted.

    Reviewed rows are never touched: they show whether the rule gives what the physicians said. The rule's labels are
    recomputed labels: run it before `finalise`. A condition sees the rows' columns, `features` as JSON, and the labels
    original, recomputed, physician and final as text.
    """
    if file is not None and revert is None:
        return _ruled(options, file, apply=apply, force=force)
    if file is None and revert is not None and not (apply or force):
        return _reverted(options, revert, by=by, why=why)
    raise UsageError("a rule file, or --revert alone", expected="RULE.toml [--apply], or --revert BATCH")


def _ruled(options: ConfiguredBenchmark, file: Path, *, apply: bool, force: bool) -> Result:
    from ontoground.cli.runs import require_packages
    from stewardship.versions.rules import apply_rule, read_rule, try_rule

    benchmark = options.adopted
    read = read_rule(file)
    if read.do.calculator is not None:
        require_packages("pint", extra="steward")
    result = try_rule(benchmark, read, options.settings)
    seen, batch = result.reviewed, apply_rule(benchmark, result, force=force) if apply else None
    return options.result(
        "rule",
        _paint,
        rule={"name": read.name, "by": read.by, "why": read.why, "sha256": read.sha256, "do": read.do.named()[0]},
        applied=batch is not None,
        batch=batch,
        changed=_effects(result.changed),
        same=[item.uid for item in result.same],
        without=_effects(result.without),
        reviewed=_effects(seen),
        agreed={"before": sum(bool(item.agreed) for item in seen), "after": sum(bool(item.agrees) for item in seen)},
        unlabelled=result.unlabelled,
        finalised=bool({item.uid for item in result.changed} & set(benchmark.history.latest("final"))),
    )


def _effects(effects: Iterable[Effect]) -> list[dict[str, Any]]:
    """Return what becomes of rows, their labels as text."""
    from ground.contracts.labels import LabelValue

    return [
        {name: value.text() if isinstance(value, LabelValue) else value for name, value in vars(item).items()}
        for item in effects
    ]


def _paint(out: Console, payload: dict[str, Any]) -> None:
    from ontoground.cli.render import number
    from ontoground.cli.steward.shares import part, short

    rule = payload["rule"]
    changed, without, reviewed = (
        [item | {side: item[side] or "(none)" for side in ("before", "after")} for item in payload[name]]
        for name in ("changed", "without", "reviewed")
    )
    out.print(f"{rule['name']} ({rule['by']}): {rule['why']}\ndoes: {rule['do']}\n")
    rows = [
        [item["uid"], short(item["stratum"], 30), item["original"], item["before"], item["after"]] for item in changed
    ]
    part(out, ["uid", "stratum", "original", "before", "after"], rows, "rows that nobody reviewed: another label")
    names = ("uid", "physician", "before", "agreed", "after", "agrees")
    columns = ["uid", "physician", "label now", "agrees", "by the rule", "agrees "]
    rows = [[number(item[name]) for name in names] for item in reviewed]
    part(out, columns, rows, "reviewed rows: never touched, shown as proof")
    rows = [[item["uid"], short(item["stratum"]), item["before"], item["note"]] for item in without]
    part(out, ["uid", "stratum", "keeps", "because"], rows, "rows for which the rule has no label")
    keep = f", {number(len(without))} keep theirs" if without else ""
    have = f"{number(len(payload['same']))} have the rule's label already"
    out.print(f"{number(len(changed))} changed, {have}{keep}", soft_wrap=True)
    agreed = payload["agreed"]
    out.print(f"agrees with {agreed['after']} of {len(reviewed)} physicians' labels; before: {agreed['before']}")
    if more := payload["unlabelled"]:
        does = "more fit and have no recomputed label: `unlabelled = true` takes them in"
        out.print(f"{number(more)} {does}", soft_wrap=True)
    if batch := payload["batch"]:
        out.print(f"recorded as batch {batch}; take it back with --revert {batch}")
        if payload["finalised"]:
            out.print("labels were finalised before: run `ontoground steward finalise` again", soft_wrap=True)
    else:
        out.print("nothing was written" + (": record it with --apply" if changed else ""))


def _reverted(options: ConfiguredBenchmark, batch: str, *, by: str, why: str) -> Result:
    if not by.strip() or not why.strip():
        raise UsageError("who takes a batch back, and why, is part of the history", expected="--by NAME --why TEXT")
    benchmark = options.adopted
    result = benchmark.history.revert(batch, by=by, why=why)
    taken = next(item for item in benchmark.history.batches() if item.name == batch)
    results = {"reverted": batch, "was_by": taken.by, "events": taken.events, "batch": result, "by": by, "why": why}
    return options.result("rule", _paint_reverted, **results)


def _paint_reverted(out: Console, payload: dict[str, Any]) -> None:
    was = f"{payload['was_by']}, {payload['events']:,} events"
    out.print(f"batch {payload['reverted']} ({was}) holds no longer", soft_wrap=True)
    out.print(f"recorded as batch {payload['batch']}; take that back to restore it", soft_wrap=True)
