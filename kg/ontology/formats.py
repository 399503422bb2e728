"""Tell which format a file of an ontology has, by its name and its first element, and read it."""

from __future__ import annotations

import re
from pathlib import Path

from ground.settings import LoadSettings
from kg.ontology.content import Content, malformed
from kg.ontology.obo import read_obo
from kg.ontology.rdf import read_rdf
from kg.ontology.tabular import read_icd_order, read_sssom
from kg.ontology.xmlfiles import read_medrt, read_mesh, root_of

__all__ = ["read_ontology"]

FORMATS = (
    "OBO (.obo), OBO graphs (.json), OWL (.owl), SKOS or RDF (.ttl, .nt, .rdf), SSSOM (.sssom.tsv), MED-RT or MeSH "
    "descriptors (.xml), icd10cm-order-YYYY.txt"
)


def read_ontology(file: Path, settings: LoadSettings) -> Content:
    """Read a file of an ontology.

    Raises:
        InputError: its format is none that is known, or it cannot be read.
    """
    name = file.name.lower().removesuffix(".gz")
    if name.endswith((".obo", ".json", ".owl")):
        return read_obo(file)
    if name.endswith((".ttl", ".nt", ".rdf")):
        return read_rdf(file, settings)
    if name.endswith(".tsv"):
        return read_sssom(file)
    if re.fullmatch(r"icd10cm[-_]?order.*\.txt", name):
        return read_icd_order(file)
    if name.endswith(".xml"):
        root = root_of(file)
        if root == "terminology":
            return read_medrt(file)
        if root == "DescriptorRecordSet":
            return read_mesh(file)
        raise malformed(file, f"XML that begins with <{root}>", FORMATS)
    raise malformed(file, "a name with none of these endings", FORMATS)
