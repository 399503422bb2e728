"""What ``ontoground steward sheets``, ``sample`` and ``read`` do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ground.errors import UsageError

if TYPE_CHECKING:
    from ground.settings import StewardSettings
    from stewardship.benchmark.folder import Benchmark
    from stewardship.history.log import History
    from stewardship.sheets.batch import Batch, BatchKind
    from stewardship.sheets.experts import Experts
    from stewardship.sheets.reading import SheetsRead
    from stewardship.sheets.sampling import Pick
    from stewardship.sheets.shown import Shown
    from stewardship.sheets.writing import Written

__all__ = ["SheetsAsked", "read_job", "sheets_job"]


@dataclass(frozen=True)
class SheetsAsked:
    """What sheets are asked for; see the options of the verbs."""

    workspace: Path
    benchmark: str | None
    raters: tuple[str, ...]
    experts: Path | None
    rows: int | None
    raters_per_row: int | None
    pick: Pick
    per_stratum: int | None
    kind: BatchKind
    evidence: bool
    name: str | None
    out: Path | None


def sheets_job(settings: StewardSettings, asked: SheetsAsked) -> dict[str, Any]:
    """Draw rows, write a sheet for each expert, and return what ``--json`` prints.

    Raises:
        UsageError: no expert, no row to draw, or a name that is taken.
        InputError: no such benchmark, a table of experts that cannot be read, or a phase that did not run yet.
    """
    from stewardship.benchmark.folder import Benchmark
    from stewardship.sheets.batch import read_batches
    from stewardship.sheets.draws import EXPECTED_ROWS, draw_rows
    from stewardship.sheets.sampling import assign
    from stewardship.sheets.shown import answer_kinds
    from stewardship.sheets.writing import free_name, write_batch

    benchmark = Benchmark.open(asked.workspace, asked.benchmark)
    history = benchmark.history
    experts = _experts(asked, benchmark)
    if (asked.raters_per_row or 1) > len(experts.knows):
        raise UsageError(
            "fewer raters are named than each row is to have",
            found=f"{len(experts.knows)} of {asked.raters_per_row}",
            expected="--raters-per-row of at most all raters",
        )
    draw = draw_rows(
        benchmark, read_batches(benchmark.folder), settings, kind=asked.kind, pick=asked.pick, rows=asked.rows
    )
    assigned = assign(
        draw.order,
        benchmark.items,
        experts,
        rows=draw.rows,
        raters_per_row=asked.raters_per_row or len(experts.knows),
        per_stratum=asked.per_stratum,
        barred=draw.barred,
        seed=settings.seed,
    )
    left_out = {reason: count for reason, count in {**draw.left_out, **assigned.passed_over}.items() if count}
    if not assigned.pairs:
        raise UsageError(
            "no row is left to draw",
            found=", ".join(f"{count:,} {reason.replace('_', ' ')}" for reason, count in left_out.items())
            or "no such row",
            expected=EXPECTED_ROWS[asked.kind],
        )
    original = history.labels("original", categories=benchmark.categories)
    kinds = answer_kinds(benchmark, original)
    if asked.kind == "spot_check":
        kinds = dict.fromkeys(assigned.uids, "verdict")
    written = write_batch(
        benchmark,
        assigned.pairs,
        _shown(asked, benchmark, history, assigned.uids),
        kinds,
        name=asked.name or free_name(benchmark.folder, asked.kind),
        kind=asked.kind,
        drawn=draw.drawn,
        blind=asked.kind != "spot_check" and not asked.evidence,
        seed=settings.seed,
        out=asked.out,
    )
    return _sheets_payload(asked, benchmark, experts, written, draw.drawn, left_out) | {"seed": settings.seed}


def _sheets_payload(
    asked: SheetsAsked, benchmark: Benchmark, experts: Experts, written: Written, drawn: str, left_out: dict[str, int]
) -> dict[str, Any]:
    items = written.batch.items
    given = Counter(item.rater for item in items)
    uids = dict.fromkeys(item.uid for item in items)
    strata = benchmark.column("stratum")
    groups: dict[str, str] = {}
    if benchmark.categories:
        labels = benchmark.history.labels("original", categories=benchmark.categories)
        groups = {uid: label.text() for uid, label in labels.items()}
    return {
        "verb": "steward sample" if asked.kind == "sample" else "steward sheets",
        "workspace": str(asked.workspace),
        "benchmark": benchmark.name,
        "name": written.batch.name,
        "kind": asked.kind,
        "drawn": drawn,
        "blind": written.batch.blind,
        "rows": len(uids),
        "strata": len({strata.get(uid) for uid in uids}),
        "by_label": dict(sorted(Counter(groups[uid] for uid in uids if uid in groups).items())),
        "raters": {name: given[name] for name in sorted({*experts.knows, *given})},
        "left_out": left_out,
        "too_long": written.too_long,
        "continued": written.continued,
        "sheets": {rater: {"excel": str(two[0]), "csv": str(two[1])} for rater, two in written.sheets.items()},
        "key": str(written.key),
    }


def _experts(asked: SheetsAsked, benchmark: Benchmark) -> Experts:
    from stewardship.sheets.experts import Experts

    if asked.experts is None:
        return Experts.everyone(asked.raters)
    if asked.raters:
        raise UsageError("--rater and --experts together", expected="one of them: the table names the raters")
    return Experts.read(asked.experts, benchmark.items)


def _shown(asked: SheetsAsked, benchmark: Benchmark, history: History, uids: list[str]) -> dict[str, Shown]:
    from dataclasses import replace

    from stewardship.datasets.sheets import is_ours
    from stewardship.sheets.shown import critiques, shown_rows

    if asked.kind != "spot_check":
        return shown_rows(benchmark, uids, evidence=asked.evidence)
    # A spot check shows the label, and so may show what it rests on.
    ours = all(map(is_ours, benchmark.items.head(1).to_dicts()))
    shown = shown_rows(benchmark, uids, evidence=ours)
    labels, said = history.latest("original"), critiques(benchmark)
    return {
        uid: replace(one, label=labels[uid].value or "" if uid in labels else "", critique=said.get(uid, ""))
        for uid, one in shown.items()
    }


def read_job(
    settings: StewardSettings,
    workspace: Path,
    name: str | None,
    files: tuple[Path, ...],
    *,
    partial: bool,
    settle: bool,
) -> dict[str, Any]:
    """Read filled sheets, add what they say to the history, and return what ``--json`` prints.

    Raises:
        InputError: no such benchmark, or a file that is none of its sheets.
        UsageError: a file that is neither Excel nor CSV, or one that is given twice.
    """
    from ontoground.cli.runs import require_packages
    from stewardship.benchmark.folder import Benchmark
    from stewardship.sheets.batch import read_batches
    from stewardship.sheets.reading import read_sheets, write_refused

    require_packages("krippendorff", "statsmodels", extra="steward")
    benchmark = Benchmark.open(workspace, name)
    batches = read_batches(benchmark.folder)
    _check_files(files)
    adopted = _adopted(benchmark, files)
    sheets = [file for file in files if file not in adopted]
    questions = benchmark.column("question")
    found = read_sheets(sheets, batches, questions, categories=benchmark.categories)
    taken = not found.refused or partial
    added, batch, checks = _take(settings, benchmark, batches, found, settle=settle) if taken else (0, None, 0)
    tables = write_refused(found, sheets, questions) if partial else []
    return {
        "verb": "steward read",
        "workspace": str(workspace),
        "benchmark": benchmark.name,
        "files": [str(file) for file in sheets],
        "already_adopted": [str(file) for file in adopted],
        "taken": taken,
        "answers": len(found.ratings),
        "abstentions": sum(one.value.kind.value == "na" for one in found.ratings),
        "events_added": added,
        "spot_checks_added": checks,
        "batch": batch,
        "refused": [asdict(one) for one in found.refused],
        "refused_tables": [str(table) for table in tables],
        "notes": list(found.notes),
        "given": dict(found.given),
        "empty": dict(found.empty),
        "missing": dict(found.missing),
        **_report(settings, benchmark, batches),
    }


def _check_files(files: tuple[Path, ...]) -> None:
    twice = sorted(name for name, count in Counter(file.name for file in files).items() if count > 1)
    if twice:
        # Messages and tables of refused cells go by the file's name.
        raise UsageError("two sheets have one name", found=", ".join(twice), expected="a name for each")


def _adopted(benchmark: Benchmark, files: tuple[Path, ...]) -> list[Path]:
    """Return the files that were taken up with the benchmark: their labels are in the history already."""
    from ground.storage.files import sha256_of

    known = {one["sha256"] for one in (benchmark.record or {}).get("files", [])}
    return [file for file in files if file.is_file() and sha256_of(file) in known]


def _take(
    settings: StewardSettings, benchmark: Benchmark, batches: list[Batch], found: SheetsRead, *, settle: bool
) -> tuple[int, str | None, int]:
    from stewardship.sheets.ratings import new_events
    from stewardship.sheets.spotchecks import add_spot_checks

    checks = {batch.name for batch in batches if batch.kind == "spot_check"}
    history = benchmark.history
    events = new_events(
        [one for one in found.ratings if one.batch not in checks],
        batches,
        history,
        categories=benchmark.categories,
        decimals=settings.decimals,
        relative=settings.agree_rel,
        settle_now=settle,
    )
    batch = history.append(events) if events else None
    added = add_spot_checks(benchmark.folder, [one for one in found.ratings if one.batch in checks])
    return len(events), batch, added


def _report(settings: StewardSettings, benchmark: Benchmark, batches: list[Batch]) -> dict[str, Any]:
    """Return how raters and labels agree, over all that the history holds."""
    from stewardship.datasets.estimates import label_estimates
    from stewardship.history.standing import standing
    from stewardship.sheets.errors import confusion, drawn_of, error_rates
    from stewardship.sheets.interrater import reliability
    from stewardship.sheets.ratings import AWAITING, OPEN, current_ratings
    from stewardship.sheets.spotchecks import spot_check_summary

    history = benchmark.history
    labels = standing(benchmark)
    predictions = {"original": labels.original, "recomputed": labels.recomputed}
    ratings = current_ratings(history, categories=benchmark.categories)
    others = {uid: [by[uid] for by in predictions.values() if uid in by] for uid in ratings}
    drawn = drawn_of(history, batches)
    statuses = Counter(event.status for event in history.latest("physician").values())
    items = benchmark.items
    groups: dict[str, Mapping[str, str]] = {}
    if benchmark.categories:
        groups["label"] = {uid: label.text() for uid, label in labels.original.items()}
    elif "category" in items.columns:
        groups["category"] = {uid: name for uid, name in items.select("uid", "category").iter_rows() if name}
    groups["stratum"] = labels.strata
    rates = error_rates(labels.physician, predictions, drawn, groups, settings)
    return {
        "reviewed": len(labels.physician),
        "reviewed_by_draw": dict(sorted(Counter(drawn.values()).items())),
        "to_adjudicate": statuses[OPEN],
        "awaiting": statuses[AWAITING],
        "agreement": reliability(ratings, others, settings).as_dict(),
        "errors": [asdict(rate) for rate in rates],
        "dataset": [asdict(one) for one in label_estimates(benchmark) if one.source == "physician"],
        "confusion": confusion(labels.physician, labels.original, drawn) if benchmark.categories else {},
        "spot_check": spot_check_summary(benchmark.folder),
    }
