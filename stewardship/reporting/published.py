"""The paper's numbers beside ours, for the benchmark that the paper is about."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from ground import ROOT
from ground.storage.tables import Row, read_table
from stewardship.adjudication.agreement import Estimate
from stewardship.benchmark.folder import Benchmark
from stewardship.reporting.report import Report

__all__ = ["Compared", "beside_the_paper", "is_medcalc_v1", "labelled_by_the_paper", "printed"]

FIGURES = ROOT / "stewardship" / "data" / "paper_figures.tsv"
COLUMNS = ("key", "what", "value", "low", "high", "decimals", "unit", "simulated", "source")
LAYOUTS = ("medcalc_v1", "medcalc_v1_uid")
ROWS = 1047


def is_medcalc_v1(benchmark: Benchmark) -> bool:
    """Return whether a benchmark is the test split of MedCalc-Bench v1.0: one of its layouts, and its rows."""
    files = (benchmark.record or {}).get("files") or [{}]
    return files[0].get("layout") in LAYOUTS and benchmark.items.height == ROWS


def labelled_by_the_paper(benchmark: Benchmark) -> bool:
    """Return whether all physicians' labels came with a table of the paper's."""
    events = benchmark.history.latest("physician").values()
    layouts = {item["sha256"]: item["layout"] for item in (benchmark.record or {}).get("files", [])}
    return bool(events) and all(layouts.get(event.evidence.get("sha256")) in ("phase3", "final") for event in events)


@dataclass(frozen=True)
class Compared:
    """One number of the paper and ours.

    Attributes:
        ours: as the paper would print it; empty where there is none.
        same: ``yes``; ``ends`` where the ends of a simulated interval alone differ; ``no``; or empty where ours is not
            there.
    """

    key: str
    what: str
    ours: str
    paper: str
    same: str
    source: str


def beside_the_paper(report: Report) -> list[Compared]:
    """Compare our numbers with the printed ones, at the decimals that are printed."""
    ours = _keyed(report)
    return [_compare(row, ours.get(row["key"])) for row in _figures()]


def _keyed(report: Report) -> dict[str, Estimate | float | None]:
    """Return our numbers by the keys of ``data/paper_figures.tsv``, shares in percent."""
    results: dict[str, Estimate | float | None] = {}
    if (audits := report.audits) is not None:
        results |= {"audit_flagged": audits.flagged, "audit_rate": _percent(audits.rate)}
        results["audit_strata"] = audits.strata_touched
    if (triage := report.triage) is not None:
        results |= {name: getattr(triage, name) for name in ("deferred", "abstained", "differ", "flagged")}
        rates = ("high_confidence_rate", "abstained_rate", "differ_rate", "flagged_rate")
        results |= {name: _percent(getattr(triage, name)) for name in rates}
        results |= {"high_confidence": triage.n, "not_flagged": triage.of - triage.flagged}
    if (phase3 := report.phase3) is not None:
        results["reviewed"] = len(phase3.rows)
        for name, share in phase3.agreement.items():
            ends = (_percent(share.value), _percent(share.low), _percent(share.high))
            results[f"{name}_agrees"] = None if share.value is None else share.value * share.n
            results[f"{name}_agreement"] = Estimate(*ends, share.n)
            results[f"{name}_smape"] = phase3.smape[name]
    if report.whole_test:
        results |= {f"{name}_whole_test": estimate for name, estimate in report.whole_test[0].estimates.items()}
    return results


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def printed(key: str) -> Estimate:
    """Return a number that the paper prints, with its interval."""
    row = next(row for row in _figures() if row["key"] == key)
    value, low, high = (float(row[name]) for name in ("value", "low", "high"))
    return Estimate(value, low, high, 0)


@functools.cache
def _figures() -> list[Row]:
    return read_table(FIGURES, COLUMNS)


def _compare(row: Mapping[str, str], ours: Estimate | float | None) -> Compared:
    decimals = int(row["decimals"])
    printed = (row["value"], row["low"], row["high"])
    result = ours if isinstance(ours, Estimate) else Estimate(ours, None, None, 0)
    numbers = (result.value, result.low, result.high) if row["low"] else (result.value, None, None)
    own = tuple("" if number is None else f"{number:.{decimals}f}" for number in numbers)
    if not own[0]:
        same = ""
    elif own == printed:
        same = "yes"
    else:
        same = "ends" if own[0] == printed[0] and row["simulated"] == "yes" else "no"
    return Compared(
        row["key"], row["what"], _printed(own, row["unit"]), _printed(printed, row["unit"]), same, row["source"]
    )


def _printed(numbers: tuple[str, ...], unit: str) -> str:
    value, low, high = numbers
    sign = "%" if unit == "%" else ""
    if not value:
        return ""
    text = f"{int(value):,}" if value.isdecimal() else value
    return f"{text}{sign} [{low}, {high}]" if low else f"{text}{sign}"
