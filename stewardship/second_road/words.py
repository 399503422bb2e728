"""Names and texts brought to one form, and names looked for in texts; a form of our own, apart from that of ehr."""

from __future__ import annotations

import polars as pl

__all__ = ["find_names", "sentences", "spellings", "unglued", "words"]

SENTENCE_ENDS = (
    # A short line is an entry of a list; running text is wrapped later.
    (r"(?m)^(.{1,45})$", "${1} | "),
    # A mark before white space, an empty line, a line that begins with a list mark.
    (r"[.;:!?](\s|$)|\n[ \t]*\n|\n[ \t]*([-#*\x{2022}]|\d+[.)])", " | "),
)


def words(column: str) -> pl.Expr:
    """Return the words of texts in small letters without accents: letters and figures, a blank between two of them."""
    # A blank alone stays as it is: most are.
    return pl.col(column).str.replace_all("[^a-z0-9 ][^a-z0-9]*| [^a-z0-9]+", " ").str.strip_chars(" ")


def unglued(column: str) -> pl.Expr:
    """Return the words with figures or a capital behind three letters or more, in two: "lisinopril 20 0 Toprol XL"."""
    glued = "[A-Za-z]{3,}[0-9][A-Za-z0-9]*|[A-Za-z]{2,}[a-z][A-Z][A-Za-z]*"
    joined = pl.col(column).str.extract_all(glued).list.join(" 0 ")
    return joined.str.replace_all("([a-z])([A-Z])|([A-Za-z])([0-9])", "${1}${3} ${2}${4}")


def sentences(column: str) -> pl.Expr:
    """Return the words of texts without accents, whatever their case, between blanks; ``|`` ends a sentence."""
    text = pl.col(column).str.replace_all("|", " ", literal=True)
    for pattern, mark in SENTENCE_ENDS:
        text = text.str.replace_all(pattern, mark)
    text = text.str.replace_all(",", " , ", literal=True).str.replace_all("[^A-Za-z0-9|,]+", " ")
    return pl.format(" {} ", text.str.strip_chars(" "))


def spellings(named: pl.DataFrame) -> pl.DataFrame:
    """Return names in words with their plurals and singulars, all other columns as they are."""
    name = pl.col("name")
    plural = named.filter(name.str.contains("[a-rt-z]$")).with_columns(name + "s")
    singular = named.filter(name.str.contains("[a-z][^sui]s$"), name.str.len_chars() >= 5)
    return pl.concat([named, plural, singular.with_columns(name.str.head(-1))]).unique(maintain_order=False)


def find_names(texts: pl.DataFrame, names: pl.Series, *, places: bool = False) -> pl.DataFrame:
    """Return the rows of texts once for each name that they hold as whole words.

    Args:
        texts: *columns* text (words between blanks) and others, which are kept.
        names: in words.
        places: say also where in the text the blank before the name stands.

    Returns:
        ``texts`` and *columns* name, place.
    """
    # To search for many names, they must first be made into one automaton.
    wanted = (" " + names.unique() + " ").implode()
    matched = texts.with_columns(name=pl.col("text").str.extract_many(wanted, overlapping=True))
    if places:
        matched = matched.with_columns(place=pl.col("text").str.find_many(wanted, overlapping=True))
    exploded = matched.explode("name", *(["place"] if places else []))
    return exploded.drop_nulls("name").with_columns(pl.col("name").str.strip_chars(" "))
