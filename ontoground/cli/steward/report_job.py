"""What ``ontoground steward report`` does: one page, its numbers as JSON, and pictures."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ground.errors import InputError
from ground.storage.files import atomic_directory
from ontoground.cli.runs import require_packages

if TYPE_CHECKING:
    from rich.console import Console

    from ground.settings import StewardSettings
    from stewardship.adjudication.agreement import Estimate
    from stewardship.reporting.report import Report

__all__ = ["paint_report", "report_job"]

FOLDER = "report"
PACKAGES = ("matplotlib", "statsmodels")


def report_job(settings: StewardSettings, workspace: Path, name: str | None) -> dict[str, Any]:
    """Write the report of a benchmark and return what ``--json`` prints.

    Raises:
        InputError: no such benchmark, or no phase was run on it.
        UsageError: several benchmarks and none named, or a package is not installed.
    """
    require_packages(*PACKAGES, extra="steward")
    from stewardship.benchmark.folder import Benchmark
    from stewardship.datasets.estimates import estimates_markdown, label_estimates
    from stewardship.history.standing import standing
    from stewardship.reporting.caveats import caveats
    from stewardship.reporting.drawing import draw
    from stewardship.reporting.page import write_page
    from stewardship.reporting.published import beside_the_paper, is_medcalc_v1
    from stewardship.reporting.report import build_report
    from stewardship.reporting.sensitivity import printed_inputs, variants

    benchmark = Benchmark.open(workspace, name)
    labels = standing(benchmark)
    report = build_report(benchmark, labels, settings)
    if report.audits is None and report.triage is None:
        raise InputError(
            "nothing to report yet: the labels were neither audited nor recomputed",
            file=benchmark.folder,
            do="run `ontoground steward audit` or `recompute`, or adopt a sheet of recomputed labels",
        )
    medcalc = is_medcalc_v1(benchmark)
    compared = beside_the_paper(_keyed(report)) if medcalc else []
    others = variants(benchmark, labels, report, settings) + (printed_inputs(report) if medcalc else [])
    known = caveats(report, labels, paper=medcalc and _from_paper(benchmark))
    estimates = label_estimates(benchmark)
    payload = {
        "verb": "steward report",
        "workspace": str(workspace),
        **report.as_dict(),
        "paper": [asdict(one) for one in compared],
        "other_readings": [one.as_dict() for one in others],
        "caveats": [asdict(one) for one in known],
        "dataset": [asdict(one) for one in estimates],
    }
    folder = benchmark.folder / FOLDER
    with atomic_directory(folder) as temporary:
        pictures = draw(report, temporary)
        page = write_page(report, compared, others, known, pictures) + estimates_markdown(estimates)
        (temporary / "report.md").write_text(page, encoding="utf-8")
        payload["files"] = [str(folder / one) for one in ("report.md", "report.json", *pictures)]
        (temporary / "report.json").write_text(json.dumps(payload, indent=2) + "\n", encoding="utf-8")
    return payload


def _from_paper(benchmark: Any) -> bool:
    """Return whether all physicians' labels came with a table of the paper's."""
    events = benchmark.history.latest("physician").values()
    layouts = {one["sha256"]: one["layout"] for one in (benchmark.record or {}).get("files", [])}
    return bool(events) and all(layouts.get(event.evidence.get("sha256")) in ("phase3", "final") for event in events)


def _keyed(report: Report) -> dict[str, Estimate | float | None]:
    """Return our numbers by the paper's keys (``stewardship/data/paper_figures.tsv``), shares in percent."""
    from stewardship.adjudication.agreement import Estimate

    def percent(share: float | None) -> float | None:
        return None if share is None else 100 * share

    found: dict[str, Estimate | float | None] = {}
    if report.audits is not None:
        audits = report.audits
        found |= {
            "audit_flagged": audits.flagged,
            "audit_rate": percent(audits.rate),
            "audit_strata": audits.strata_touched,
        }
    if (triage := report.triage) is not None:
        names = ("deferred", "abstained", "differ", "flagged")
        found |= {name: getattr(triage, name) for name in names}
        rates = ("high_confidence_rate", "abstained_rate", "differ_rate", "flagged_rate")
        found |= {name: percent(getattr(triage, name)) for name in rates}
        found |= {"high_confidence": triage.n, "not_flagged": triage.of - triage.flagged}
    if (phase3 := report.phase3) is not None:
        found["reviewed"] = len(phase3.rows)
        for name, share in phase3.agreement.items():
            ends = (percent(share.value), percent(share.low), percent(share.high))
            found[f"{name}_agrees"] = None if share.value is None else share.value * share.n
            found[f"{name}_agreement"] = Estimate(*ends, share.n)
            found[f"{name}_smape"] = phase3.smape[name]
    if report.whole_test:
        found |= {f"{name}_whole_test": one for name, one in report.whole_test[0].estimates.items()}
    return found


def paint_report(screen: Console, payload: dict[str, Any]) -> None:
    """Show the main numbers, the paper's where there are some, and where the page is."""
    from ontoground.cli.render import relative, table

    if payload["paper"]:
        rows = [[one["what"], one["ours"] or "-", one["paper"], one["same"]] for one in payload["paper"]]
        screen.print(table(["", "ours", "paper", "same"], rows))
    else:
        screen.print(table(["", "value"], _plain(payload)))
    screen.print()
    count = len(payload["caveats"])
    screen.print(f"{count} caveats and the counts under other readings are on the page:")
    for file in payload["files"]:
        screen.print(f"  {relative(Path(file))}", soft_wrap=True)


def _plain(payload: dict[str, Any]) -> list[list[str | int | float | None]]:
    rows: list[list[str | int | float | None]] = [["rows", payload["rows"]]]
    if audits := payload["phase1"]:
        rows.append(["likely errors of the audit", f"{audits['flagged']:,} of {audits['n']:,}"])
    if triage := payload["phase2"]:
        rows.append(["rows with a recomputed label", f"{triage['n']:,} of {triage['of']:,}"])
        rows.append(["flagged", f"{triage['flagged']:,} of {triage['of']:,}"])
    if phase3 := payload["phase3"]:
        for name, share in phase3["agreement"].items():
            if share["value"] is not None:
                ends = f"{100 * share['value']:.0f}% [{100 * share['low']:.0f}, {100 * share['high']:.0f}]"
                rows.append([f"{name} agrees with the physician", f"{ends} of {share['n']}"])
    for one in payload["dataset"]:
        if one["by"] == "all" and one["share"] is not None:
            ends = f"{one['share']:.1%} [{one['low']:.1%}, {one['high']:.1%}] of {one['covered'] * one['rows']:,.0f}"
            rows.append([f"wrong in the dataset, by {one['source']}", ends])
    return rows
