"""``ontoground steward report``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ground.errors import InputError
from ontoground.cli.options import Result, verb
from ontoground.cli.render import Blocks, relative, table, unfolded
from ontoground.cli.runs import require_packages
from ontoground.cli.steward.options import ConfiguredBenchmark, group
from ontoground.cli.steward.shares import share

__all__ = ["report", "report_blocks"]


@verb(group, "One page on what the three phases found.", "ontoground steward report --benchmark medcalc")
def report(options: ConfiguredBenchmark) -> Result:
    """Write report/report.md, report.json and pictures into the benchmark's folder.

    It has the phases that were run, what must be known before the numbers are quoted, how they move under other
    readings of the rules, and, for MedCalc-Bench v1.0, the paper's numbers beside ours.
    """
    import json

    from ground.markdown import harmless
    from ground.storage.files import atomic_directory

    require_packages("jinja2", "matplotlib", "statsmodels", extra="steward")
    from stewardship.adjudication.standing import standing
    from stewardship.reporting.caveats import caveats
    from stewardship.reporting.drawing import draw
    from stewardship.reporting.estimates import estimates_markdown, label_estimates
    from stewardship.reporting.page import write_page
    from stewardship.reporting.published import beside_the_paper, is_medcalc_v1, labelled_by_the_paper
    from stewardship.reporting.report import build_report
    from stewardship.reporting.sensitivity import printed_inputs, variants

    settings, benchmark = options.settings, options.adopted
    labels = standing(benchmark)
    results = build_report(benchmark, labels, settings)
    if results.audits is None and results.triage is None:
        raise InputError(
            "nothing to report yet: the labels were neither audited nor recomputed",
            file=benchmark.folder,
            do="run `ontoground steward audit` or `recompute`, or adopt a sheet of recomputed labels",
        )
    medcalc = is_medcalc_v1(benchmark)
    compared = beside_the_paper(results) if medcalc else []
    others = variants(labels, results, settings) + (printed_inputs(results) if medcalc else [])
    known = caveats(results, labels, paper=medcalc and labelled_by_the_paper(benchmark))
    estimates = label_estimates(benchmark)
    result = options.result(
        "report",
        report_blocks,
        **results.as_dict(),
        paper=[asdict(item) for item in compared],
        other_readings=[other.as_dict() for other in others],
        caveats=[asdict(item) for item in known],
        dataset=[asdict(estimate) for estimate in estimates],
    )
    folder = benchmark.folder / "report"
    with atomic_directory(folder) as temporary:
        pictures = draw(results, temporary)
        page = write_page(results, compared, others, known, pictures=pictures) + estimates_markdown(estimates)
        (temporary / "report.md").write_text(harmless(page), encoding="utf-8")
        result.payload["files"] = [str(folder / item) for item in ("report.md", "report.json", *pictures)]
        (temporary / "report.json").write_text(json.dumps(result.payload, indent=2) + "\n", encoding="utf-8")
    return result


def report_blocks(payload: dict[str, Any]) -> Blocks:
    """Show the main numbers, the paper's where there are some, and where the page is."""
    if payload["paper"]:
        rows = [(item["what"], item["ours"] or "-", item["paper"], item["same"]) for item in payload["paper"]]
        yield table(("", "ours", "paper", "same"), rows)
    else:
        yield table(("", "value"), list(_main_numbers(payload)))
    yield f"\n{len(payload['caveats'])} caveats and the counts under other readings are on the page:"
    for file in payload["files"]:
        yield unfolded(f"  {relative(Path(file))}")


def _main_numbers(payload: dict[str, Any]) -> Iterator[tuple[str, str | int]]:
    from stewardship.reporting.estimates import WHO, scope

    yield "rows", payload["rows"]
    if audits := payload["phase1"]:
        yield "likely errors of the audit", f"{audits['flagged']:,} of {audits['n']:,}"
    if triage := payload["phase2"]:
        yield "rows with a recomputed label", f"{triage['n']:,} of {triage['of']:,}"
        yield "flagged", f"{triage['flagged']:,} of {triage['of']:,}"
    for name, item in (payload["phase3"] or {"agreement": {}})["agreement"].items():
        if item["n"]:
            yield f"{name} agrees with the physician", f"{share(item)} of {item['n']}"
    for item in payload["dataset"]:
        if item["by"] == "all" and item["share"] is not None:
            yield (
                f"wrong labels, by {WHO[item['source']]}",
                f"{share(item, 'share')} of {scope(item['rows'], item['covered'])}",
            )
