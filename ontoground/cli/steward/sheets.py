"""``ontoground steward sheets|sample|read``: sheets for experts, written and read back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ground.errors import UsageError
from ontoground.cli.options import Result, verb
from ontoground.cli.render import Blocks, indented, relative, table, unfolded
from ontoground.cli.runs import require_packages
from ontoground.cli.steward.options import ConfiguredBenchmark, group
from ontoground.cli.steward.shares import share

if TYPE_CHECKING:
    from ground.settings import StewardSettings
    from stewardship.benchmark.folder import Benchmark
    from stewardship.sheets.batch import AnswerKind, BatchKind, SheetBatch
    from stewardship.sheets.draws import Pick
    from stewardship.sheets.experts import Experts
    from stewardship.sheets.reading import Rating
    from stewardship.sheets.writing import Written

__all__ = ["DRAWN", "read", "sample", "sheets"]

DRAWN = {
    "sampled": "sampled from the flagged ones",
    "top": "the worst disagreements",
    "any": "sampled from all",
    "balanced": "balanced over labels",
    "open": "those that raters disagree on",
    "audit": "sampled from the audit's flags",
    "published": "reviewed before the benchmark was taken up",
}
"""How rows were drawn, in words."""


@dataclass(frozen=True, kw_only=True)
class OfSheets(ConfiguredBenchmark):
    """Options of the verbs that write sheets."""

    raters: Annotated[
        list[str] | None, typer.Option("--rater", metavar="NAME", help="A rater who may label every row; repeatable")
    ] = None
    experts: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Table of the raters' fields: rater, and calculator (or stratum) or category"
        ),
    ] = None
    evidence: Annotated[
        bool, typer.Option("--evidence", help="For a dataset built here: show the evidence for the label; not blind")
    ] = False
    name: Annotated[str | None, typer.Option(metavar="NAME", help="Name of these sheets")] = None
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of the sheets; default: the benchmark's folder")
    ] = None


@verb(
    group,
    "Write sheets for experts: blind, by expertise.",
    "ontoground steward sheets --experts experts.csv --rows 50",
    "ontoground steward sheets --rater ann --rater bob --raters-per-row 2",
    "ontoground steward sheets --spot-check --rater ann --rows 7",
    "ontoground steward sheets --adjudicate --rater cleo",
)
def sheets(
    *,
    rows: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Rows to draw; default: steward.review_rows")
    ] = None,
    raters_per_row: Annotated[
        int, typer.Option(min=1, metavar="K", help="Experts who label the same row, each on a separate sheet")
    ] = 1,
    pick: Annotated[
        Literal["sampled", "top", "any"],
        typer.Option(help="sampled: of the flagged rows, by hash; top: the worst first; any: of all rows, by hash"),
    ] = "sampled",
    per_stratum: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Rows of one calculator (or stratum) at most")
    ] = None,
    spot_check: Annotated[
        bool, typer.Option("--spot-check", help="Rows that the audit flagged, with label and criticism; not blind")
    ] = False,
    adjudicate: Annotated[
        bool, typer.Option("--adjudicate", help="Rows on which raters disagree, for a person who has not seen them")
    ] = False,
    options: OfSheets,
) -> Result:
    """Write a sheet for each expert, as Excel and CSV, with question and context and without any label.

    Rows are drawn from the ranked list of `steward triage`. Rows that are reviewed, or on another sheet, are not drawn
    again. The key stays in the benchmark's folder.
    """
    kind: BatchKind = "spot_check" if spot_check else "adjudication" if adjudicate else "blind"
    return _written(options, kind, rows, raters_per_row, pick, per_stratum)


@verb(
    group,
    "Write sheets of a balanced sample, for review by several.",
    "ontoground steward sample --rows 200 --rater ann --rater bob",
)
def sample(
    *,
    rows: Annotated[int, typer.Option(min=1, metavar="N", help="Rows to draw")] = 200,
    raters_per_row: Annotated[
        int | None, typer.Option(min=1, metavar="K", help="Experts who label the same row; default: all")
    ] = None,
    options: OfSheets,
) -> Result:
    """Draw equally many rows of each label (quadrant), over all strata (relations), and write a sheet for each expert.

    Where labels are numbers and dates, the sample is balanced over strata (calculators). Of rows about one context one
    is drawn. All experts label all rows, each in another order.
    """
    return _written(options, "sample", rows, raters_per_row)


def _written(
    options: OfSheets, kind: BatchKind, rows: int | None, each: int | None, pick: Pick = "any", most: int | None = None
) -> Result:
    """Draw rows, each for so many experts, and write a sheet for each expert; ``most``: rows of one stratum."""
    from stewardship.sheets.batch import read_batches
    from stewardship.sheets.display import answer_kinds, displays_of, spot_check_displays
    from stewardship.sheets.draws import EXPECTED_ROWS, assign, draw_rows
    from stewardship.sheets.writing import free_name, write_batch

    settings, benchmark = options.settings, options.adopted
    experts = _experts(options, benchmark, each or 1)
    draw = draw_rows(benchmark, read_batches(benchmark.folder), settings, kind=kind, pick=pick, rows=rows)
    assigned = assign(
        draw.order,
        benchmark.items,
        experts,
        rows=draw.rows,
        raters_per_row=each or len(experts.knows),
        per_stratum=most,
        barred=draw.barred,
        seed=settings.seed,
    )
    left_out = {reason: count for reason, count in {**draw.left_out, **assigned.passed_over}.items() if count}
    if not assigned.pairs:
        reasons = ", ".join(f"{count:,} {reason.replace('_', ' ')}" for reason, count in left_out.items())
        raise UsageError("no row is left to draw", found=reasons or "no such row", expected=EXPECTED_ROWS[kind])
    uids, labels = assigned.uids, benchmark.history.labels("original")
    if kind == "spot_check":
        expects: dict[str, AnswerKind] = dict.fromkeys(uids, "verdict")
        displays = spot_check_displays(benchmark, uids)
    else:
        expects, displays = answer_kinds(benchmark, labels), displays_of(benchmark, uids, evidence=options.evidence)
    written = write_batch(
        benchmark,
        assigned.pairs,
        displays,
        expects,
        name=options.name or free_name(benchmark.folder, kind),
        kind=kind,
        drawn=draw.drawn,
        blind=kind != "spot_check" and not options.evidence,
        seed=settings.seed,
        out=options.out,
    )
    name = "sample" if kind == "sample" else "sheets"
    return options.result(name, _blocks, **_described(benchmark, experts, written, left_out))


def _experts(options: OfSheets, benchmark: Benchmark, needed: int) -> Experts:
    from stewardship.sheets.experts import Experts

    if options.experts is not None and options.raters:
        raise UsageError("--rater and --experts together", expected="one of them: the table names the raters")
    table = options.experts
    experts = Experts.everyone(options.raters or ()) if table is None else Experts.read(table, benchmark.items)
    if needed > len(experts.knows):
        raise UsageError(
            "each row needs more raters than are named",
            found=f"{len(experts.knows)} of {needed}",
            expected="--raters-per-row of at most all raters",
        )
    return experts


def _described(benchmark: Benchmark, experts: Experts, written: Written, left_out: dict[str, int]) -> dict[str, Any]:
    batch, history, strata = written.batch, benchmark.history, benchmark.column("stratum")
    given = Counter(item.rater for item in batch.items)
    uids = {item.uid for item in batch.items}
    labels = history.labels("original") if benchmark.categories else {}
    return {
        **batch.model_dump(exclude={"items"}),
        "rows": len(uids),
        "strata": len({strata.get(uid) for uid in uids}),
        "by_label": dict(sorted(Counter(labels[uid].text() for uid in uids if uid in labels).items())),
        "raters": {name: given[name] for name in sorted({*experts.knows, *given})},
        "left_out": left_out,
        "too_long": written.too_long,
        "continued": written.continued,
        "sheets": {rater: {"excel": str(two[0]), "csv": str(two[1])} for rater, two in written.sheets.items()},
        "key": str(written.key),
    }


def _blocks(payload: dict[str, Any]) -> Blocks:
    files = {rater: Path(two["excel"]) for rater, two in payload["sheets"].items()}
    named = {rater: file.name for rater, file in files.items()}
    rows = [(rater, count, named.get(rater, "none")) for rater, count in payload["raters"].items()]
    yield table(("rater", "rows", "sheet (and .csv)"), rows)
    if payload["by_label"]:
        yield table(("label", "rows"), list(payload["by_label"].items()))
    blind = "blind: no label is in them" if payload["blind"] else "NOT blind: label or evidence is shown"
    yield f"{payload['rows']:,} rows of {payload['strata']:,} strata, {DRAWN[payload['drawn']]}; {blind}"
    for reason, count in payload["left_out"].items():
        yield f"left out: {count:,} {reason.replace('_', ' ')}"
    if payload["too_long"]:
        yield f"left out: {payload['too_long']:,} with a question that no cell holds"
    if payload["continued"]:
        yield f"{payload['continued']:,} contexts are too long for one cell and continue in extra columns"
    yield unfolded(f"sheets in {relative(next(iter(files.values())).parent)}")
    yield unfolded(f"key (keep it from the experts): {relative(Path(payload['key']))}")


LEAST_ROWS = 5
"""Rows of a stratum from which on its error rate is printed; all are in the JSON."""
CAVEATS = {
    "sampled": "shares of the flagged rows that these experts know, not of the benchmark",
    "top": "the worst disagreements: not shares of the benchmark, nor of the flagged rows",
    "any": "shares of the benchmark's rows that these experts know",
    "balanced": "equal parts of each label or stratum: for all rows, weigh the parts by their shares",
    "published": "how these rows were drawn, their publisher says",
}
"""What the shares of rows hold for, by how the rows were drawn."""
ALPHAS = {
    "nominal": "nominal (same label or not, N/A a label of its own)",
    "interval": "interval (numbers only; large ones weigh most)",
    "computable": "nominal, N/A against any value",
}


@verb(
    group,
    "Read filled sheets back; agreement, kappa, error rates.",
    "ontoground steward read sheets-1-ann.xlsx sheets-1-bob.csv",
    "ontoground steward read sheets-1-ann.xlsx --partial",
    "ontoground steward read sheets-1-ann.refused.csv",
    "ontoground steward read",
)
def read(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[SHEET]...",
            help="Filled sheets, Excel or CSV; without any, only the report is printed",
            show_default=False,
        ),
    ] = None,
    *,
    partial: Annotated[
        bool, typer.Option("--partial", help="Accept the valid cells; the others go to SHEET.refused.csv")
    ] = False,
    settle: Annotated[
        bool, typer.Option("--settle", help="Decide rows by the answers so far, even if raters are missing")
    ] = False,
    options: ConfiguredBenchmark,
) -> Result:
    """Read filled sheets into the history of the labels, and report how raters and labels agree.

    A cell must be a label as a whole: a number (with the question's unit or none), a date, weeks and days, a name, or
    N/A. Where any cell is none, all such cells are named, nothing is taken, and the exit code is 1; --partial takes
    the others and ends with 0. An empty answer is a row that was not reviewed.
    """
    from stewardship.sheets.batch import read_batches
    from stewardship.sheets.reading import read_sheets, write_refused

    require_packages("statsmodels", extra="steward")
    settings, benchmark = options.settings, options.adopted
    batches = read_batches(benchmark.folder)
    adopted = _adopted(benchmark, files or [])
    sheets = [file for file in files or [] if file not in adopted]
    questions = benchmark.column("question")
    filled = read_sheets(sheets, batches, questions, categories=benchmark.categories)
    taken = not filled.refused or partial
    nothing = {"events_added": 0, "batch": None, "spot_checks_added": 0}
    payload: dict[str, Any] = {
        "files": list(map(str, sheets)),
        "already_adopted": list(map(str, adopted)),
        "taken": taken,
        "answers": len(filled.ratings),
        "abstentions": sum(rating.value.kind.value == "na" for rating in filled.ratings),
        **(_take(settings, benchmark, batches, filled.ratings, settle=settle) if taken else nothing),
        "refused": [asdict(item) for item in filled.refused],
        "refused_tables": list(map(str, write_refused(filled, sheets, questions))) if partial else [],
        **{name: getattr(filled, name) for name in ("notes", "given", "empty", "missing")},
        **_agreement(settings, benchmark, batches),
    }
    return options.result("read", _blocks_of_read, 0 if taken else 1, **payload)


def _adopted(benchmark: Benchmark, files: Sequence[Path]) -> list[Path]:
    """Return the files that were taken up with the benchmark: their labels are in the history already."""
    from ground.storage.files import sha256_of

    twice = sorted(name for name, count in Counter(file.name for file in files).items() if count > 1)
    if twice:
        # Messages and tables of refused cells go by the file's name.
        raise UsageError("two sheets have the same name", found=", ".join(twice), expected="a name for each")
    known = {item["sha256"] for item in (benchmark.record or {}).get("files", [])}
    return [file for file in files if file.is_file() and sha256_of(file) in known]


def _take(
    settings: StewardSettings,
    benchmark: Benchmark,
    batches: list[SheetBatch],
    ratings: Sequence[Rating],
    *,
    settle: bool,
) -> dict[str, Any]:
    """Add what the sheets say, labels to the history and spot checks beside it."""
    from stewardship.sheets.ratings import new_events
    from stewardship.sheets.spotchecks import add_spot_checks

    checks = {batch.name for batch in batches if batch.kind == "spot_check"}
    history = benchmark.history
    events = new_events(
        [rating for rating in ratings if rating.batch not in checks],
        batches,
        history,
        settings=settings,
        settle_now=settle,
    )
    return {
        "events_added": len(events),
        "batch": history.append(events) if events else None,
        "spot_checks_added": add_spot_checks(
            benchmark.folder, [rating for rating in ratings if rating.batch in checks]
        ),
    }


def _agreement(settings: StewardSettings, benchmark: Benchmark, batches: list[SheetBatch]) -> dict[str, Any]:
    """Return how raters and labels agree, over all that the history holds."""
    from stewardship.adjudication.standing import standing
    from stewardship.reporting.estimates import label_estimates
    from stewardship.sheets.figures import confusion, drawn_of, error_rates, reliability
    from stewardship.sheets.ratings import AWAITING, OPEN, current_ratings
    from stewardship.sheets.spotchecks import spot_check_summary

    history, labels = benchmark.history, standing(benchmark)
    predictions = labels.predictions
    ratings = current_ratings(history)
    others = {uid: [by[uid] for by in predictions.values() if uid in by] for uid in ratings}
    drawn = drawn_of(history, batches)
    statuses = Counter(event.status for event in history.latest("physician").values())
    if benchmark.categories:
        by, group = "label", {uid: label.text() for uid, label in labels.original.items()}
    else:
        by, group = "category", {uid: name for uid, name in benchmark.column("category").items() if name}
    groups = {by: group, "stratum": labels.strata}
    return {
        "reviewed": len(labels.physician),
        "reviewed_by_draw": dict(sorted(Counter(drawn.values()).items())),
        "to_adjudicate": statuses[OPEN],
        "awaiting": statuses[AWAITING],
        "agreement": reliability(ratings, others, settings).as_dict(),
        "errors": [asdict(rate) for rate in error_rates(labels.physician, predictions, drawn, groups, settings)],
        "dataset": [asdict(estimate) for estimate in label_estimates(benchmark) if estimate.source == "physician"],
        "confusion": confusion(labels.physician, labels.original, drawn) if benchmark.categories else {},
        "spot_check": spot_check_summary(benchmark.folder),
    }


def _blocks_of_read(payload: dict[str, Any]) -> Blocks:
    for item in payload["refused"]:
        yield unfolded(f"{item['file']} row {item['line']}, {item['column']}: {item['problem']}")
        for name in ("found", "expected", "do"):
            if item[name]:
                yield indented(f"{name}: {item[name]}", 2)
    if payload["refused"]:
        yield ""
    for line in _taken(payload):
        yield unfolded(line)
    if payload["files"] and not payload["taken"]:
        return
    yield from _blocks_of_agreement(payload["agreement"])
    yield from _blocks_of_errors(payload)
    yield from _blocks_of_confusion(payload["confusion"])
    if checks := payload["spot_check"]:
        counts = ", ".join(f"{name} {count}" for name, count in checks["verdicts"].items())
        yield unfolded(f"\nspot check of the audit's flags: {counts}; agree {share(checks['agree'])}")


def _taken(payload: dict[str, Any]) -> Iterator[str]:
    """Say what came of the files, and how many rows have a reviewer's label by now."""
    for file in payload["already_adopted"]:
        yield f"{relative(Path(file))}: taken up with the benchmark already; nothing to do"
    yield from payload["notes"]
    for rater, count in payload["given"].items():
        empty, missing = payload["empty"].get(rater, 0), payload["missing"].get(rater, 0)
        more = f", {empty:,} empty: not reviewed" if empty else ""
        yield f"{rater}: {count:,} rows given{more}" + (f", {missing:,} not in the file" if missing else "")
    # A row can be refused for several of its cells.
    refused = len({(item["file"], item["line"]) for item in payload["refused"]})
    answers, added = payload["answers"], payload["events_added"] + payload["spot_checks_added"]
    if payload["files"] and not payload["taken"]:
        yield (
            f"NOTHING TAKEN: {refused:,} of {refused + answers:,} answers cannot be taken. Correct them in "
            "the sheet and read it again, or take the others with --partial"
        )
    elif payload["files"]:
        nothing = "all known already, nothing was added" if answers else "nothing was added"
        batch = f" (batch {payload['batch']})" if payload["batch"] else ""
        yield (
            f"{answers:,} answers read, {payload['abstentions']:,} of them N/A; "
            f"{f'{added:,} events added' if added else nothing}{batch}"
        )
    for file in payload["refused_tables"]:
        yield f"refused cells, to be corrected and read again: {relative(Path(file))}"
    draws = ", ".join(f"{count:,} {DRAWN[drawn]}" for drawn, count in payload["reviewed_by_draw"].items())
    yield f"{payload['reviewed']:,} rows have a reviewer's label" + (draws and f": {draws}")
    if payload["to_adjudicate"]:
        yield f"raters disagree on {payload['to_adjudicate']:,}: ontoground steward sheets --adjudicate"
    if payload["awaiting"]:
        yield f"not all raters have answered {payload['awaiting']:,}: settle what is there with --settle"


def _blocks_of_agreement(results: dict[str, Any]) -> Blocks:
    def coefficient(of: dict[str, Any], name: str, end: str = "") -> str:
        if of[name] is None:
            return "not defined"
        return f"{of[name]:.3f} [{of[f'{end}low']:.3f}, {of[f'{end}high']:.3f}]"

    if not results["rows"]:
        return
    columns = ("raters", "rows", "agree", "share [95% interval]", "same label", "Cohen's kappa [95%]")
    rows = []
    for pair in results["pairs"]:
        raters = f"{pair['first']}, {pair['second']}"
        rows.append(
            (raters, pair["n"], pair["agree"], share(pair["share"]), pair["same"], coefficient(pair, "kappa", "kappa_"))
        )
    yield table(columns, rows, title="agreement of raters")
    yield f"unanimous: {results['unanimous']:,} of {results['rows']:,} rows"
    for pair in results["alphas"]:
        value = f"{ALPHAS[pair['level']]}: {coefficient(pair, 'value')}"
        rests = f"({pair['rows']:,} rows, {pair['answers']:,} answers)"
        yield unfolded(f"Krippendorff's alpha, {value} {rests}")


def _blocks_of_errors(payload: dict[str, Any]) -> Blocks:
    by_draw: dict[str, list[tuple[str | int, ...]]] = {}
    for error in payload["errors"]:
        if error["by"] != "stratum" or error["n"] >= LEAST_ROWS:
            group = "all" if error["by"] == "all" else error["group"][:30]
            cells = (error["labeller"], group, error["errors"], error["n"], share(error, "share"))
            by_draw.setdefault(error["drawn"], []).append(cells)
    for drawn, rows in by_draw.items():
        yield unfolded(f"\nlabels that reviewers do not agree with, of rows {DRAWN[drawn]}")
        yield table(("labels", "rows", "wrong", "of", "share [95% interval]"), rows)
        yield unfolded(f"({CAVEATS[drawn]})")
    if unsettled := payload["to_adjudicate"] + payload["awaiting"]:
        lacking = f"{unsettled:,} rows without a settled label are in none of these shares"
        yield unfolded(f"({lacking}, which can be too low for it)")
    for line in _of_dataset(payload["dataset"]):
        yield unfolded(line)
    if hidden := len(payload["errors"]) - sum(map(len, by_draw.values())):
        yield f"{hidden:,} shares of strata with fewer than {LEAST_ROWS} rows: --json"


def _of_dataset(results: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Say how many labels of the dataset are wrong, and of which part of it that is known."""
    from stewardship.reporting.estimates import scope

    strata = [item for item in results if item["by"] == "stratum"]
    unread = sum(not stratum["judged"] for stratum in strata)
    for item in results:
        if item["by"] == "all":
            yield f"of {scope(item['rows'], item['covered'])}, weighed by rows: {share(item, 'share')} of labels wrong"
            if item["covered"] < 1:
                of = f"{unread:,} of {len(strata):,} strata have no row that was read"
                yield f"(nothing is known of the rest of the dataset: {of})"


def _blocks_of_confusion(confusion: dict[str, Any]) -> Blocks:
    for drawn, counts in confusion.items():
        names = sorted({name for row in counts.values() for name in row} | set(counts))
        rows = [[label, *(counts[label].get(name, 0) for name in names)] for label in sorted(counts)]
        yield unfolded(f"\npublished label by reviewers' label, of rows {DRAWN[drawn]}")
        yield table(("published", *names), rows)
