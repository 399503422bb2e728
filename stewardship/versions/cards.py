"""The card of a release: what it is, what changed, and what a reader must know, as Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ground.markdown import markdown_table
from stewardship.versions.diffs import Diff

__all__ = ["card"]

KINDS = {"number": "numbers", "date": "dates", "category": "names", "na": "N/A"}
LIMITS = {
    "corrected": "5% about every number; dates and N/A themselves",
    "v1": "5% about decimals; all else the label itself (MedCalc-Bench v1.0)",
}
REST = {"original": "keep their original label", "left_out": "are left out"}
STRATA_LISTED = 15


def card(manifest: Mapping[str, Any], diff: Diff | None) -> str:
    """Return the card of a release.

    Args:
        diff: what changed since the release before it; None for the first.
    """
    rows, recipe = manifest["rows"], manifest["recipe"]
    kinds = ", ".join(f"{count:,} {KINDS.get(kind, kind)}" for kind, count in rows["by_kind"].items())
    sources = ", ".join(f"{count:,} {source}" for source, count in rows["by_source"].items())
    lines = [
        f"# Labels of {manifest['benchmark']}, release {manifest['version']}",
        "",
        f"{rows['released']:,} of {rows['benchmark']:,} rows: {kinds}.",
        "",
        f"- Labels: {recipe['labels']}; rows without one {REST[recipe['rest']]}. By source: {sources}.",
        f"- Limits: {LIMITS[recipe['limits']] if 'number' in rows['by_kind'] else 'the label itself'}.",
        f"- Labelled by a reviewer: {rows['reviewed']:,} rows.",
        f"- Licence: {_licence(manifest)}",
        "",
        "## What changed",
        "",
        *_changes(manifest, diff),
        "",
        "## Caveats",
        "",
        *(f"- {line}" for line in manifest["caveats"]),
        "",
        "## Files",
        "",
        "`labels.parquet` has one row for each label: `uid`, `stratum`, `output_type`, `label`, `kind`, `lower`, "
        "`upper`, `source` (whose label it is), `by`, `why`, and `item`, the SHA-256 of question and context, by which "
        "a label can be matched with its row. `labels.csv` has label and limits under the benchmark's own column "
        "names. Neither has question or context. `manifest.json` names the inputs with their SHA-256. Check that "
        "nothing was altered with `sha256sum -c SHA256SUMS`.",
        "",
        f"SHA-256 of what the labels say: `{manifest['labels_sha256']}`",
        "",
    ]
    return "\n".join(lines)


def _licence(manifest: Mapping[str, Any]) -> str:
    stated = manifest["licence"] or "that of the benchmark; none is stated here."
    if manifest["licence_tier"] == "credentialed":
        stated += " Made from credentialed data: share it under the same agreement only."
    return stated


def _changes(manifest: Mapping[str, Any], diff: Diff | None) -> list[str]:
    if diff is None:
        return ["The first release."]
    lines = [f"Since release {manifest['previous']['version']}:", "", *(f"- {line}" for line in diff.words())]
    if not diff.frame.height:
        return [*lines, "- Only sources or reasons of labels are others."]
    strata = diff.by_stratum()
    heads = ("stratum", "other label", "of these, differ", "N/A on one side", "limits or spelling", "added", "removed")
    rows = list(strata.head(STRATA_LISTED).iter_rows())
    if strata.height > STRATA_LISTED:
        rest = strata.slice(STRATA_LISTED)
        rows.append((f"{rest.height} more", *rest.drop("stratum").sum().row(0)))
    lines += ["", *markdown_table(heads, [[_cell(cell) for cell in row] for row in rows]).splitlines()]
    return lines


def _cell(value: str | int | None) -> str:
    return f"{value:,}" if isinstance(value, int) else value or "(none)"
