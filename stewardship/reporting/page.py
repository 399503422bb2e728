"""The report as one page of Markdown: ``templates/report.md``, filled with the tables' rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ground.markdown import markdown_table
from stewardship.adjudication.agreement import Estimate
from stewardship.reporting.published import Compared
from stewardship.reporting.report import LABELLERS, Phase3, Report
from stewardship.reporting.sensitivity import Variant
from stewardship.reporting.wording import estimate, percent, share

__all__ = ["rendered", "write_page"]

TEMPLATES = Path(__file__).parent / "templates"
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
    report: Report, compared: Sequence[Compared], variants: Sequence[Variant], caveats: Sequence[Any], **more: Any
) -> str:
    """Return the page.

    Args:
        compared: the paper's numbers beside ours; empty for other benchmarks.
        variants: how the numbers move under other readings.
        caveats: what to know before quoting.
        more: ``pictures``, names of files beside the page.
    """
    phase3, triage = report.phase3, report.triage
    strata = list(triage.by_stratum.items())[:TOP] if triage else []
    page = rendered(
        "report.md",
        r=report,
        sources=_sources(report),
        strata=[[name, *part.values()] for name, part in strata if part["differ"] + part["abstained"]],
        wanted=[f"{count} {TYPES.get(name, name)}" for name, count in (phase3.types if phase3 else {}).items()],
        agreement=list(_agreement(phase3)) if phase3 else [],
        by_flag=list(_by_flag(phase3)) if phase3 else [],
        whole_tests=[
            [test.name, percent(test.weight), f"{test.unflagged['recomputed']:.2f}%"]
            + [estimate(test.estimates[name], 1, 1) for name in LABELLERS]
            for test in report.whole_test
        ],
        final=[*_final(report.final)],
        caveats=caveats,
        compared=[
            [row.what, row.ours or "-", row.paper, SAME[row.same], row.source.partition(", ")[2]] for row in compared
        ],
        variants=[
            [row.outcome if at == 0 or variants[at - 1].outcome != row.outcome else "", row.variant, row.value]
            for at, row in enumerate(variants)
        ],
        settings=[f"{name} = {value}" for name, value in report.settings.items()],
        **more,
    )
    return f"{page}\n"


def _final(counts: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    for source, count in counts.items():
        yield FROM.get(source, source), count
    yield "all", sum(counts.values())


def _sources(report: Report) -> list[str]:
    """Say where labels come from; of many, the first few."""
    return [
        f"{WHOSE[role]}: {', '.join(names[:NAMED])}" + (f" and {len(names) - NAMED} more" * (len(names) > NAMED))
        for role, names in report.sources.items()
    ]


def _agreement(phase3: Phase3) -> Iterator[list[str]]:
    for name in LABELLERS:
        agrees, error = phase3.agreement[name], phase3.smape[name]
        yield [name, _agreed(agrees), estimate(agrees, 100, 0), estimate(error, 1, 1), str(error.n)]


def _by_flag(phase3: Phase3) -> Iterator[list[str]]:
    for flag, counts in phase3.by_flag.items():
        if counts["reviewed"]:
            agreed = [_agreed(phase3.agreement_by_flag[name].get(flag)) for name in LABELLERS]
            yield [flag, f"{counts['reviewed']} of {counts['rows']:,}", *agreed]


def _agreed(agreement: Estimate | None) -> str:
    return "-" if agreement is None else f"{round((agreement.value or 0) * agreement.n)} of {agreement.n}"


def rendered(template: str, **variables: Any) -> str:
    """Return a template of ``stewardship/reporting/templates``, filled."""
    text: str = _templates().get_template(template).render(**variables)
    return text


@cache
def _templates() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    templates = Environment(
        loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    templates.globals |= {"table": _table, "share": share, "estimate": estimate, "by_name": _by_name}
    templates.filters |= {"n": "{:,}".format, "percent": percent}
    return templates


def _by_name(counts: Mapping[str, Mapping[str, int]]) -> list[list[str | int]]:
    return [[name, *row.values()] for name, row in counts.items()]


def _table(columns: Sequence[str], rows: Iterable[Sequence[str | int]]) -> str:
    """Return a table; columns of numbers stand on the right."""
    cells = [[f"{cell:,}" if isinstance(cell, int) else cell for cell in row] for row in rows]
    numeric = [
        bool(cells) and all(row[at][:1].isdigit() or row[at] in ("", "-") for row in cells)
        for at in range(len(columns))
    ]
    return markdown_table(columns, cells, right=numeric).rstrip("\n")
