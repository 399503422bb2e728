"""Labels that are names (letters, yes and no): found by looking, and shown before they are taken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ground.contracts.labels import LabelKind, parse_label
from ground.errors import UsageError
from stewardship.benchmark.folder import LABELS
from stewardship.benchmark.tables import LabelTable

__all__ = ["FOUND", "chosen_categories", "possible_codes"]

FOUND = "found"
"""Asks for the names that stand in the table."""
FEW, OFTEN = 10, 5
"""Numbers at most, and how often each on average, that may be codes."""
MOST = 50
"""Names from which on labels are text rather than names."""


def chosen_categories(tables: Sequence[LabelTable], given: str | None) -> tuple[str, ...]:
    """Return the names that labels can be, in order; none where they are numbers, dates and abstentions.

    Args:
        given: names by commas; ``found``: those that the original labels are; None: labels are said to be no names.

    Raises:
        UsageError: labels are names and none were given; most labels are none of those given, or nothing that is known;
            there are no names, or too many.
    """
    labels = _labels(tables)
    names = Counter({text: count for text, count in labels.items() if text[0].isalpha()})
    total = labels.total()
    if given is None:
        few = len(names) <= MOST and 2 * len(names) <= total
        if total and few and 2 * names.total() > total:
            raise UsageError(
                "the labels are names, and the allowed names are not given",
                found=_counted(names),
                expected=f"--categories {','.join(sorted(names))}, or --categories {FOUND} for just these",
            )
        categories: tuple[str, ...] = ()
    elif given.strip() == FOUND:
        if not names or len(names) > MOST:
            raise UsageError(
                "the labels are no names" if not names else "the labels are too many names",
                found=f"{len(names):,} names in {total:,} labels",
                expected=f"1 to {MOST} names",
            )
        categories = tuple(sorted(names))
    else:
        categories = _named(given)
    unread = sum(count for text, count in labels.items() if _kind(text, categories) is LabelKind.UNPARSEABLE)
    if 2 * unread > total:
        raise UsageError(
            "most labels cannot be read",
            found=f"{unread:,} of {total:,}",
            expected=f"one of {', '.join(categories)}" if categories else "numbers, dates, weeks and days, or N/A",
            do="name the right column with --column label=NAME, or the names that labels can be with --categories",
        )
    return categories


def possible_codes(tables: Sequence[LabelTable]) -> tuple[str, ...]:
    """Return the original labels where they may be codes of categories rather than points of a score.

    That is: all are a few whole numbers, each often there, and no table names a type of output. It is for a person to
    say; agreement forgives a point of a score, and of a code none.
    """
    labels = _labels(tables)
    words = all(text.isdecimal() for text in labels) and len(labels) <= FEW
    if (
        not words
        or labels.total() < OFTEN * len(labels)
        or any("output_type" in table.frame.columns for table in tables)
    ):
        return ()
    return tuple(sorted(labels, key=int))


def _labels(tables: Sequence[LabelTable]) -> Counter[str]:
    """Count the original labels, all where no table has such, without what is empty or abstains; first spellings."""
    columns = [(table, name) for table in tables for name in LABELS if name in table.frame.columns]
    original = [(table, name) for table, name in columns if LABELS[name] == "original"]
    spelt: dict[str, str] = {}
    labels: Counter[str] = Counter()
    for table, name in original or columns:
        for text in table.frame[name].drop_nulls().str.strip_chars():
            if text and _kind(text, ()) is not LabelKind.ABSTENTION:
                labels[spelt.setdefault(text.casefold(), text)] += 1
    return labels


def _named(given: str) -> tuple[str, ...]:
    names = [name.strip() for name in given.split(",")]
    if not all(names) or len({name.casefold() for name in names}) < len(names):
        raise UsageError(
            "--categories cannot be read", found=given, expected="names separated by commas, each once, such as A,B,C"
        )
    if abstains := [name for name in names if _kind(name, ()) is LabelKind.ABSTENTION]:
        raise UsageError("a name is also the name of an abstention", found=abstains[0], expected="another name")
    return tuple(names)


def _kind(text: str, categories: Sequence[str]) -> LabelKind:
    return parse_label(text, categories=categories).kind


def _counted(names: Counter[str]) -> str:
    return ", ".join(f"{name[:30]} ({count:,})" for name, count in names.most_common(10)) + (
        f" and {len(names) - 10} more" if len(names) > 10 else ""
    )
