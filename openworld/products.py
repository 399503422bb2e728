"""RxNorm's view of the world's drugs: clinical and branded drugs with strengths, dose forms and NDCs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ground.stable import stable_unit
from openworld.world import CONTENT_SEED, CUI_BASE, Drug, Knowledge

__all__ = ["Catalogue", "Product", "catalogue", "rxcui"]

FORMS = {
    "PO": "Oral Tablet",
    "SL": "Sublingual Tablet",
    "IV": "Injectable Solution",
    "IM": "Injectable Solution",
    "SC": "Injectable Solution",
    "IH": "Metered Dose Inhaler",
    "NEB": "Inhalation Solution",
    "TD": "Transdermal System",
    "OU": "Ophthalmic Solution",
    "TP": "Topical Cream",
    "PR": "Rectal Suppository",
}
LIQUID_UNITS = {"mL": "Oral Solution", "g": "Oral Powder", "packet": "Oral Powder"}
UNITS = {"units": "UNT", "million": "MUNT", "puffs": "ACTUAT", "puff": "ACTUAT"}
WITH_NDC = 0.85
"""Share of products whose NDC the release knows; the others are found by name only."""


@dataclass(frozen=True, slots=True)
class Product:
    """A product of a drug: SCD, SBD, SCDC, SCDF or DF. ``ndc`` has 11 digits, or is empty."""

    cui: str
    name: str
    tty: str
    drug: str
    amount: str = ""
    ndc: str = ""
    known_ndc: bool = False


class Catalogue:
    """All products, and their relations as (head, predicate, tail) by name."""

    def __init__(self, products: tuple[Product, ...], relations: tuple[tuple[str, str, str], ...]) -> None:
        self.products = products
        self.relations = relations
        self._orderable: dict[str, list[Product]] = {}
        for product in products:
            if product.tty in ("SCD", "SBD"):
                self._orderable.setdefault(product.drug, []).append(product)

    def orderable(self, drug: str) -> list[Product]:
        """Return the clinical and branded drugs that a pharmacy can send for a drug."""
        return self._orderable.get(drug, [])


def rxcui(cui: str) -> str:
    """Return the RXCUI of a concept: the digits of its CUI."""
    return cui[1:]


def _form(drug: Drug) -> str:
    liquid = LIQUID_UNITS.get(drug.unit, "") if drug.route == "PO" else ""
    return liquid or FORMS[drug.route]


def _strength(amount: str, unit: str) -> str:
    return f"{amount} {UNITS.get(unit, unit.upper())}"


class _Builder:
    def __init__(self, known: Knowledge) -> None:
        self.known = known
        self.products: dict[str, Product] = {}
        self.relations: dict[tuple[str, str, str], None] = {}

    def product(self, name: str, tty: str, drug: str = "", amount: str = "") -> str:
        if name not in self.products:
            number = len(self.products) + 1
            cui = f"C99{CUI_BASE['product'] + number:05d}"
            ndc = f"09{number % 1000:03d}{number:04d}01" if tty in ("SCD", "SBD") else ""
            known = bool(ndc) and stable_unit(CONTENT_SEED, name, "ndc") <= WITH_NDC
            self.products[name] = Product(cui, name, tty, drug, amount, ndc, known)
        return name

    def relate(self, head: str, predicate: str, tail: str) -> None:
        self.relations[head, predicate, tail] = None

    def drug(self, drug: Drug) -> None:
        form = self.product(_form(drug), "DF")
        scdf = self.product(f"{drug.name} {form}", "SCDF", drug.name)
        for part in drug.ingredients:
            self.relate(scdf, "has_ingredient", part)
        for amount in drug.doses:
            self._strength(drug, amount, form, scdf)

    def _strength(self, drug: Drug, amount: str, form: str, scdf: str) -> None:
        amounts = amount.split("-") if len(drug.ingredients) > 1 else [amount]
        if len(amounts) != len(drug.ingredients):
            amounts = [amounts[0]] * len(drug.ingredients)
        parts = []
        for ingredient, each in zip(drug.ingredients, amounts, strict=True):
            part = self.product(f"{ingredient} {_strength(each, drug.unit)}", "SCDC", ingredient, each)
            self.relate(part, "has_ingredient", ingredient)
            parts.append(part)
        clinical = self.product(f"{' / '.join(parts)} {form}", "SCD", drug.name, amount)
        self.relate(clinical, "rx_is_a", scdf)
        self.relate(clinical, "dose_form", form)
        for part in parts:
            self.relate(clinical, "consists_of", part)
        for salt in drug.salts[:1]:
            self.relate(parts[0], "precise_ingredient", salt)
        for brand in drug.brands:
            branded = self.product(f"{clinical} [{brand}]", "SBD", drug.name, amount)
            self.relate(branded, "tradename_of", clinical)
            self.relate(branded, "has_ingredient", brand)
            self.relate(branded, "dose_form", form)


@lru_cache(maxsize=2)
def catalogue(known: Knowledge) -> Catalogue:
    """Make all products of a world; their CUIs and NDCs follow from the order of the tables."""
    builder = _Builder(known)
    for drug in known.drugs.values():
        builder.drug(drug)
    return Catalogue(tuple(builder.products.values()), tuple(builder.relations))
