"""The report as one page of Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ground.markdown import markdown_table
from stewardship.adjudication.agreement import Estimate
from stewardship.reporting.caveats import Caveat
from stewardship.reporting.published import Compared
from stewardship.reporting.report import LABELLERS, Phase3, Report, WholeTest
from stewardship.reporting.sensitivity import Variant

__all__ = ["count_of", "estimate", "percent", "share", "write_page"]

TOP = 15
NAMED = 4
WHOSE = {
    "original": "Original labels",
    "audit": "verdicts",
    "recomputed": "recomputed labels",
    "physician": "physicians' labels",
}
TYPES = {"na": "without an answer", "date": "dates", "category": "categories"}
FROM = {"recomputed": "recomputed", "rule": "recomputed, put right by a rule", "physician": "a physician's"}
SAME = {"yes": "yes", "ends": "yes; ends by another seed", "no": "no", "": "not run"}


def write_page(
    report: Report,
    compared: Sequence[Compared],
    variants: Sequence[Variant],
    caveats: Sequence[Caveat],
    pictures: Sequence[str],
) -> str:
    """Return the page.

    Args:
        report: what was found.
        compared: the paper's numbers beside ours; empty for other benchmarks.
        variants: how the numbers move under other readings.
        caveats: what to know before quoting.
        pictures: names of picture files beside the page.
    """
    parts = [
        [f"# Labels of {report.benchmark}", "", f"{report.rows:,} rows. Intervals are 95%.{_sources(report)}"],
        *_phases(report),
        _pictures(pictures),
        _caveats(caveats),
        _compared(compared),
        _variants(variants),
        _settings(report),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _sources(report: Report) -> str:
    """Say where labels come from; of many, the first few."""
    said = []
    for role, names in report.sources.items():
        shown = ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
        said.append(f"{WHOSE[role]}: {shown}")
    return " " + "; ".join(said) + "." if said else ""


def _phases(report: Report) -> Iterator[list[str]]:
    if report.audits is not None:
        audits = report.audits
        modes = [[mode, f"{count:,}"] for mode, count in report.failure_modes.items()]
        yield [
            "## Phase 1: audit of the original labels",
            "",
            f"{audits.flagged:,} of {audits.n:,} labels ({percent(audits.rate)}) are likely errors, in "
            f"{audits.strata_touched:,} of {audits.strata:,} strata.",
            *(["", *_table(["failure mode", "likely errors where an auditor names it"], modes)] if modes else []),
        ]
    if report.triage is not None:
        yield _phase2(report)
    if report.phase3 is not None:
        yield _phase3(report.phase3)
        if report.whole_test:
            yield _whole_tests(report.whole_test)
    if report.final:
        yield _final(report.final)


def _phase2(report: Report) -> list[str]:
    found = report.triage
    if found is None:
        return []
    counts = [
        ["high-confidence recomputed label", f"{found.n:,}", f"{found.of:,}", percent(found.high_confidence_rate)],
        ["deferred", f"{found.deferred:,}", f"{found.of:,}", share(found.deferred, found.of)],
        ["recomputed label: no answer", f"{report.abstentions:,}", f"{found.n:,}", share(report.abstentions, found.n)],
        ["flagged: one label abstains", f"{found.abstained:,}", f"{found.n:,}", percent(found.abstained_rate)],
        ["flagged: labels differ", f"{found.differ:,}", f"{found.n:,}", percent(found.differ_rate)],
        ["flagged", f"{found.flagged:,}", f"{found.of:,}", percent(found.flagged_rate)],
    ]
    types = [[name, *(f"{one:,}" for one in counts.values())] for name, counts in found.by_type.items()]
    strata = [
        [name, f"{one['n']:,}", f"{one['differ']:,}", f"{one['abstained']:,}"]
        for name, one in list(found.by_stratum.items())[:TOP]
        if one["differ"] + one["abstained"]
    ]
    more = found.strata_flagged - len(strata)
    return [
        "## Phase 2: recomputed labels beside the original ones",
        "",
        *_table(["", "rows", "of", "share"], counts),
        "",
        f"Flags are in {found.strata_flagged:,} of {found.strata:,} strata"
        + (f"; the {len(strata)} with the most:" if more > 0 else ":" if strata else "."),
        "",
        *(_table(["stratum", "rows", "differ", "abstained"], strata) if strata else []),
        "",
        *(_pairs(report.pairs) if report.pairs else _table(["output", "rows", "differ", "abstained"], types)),
    ]


def _pairs(found: Mapping[str, Mapping[str, int]]) -> list[str]:
    names = list(next(iter(found.values())))
    rows = [[one, *(f"{counts[name]:,}" for name in names)] for one, counts in found.items()]
    return ["Original labels (rows of the table) and recomputed ones:", "", *_table(["", *names], rows)]


def _phase3(found: Phase3) -> list[str]:
    rows = []
    for name in LABELLERS:
        agrees = found.agreement[name]
        error = found.smape[name]
        agreed = round((agrees.value or 0) * agrees.n)
        rows.append([name, f"{agreed} of {agrees.n}", estimate(agrees, 100, 0), estimate(error, 1, 1), str(error.n)])
    flags = [
        [flag, f"{counts['reviewed']} of {counts['rows']:,}"]
        + [_agreed(found.agreement_by_flag[name].get(flag)) for name in LABELLERS]
        for flag, counts in found.by_flag.items()
        if counts["reviewed"]
    ]
    wanted = ", ".join(f"{count} {TYPES.get(name, name)}" for name, count in found.types.items())
    return [
        "## Phase 3: physicians' labels",
        "",
        f"{len(found.rows)} rows reviewed: {wanted}.",
        "",
        *_table(["label", "agrees", "share", "sMAPE", "rows of sMAPE"], rows),
        "",
        *_table(["flag", "reviewed", *(f"{name} agrees" for name in LABELLERS)], flags),
    ]


def _agreed(found: Estimate | None) -> str:
    return "-" if found is None else f"{round((found.value or 0) * found.n)} of {found.n}"


def _whole_tests(found: Sequence[WholeTest]) -> list[str]:
    rows = [
        [one.name, percent(one.weight), f"{one.unflagged['recomputed']:.2f}%"]
        + [estimate(one.estimates[name], 1, 1) for name in LABELLERS]
        for one in found
    ]
    return [
        "### sMAPE over the whole benchmark, if the reviewed rows stand for it",
        "",
        *_table(["supposing", "flagged weigh", "recomputed elsewhere", *LABELLERS], rows),
        "",
        "The original labels are taken to be right on every row without a flag.",
    ]


def _final(found: Mapping[str, int]) -> list[str]:
    rows = [[FROM.get(source, source), f"{count:,}"] for source, count in found.items()]
    return ["## Final labels", "", *_table(["whose label", "rows"], [*rows, ["all", f"{sum(found.values()):,}"]])]


def _pictures(names: Sequence[str]) -> list[str]:
    return [f"![{name.removesuffix('.png').replace('_', ' ')}]({name})" for name in names]


def _caveats(found: Sequence[Caveat]) -> list[str]:
    if not found:
        return []
    return ["## Before these numbers are quoted", "", *(f"- **{one.about}**: {one.text}" for one in found)]


def _compared(found: Sequence[Compared]) -> list[str]:
    if not found:
        return []
    rows = [[one.what, one.ours or "-", one.paper, SAME[one.same], one.source.partition(", ")[2]] for one in found]
    return ["## Beside the paper (arXiv 2512.19691)", "", *_table(["", "ours", "paper", "same", "place"], rows)]


def _variants(found: Sequence[Variant]) -> list[str]:
    if not found:
        return []
    rows = [
        [one.outcome if at == 0 or found[at - 1].outcome != one.outcome else "", one.variant, one.value]
        for at, one in enumerate(found)
    ]
    return [
        "## The same counts under other readings",
        "",
        "What the paper leaves open is a setting; this is what other values would give.",
        "",
        *_table(["count", "reading", "result"], rows),
    ]


def _settings(report: Report) -> list[str]:
    given = ", ".join(f"{name} = {value}" for name, value in report.settings.items())
    return [f"Settings: {given}. The rows in order: `steward triage`. Formulas: docs/stewardship.md."]


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    numeric = [
        bool(rows) and all(row[at][:1].isdigit() or row[at] in ("", "-") for row in rows) for at in range(len(columns))
    ]
    return markdown_table(columns, rows, right=numeric).splitlines()


def percent(share: float | None) -> str:
    """Write a share, 0 to 1, in percent with one decimal."""
    return "-" if share is None else f"{100 * share:.1f}%"


def share(part: int, whole: int) -> str:
    """Write a part of a whole in percent."""
    return percent(part / whole if whole else None)


def count_of(part: int, whole: int) -> str:
    """Write a part and its whole, and the share that it is."""
    return f"{part:,} of {whole:,} ({share(part, whole)})"


def estimate(found: Estimate, scale: float, decimals: int, unit: str = "%") -> str:
    """Write an estimate with its interval, each times ``scale``."""
    if found.value is None or found.low is None or found.high is None:
        return "-"
    value, low, high = (f"{scale * number:.{decimals}f}" for number in (found.value, found.low, found.high))
    return f"{value}{unit} [{low}, {high}]"
