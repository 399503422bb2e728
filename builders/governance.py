"""What may be done with a dataset, and how it was made and may mislead, in Croissant's words.

Conditions of use: terms of DUO in an offer of ODRL, as section "Data Use Conditions" of the Croissant 1.1 specification
recommends (https://github.com/mlcommons/croissant). What is said of the making: properties of its RAI vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from ground import ROOT
from ground.flow.manifest import LicenceTier, is_open_release
from ground.storage.tables import Row, read_table

__all__ = ["DATA", "OPEN_WORLD", "RAI", "conditions_of", "responsible_ai", "sources_of"]

DATA = ROOT / "builders" / "data"
RAI = "http://mlcommons.org/croissant/RAI/1.0"
"""The vocabulary that `responsible_ai` follows."""
OPEN_WORLD = "open world"
WORKSPACE = ("mimic", "umls", "rxnorm")


@cache
def _conditions() -> list[Row]:
    return read_table(DATA / "conditions_of_use.tsv", ("tier", "rule", "term", "text", "source"))


@cache
def _statements() -> list[Row]:
    return read_table(DATA / "responsible_ai.tsv", ("dataset", "origin", "property", "text", "source"))


def conditions_of(tier: LicenceTier) -> dict[str, Any]:
    """Return the conditions under which data of a licence tier may be used (``usageInfo``)."""
    rules = {line["rule"]: line for line in _conditions() if line["tier"] == tier}
    permission: dict[str, Any] = {"@type": "odrl:Permission", "odrl:action": _term(rules["permission"])}
    if "constraint" in rules:
        permission["odrl:constraint"] = {
            "@type": "odrl:Constraint",
            "name": rules["constraint"]["text"],
            "odrl:operator": {"@id": "odrl:eq"},
            "odrl:rightOperand": {"@id": _identifier(rules["constraint"]["term"])},
        }
    offer = {
        "@type": ["CreativeWork", "odrl:Offer"],
        "name": "; ".join(line["text"] for line in rules.values() if line["rule"] != "prohibition"),
        "odrl:permission": permission,
    }
    if "prohibition" in rules:
        offer["odrl:prohibition"] = {"@type": "odrl:Prohibition", "odrl:action": _term(rules["prohibition"])}
    return offer


def sources_of(manifest: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the releases of each source; what was read of the open world is one source, and nobody's records."""
    sources: dict[str, set[str]] = {}
    for entry in manifest.get("inputs", ()):
        if entry.get("source") == "rules":
            continue  # the user's own
        release = entry.get("release")
        # An open dataset's facts are of the open world, as their file, a manifest without a release, cannot say.
        ours = is_open_release(release) or (manifest["licence_tier"] == "open" and entry.get("source") in WORKSPACE)
        source = OPEN_WORLD if ours else str(entry.get("source", entry.get("file")))
        sources.setdefault(source, set()).update([str(release)] if release else [])
    return {source: sorted(releases) for source, releases in sorted(sources.items())}


def responsible_ai(manifest: Mapping[str, Any]) -> dict[str, str | list[str]]:
    """Return what is said of a dataset's making, limits and effects, by property of Croissant's RAI vocabulary."""
    dataset, tier = manifest["dataset"], manifest["licence_tier"]
    open_origins = {source if source == OPEN_WORLD else "text sets" for source in sources_of(manifest)}
    origins = {"all", *(open_origins if tier == "open" else {tier})}
    texts_of: dict[str, list[str]] = {}
    for line in _statements():
        if line["dataset"] in ("all", dataset) and line["origin"] in origins:
            texts_of.setdefault(f"rai:{line['property']}", []).append(line["text"])
    return {name: texts[0] if len(texts) == 1 else texts for name, texts in texts_of.items()}


def _term(rule: dict[str, str]) -> dict[str, str]:
    return {"@id": _identifier(rule["term"]), "name": rule["text"]}


def _identifier(term: str) -> str:
    return term.replace("DUO_", "duo:")
