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
def _said() -> list[Row]:
    return read_table(DATA / "responsible_ai.tsv", ("dataset", "origin", "property", "text", "source"))


def conditions_of(tier: LicenceTier) -> dict[str, Any]:
    """Return the conditions under which data of a licence tier may be used (``usageInfo``)."""
    rules = {one["rule"]: one for one in _conditions() if one["tier"] == tier}
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
        "name": "; ".join(one["text"] for one in rules.values() if one["rule"] != "prohibition"),
        "odrl:permission": permission,
    }
    if "prohibition" in rules:
        offer["odrl:prohibition"] = {"@type": "odrl:Prohibition", "odrl:action": _term(rules["prohibition"])}
    return offer


def sources_of(manifest: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the releases of each source; what was read of the open world is one source, and nobody's records."""
    found: dict[str, set[str]] = {}
    for one in manifest.get("inputs", ()):
        if one.get("source") == "rules":
            continue  # the user's own
        release = one.get("release")
        # An open dataset's facts are of the open world, as their file, a manifest without a release, cannot say.
        ours = is_open_release(release) or (manifest["licence_tier"] == "open" and one.get("source") in WORKSPACE)
        source = OPEN_WORLD if ours else str(one.get("source", one.get("file")))
        found.setdefault(source, set()).update([str(release)] if release else [])
    return {source: sorted(releases) for source, releases in sorted(found.items())}


def responsible_ai(manifest: Mapping[str, Any]) -> dict[str, str | list[str]]:
    """Return what is said of a dataset's making, limits and effects, by property of Croissant's RAI vocabulary."""
    dataset, tier = manifest["dataset"], manifest["licence_tier"]
    open_origins = {one if one == OPEN_WORLD else "text sets" for one in sources_of(manifest)}
    origins = {"all", *(open_origins if tier == "open" else {tier})}
    found: dict[str, list[str]] = {}
    for one in _said():
        if one["dataset"] in ("all", dataset) and one["origin"] in origins:
            found.setdefault(f"rai:{one['property']}", []).append(one["text"])
    return {name: texts[0] if len(texts) == 1 else texts for name, texts in found.items()}


def _term(rule: dict[str, str]) -> dict[str, str]:
    return {"@id": _identifier(rule["term"]), "name": rule["text"]}


def _identifier(term: str) -> str:
    return term.replace("DUO_", "duo:")
