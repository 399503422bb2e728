"""What clinicians said of an audit's flags: kept beside the sheets, since it is no label (paper 2.3)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ground.storage.files import private_directory, write_text
from stewardship.adjudication.agreement import wilson
from stewardship.sheets.batch import SHEETS
from stewardship.sheets.cells import VERDICTS
from stewardship.sheets.reading import Rating

__all__ = ["add_spot_checks", "spot_check_summary", "spot_checks"]

FILE = "spot-checks.json"


def add_spot_checks(benchmark: Path, ratings: Iterable[Rating]) -> int:
    """Keep verdicts of spot checks; one said again replaces the earlier. Returns how many are new or changed."""
    file = private_directory(benchmark / SHEETS) / FILE
    known = spot_checks(benchmark)
    before = json.dumps(known, sort_keys=True)
    changed = 0
    for rating in ratings:
        answers: dict[str, Any] = {"verdict": rating.value.text(), "comment": rating.comment, "sheet": rating.batch}
        answers |= {"reason": rating.reason} if rating.reason else {}
        answers |= {"spans": [span.text() for span in rating.spans]} if rating.spans else {}
        by = known.setdefault(rating.uid, {})
        changed += by.get(rating.rater) != answers
        by[rating.rater] = answers
    if json.dumps(known, sort_keys=True) != before:
        write_text(file, json.dumps(known, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
    return changed


def spot_check_summary(benchmark: Path) -> dict[str, Any] | None:
    """Return how often clinicians agree with the flags, with the 95% Wilson interval; None where there is no check."""
    known = spot_checks(benchmark)
    counts = Counter(answer["verdict"] for by in known.values() for answer in by.values())
    if not counts:
        return None
    share = wilson(counts["agree"], counts.total())
    return {
        "rows": len(known),
        "raters": sorted({rater for by in known.values() for rater in by}),
        "verdicts": {name: counts[name] for name in VERDICTS},
        "agree": {"value": share.value, "low": share.low, "high": share.high, "n": share.n},
    }


def spot_checks(benchmark: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """Return what was said, by row and rater: verdict, comment, sheet, and reason and spans where they were given."""
    file = benchmark / SHEETS / FILE
    checks: dict[str, dict[str, dict[str, Any]]] = (
        json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    )
    return checks
