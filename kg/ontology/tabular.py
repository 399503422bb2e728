"""Mappings in SSSOM (tab-separated), and ICD-10-CM's order file."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from kg.ontology.content import Content, malformed

__all__ = ["read_icd_order", "read_sssom"]

KINDS = {
    "skos:exactMatch": "exact",
    "owl:equivalentClass": "exact",
    "owl:sameAs": "exact",
    "skos:closeMatch": "close",
    "skos:broadMatch": "broad",
    "skos:narrowMatch": "narrow",
    "skos:relatedMatch": "close",
}
LONGEST = 100_000
"""Characters of a line; csv refuses a field of some more."""
COLUMNS = ("subject_id", "predicate_id", "object_id")
ORDER = re.compile(r"(\d{5}) ([A-Z][A-Z0-9]{2,6}) +([01]) (.{60}) (.*)")
"""A line of icd10cm-order-*.txt, as CMS' readme says: number, code, whether it may be billed, both titles."""


def read_sssom(file: Path) -> Content:
    """Read mappings; a CURIE's prefix is looked up in the file's own curie_map.

    Raises:
        InputError: a column is missing, a predicate is unknown, or it is no UTF-8.
    """
    lines = _lines(file)
    header = [line.removeprefix("#").strip() for line in lines if line.startswith("#")]
    prefixes = [re.fullmatch(r"([\w.-]+): *[\"']?(https?://\S+?)[\"']?", line) for line in header]
    iris = {match[1]: match[2] for match in prefixes if match}
    version = next((line.partition(":")[2].strip() for line in header if line.startswith("mapping_set_version")), None)
    content = Content(file, file.name.split(".")[0], version)
    rows = csv.DictReader((line for line in lines if not line.startswith("#")), delimiter="\t")
    missing = [name for name in COLUMNS if name not in (rows.fieldnames or ())]
    if missing:
        raise malformed(file, f"no column {', '.join(missing)}", f"SSSOM with {', '.join(COLUMNS)}", len(header) + 1)
    for number, row in enumerate(rows, len(header) + 2):
        kind = KINDS.get(row["predicate_id"] or "")
        if None in row.values() or None in row:
            raise malformed(file, "another number of fields", f"{len(rows.fieldnames or ())} fields", number)
        if kind is None:
            raise malformed(file, f"predicate_id {row['predicate_id']}", f"one of {', '.join(KINDS)}", number)
        if row.get("predicate_modifier") != "Not":
            parts = (row[name].partition(":") for name in ("subject_id", "object_id"))
            one, other = (f"{iris.get(prefix, prefix + colon)}{code}" for prefix, colon, code in parts)
            content.add_xref(content.own(one), other, kind)
    return content


def read_icd_order(file: Path) -> Content:
    """Read the codes and titles of ICD-10-CM; a code is below the longest other one with which it begins.

    Raises:
        InputError: a line is not of the published layout.
    """
    content = Content(file, "ICD10CM", (re.findall(r"\d{4}", file.name) or [None])[0])
    codes: set[str] = set()
    for number, line in enumerate(_lines(file), 1):
        match = ORDER.fullmatch(line.rstrip())
        if match is None:
            raise malformed(file, "a line of another layout", "icd10cm-order-YYYY.txt of CMS", number)
        _, code, _, short, title = match.groups()
        id = _icd(code)
        content.add_class(id, title.strip() or short.strip())
        if title.strip() and short.strip() != title.strip():
            content.add_synonym(id, short.strip(), "abbreviation")
        above = next((code[:end] for end in range(len(code) - 1, 2, -1) if code[:end] in codes), None)
        if above:
            content.add_relation(id, "isa", _icd(above))
        codes.add(code)
    return content


def _icd(code: str) -> str:
    return f"ICD10CM:{code[:3]}.{code[3:]}".rstrip(".")


def _lines(file: Path) -> list[str]:
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise malformed(file, "no UTF-8", "a text in UTF-8") from error
    if line := next((number for number, text in enumerate(lines, 1) if len(text) > LONGEST), None):
        raise malformed(file, "a line without end", f"lines of at most {LONGEST:,} characters", line)
    return lines
