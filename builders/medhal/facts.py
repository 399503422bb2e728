"""Our own facts as pairs of claims: MediEval's true and supported statement of a group against one that is not both.

A statement of MediEval alone is judged on two axes; a MedHal row has one label. So each statement also says what the
record holds ("..., and this patient's record documents both X and Y"): then Q1 holds, Q2 fails by the record, Q3 by
medicine, Q4 by both, whoever reads the row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import duckdb

from builders.medhal.extraction import word_table
from builders.medhal.items import Claim, Pair
from builders.medieval.facts import TAXONOMIC
from builders.medieval.wording import statement_of
from builders.texts.edits.model import article_of
from builders.texts.origin import Origin, Tally
from ground import ROOT
from ground.errors import InputError
from ground.storage.sqlfiles import quoted_files, sql_text
from ground.storage.tables import Row, read_table
from ground.storage.warehouse import database_config, open_database
from ground.storage.workspace import Workspace

__all__ = ["SOURCE", "denials", "fact_pairs", "is_counted"]

SOURCE = "mimic"
RECORD_CLAIM = "{statement}, and this patient's record documents both {head} and {tail}."
ROWS_AT_ONCE = 2_000
_PASSING = re.compile(r"[a-z]{3,}(?:ive|ile|uric|ated|etic|emic)", re.IGNORECASE)
_COUNTED = re.compile(
    r".*\b(?:system (?:disorder|disease)|(?!(?:depressive|bipolar|anxiety|panic|mood|stress|personality|psychotic"
    r"|affective|compulsive|adjustment|conduct|eating|use|spectrum|hyperactivity)\b)[a-z]+ disorder)",
    re.IGNORECASE,
)


@cache
def _wordings() -> list[Row]:
    return read_table(ROOT / "builders" / "data" / "fact_denials.tsv", ("predicate", "denial", "sentence", "source"))


@cache
def denials() -> dict[str, str]:
    """Return by predicate the sentence that denies it, with ``{head}`` and ``{tail}``."""
    return {row["predicate"]: row["denial"] for row in _wordings()}


@cache
def _own_sentences() -> dict[str, str]:
    """Return by predicate the sentence that stands in the place of MediEval's, where there is one."""
    return {row["predicate"]: row["sentence"] for row in _wordings() if row["sentence"]}


def _medieval_files(workspace: Workspace) -> list[Path]:
    """Return the Parquet files of the workspace's MediEval dataset.

    Raises:
        InputError: it has not been built.
    """
    folder = workspace.dataset("medieval") / "data"
    files = sorted(folder.glob("*.parquet"))
    if not files:
        raise InputError(
            "there is no MediEval dataset to take facts from",
            file=folder,
            found="no Parquet files",
            expected="the rows of `ontoground build medieval`",
            do="run `ontoground build medieval` first, or leave the source mimic out",
        )
    return files


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:].removesuffix(".") + "."


def _claim(statement: str, head: str, tail: str, says: tuple[str, str]) -> str:
    """Return a statement of MediEval with what the record holds; ``says`` are its words between the ends, and ours."""
    held = {"head": _with_article(head), "tail": _with_article(tail)}
    return RECORD_CLAIM.format(statement=statement.removesuffix(".").replace(*says, 1), **held)


def _with_article(name: str) -> str:
    """Return a name with its article where it names something counted."""
    return f"{article_of(name)} {name}" if is_counted(name) else name


def _between(sentence: str) -> str:
    return sentence.removeprefix("{head}").removesuffix("{tail}")


def _as_documented(name: str, role: str, spans: Sequence[Mapping[str, Any]]) -> str:
    """Return a concept's name, with the words of the record in brackets where they differ."""
    texts = [span["text"] for span in spans if span["role"] == role]
    if not texts or " ".join(texts[0].split()).casefold() == name.casefold():
        return _with_article(name)
    return f'{_with_article(name)} ("{" ".join(texts[0].split())}")'


def _is_overstated(name: str, text: str, context: str) -> bool:
    """Tell whether a name says more than the words that document it.

    Metoprolol tartrate does, documented by metoprolol, and a disease, documented by how a patient is or was for a
    while: hypertensive, febrile.
    """
    if name.lower() not in context.lower() and _PASSING.fullmatch(text):
        return True
    named, written = (set(re.findall(r"[a-z0-9]+", part.lower())) for part in (name, text))
    return named > written and name.lower() not in context.lower()


def _overstates(row: Mapping[str, Any]) -> bool:
    ends = [(row[f"{span['role']}_name"], span["text"]) for span in row["spans"]]
    ends += [(row[f"wrong_{span['role']}_name"], span["text"]) for span in row["wrong_spans"]]
    return any(_is_overstated(name, text, row["context"]) for name, text in ends)


def is_counted(name: str) -> bool:
    """Tell whether a class has a name that is counted, so that it wants an article: not a psychiatric diagnosis.

    >>> is_counted("digestive system disorder"), is_counted("eye disorder"), is_counted("depressive disorder")
    (True, True, False)
    """
    return _COUNTED.fullmatch(name) is not None


def _lacks_article(row: Mapping[str, Any]) -> bool:
    """Tell whether a name would lack its article; "belongs to the class X" needs none, "spasm of liver" does."""
    names = [row[f"{which}{end}_name"] for which in ("", "wrong_") for end in ("head", "tail")]
    names += [name for name in (row["known_head"], row["known_tail"]) if name]
    parts = word_table("region")
    bare = any(" of " in name and name.rpartition(" of ")[2].lower() in parts for name in names)
    return bare or (row["predicate"] not in TAXONOMIC and any(map(is_counted, names)))


def _explanation(row: Mapping[str, Any], sentences: Mapping[str, str]) -> str:
    """Say why the second statement does not hold; the evidence of the two rows supports every part."""
    role = row["replaced_end"]
    kept_role = "tail" if role == "head" else "head"
    put_in, kept = row[f"wrong_{role}_name"], row[f"wrong_{kept_role}_name"]
    documented_original = _as_documented(row[f"{role}_name"], role, row["spans"])
    # A class is documented by what belongs to it, and the first statement names such a member.
    by_member = row["predicate"] in TAXONOMIC and kept_role == "tail"
    documented_kept = (
        _as_documented(kept, role, row["spans"]) if by_member else _as_documented(kept, kept_role, row["wrong_spans"])
    )
    if row["quadrant"] == "Q2":
        documented = documented_original if by_member else f"{documented_kept} and {documented_original}"
        return (
            f"The relation is medically true, but this patient's record does not mention {_with_article(put_in)}. "
            f"It documents {documented}."
        )
    denial = denials()[row["predicate"]].format(head=row["wrong_head_name"], tail=row["wrong_tail_name"])
    template = _own_sentences().get(row["predicate"], sentences[row["predicate"]])
    facts = [statement_of(template, row["head_name"], row["tail_name"])]
    if row["known_head"] is not None:
        facts.insert(0, statement_of(template, row["known_head"], row["known_tail"]))
    if row["quadrant"] == "Q3":
        documented_put_in = _as_documented(put_in, role, row["wrong_spans"])
        first = f"This patient's record documents both {documented_put_in} and {documented_kept}, but {denial}."
    else:
        first = f"This patient's record does not mention {_with_article(put_in)}, and {denial}."
    return " ".join([first, *(_sentence(fact) for fact in facts)])


def _pair(row: Mapping[str, Any], sentences: Mapping[str, str]) -> Pair:
    theirs = sentences[row["predicate"]]
    says = (_between(theirs), _between(_own_sentences().get(row["predicate"], theirs)))
    factual = _claim(row["statement"], row["head_name"], row["tail_name"], says)
    wrong = _claim(row["wrong"], row["wrong_head_name"], row["wrong_tail_name"], says)
    return Pair(
        origin=Origin(
            source=SOURCE,
            inner_id=f"{row['group_id']}-{row['quadrant']}",
            document=str(row["hadm_id"]),
            split=row["split"],
            subject_id=row["subject_id"],
        ),
        context=row["context"],
        factual=Claim(factual, factual=True, explanation=None, synthetic=True, rule="record_fact_q1"),
        wrong=Claim(
            wrong,
            factual=False,
            explanation=_explanation(row, sentences),
            synthetic=True,
            rule=f"record_fact_{row['quadrant'].lower()}",
            # Neither record nor graph is complete: what they lack is not refuted.
            falsity="unsupported",
        ),
    )


def _prepare(scratch: duckdb.DuckDBPyConnection, files: Sequence[Path], seed: int, inverses: Mapping[str, str]) -> None:
    scratch.execute("set variable seed = $seed", {"seed": seed})
    scratch.execute("create temp table predicate_inverse (predicate varchar, inverse varchar)")
    if inverses:
        scratch.executemany("insert into predicate_inverse values (?, ?)", list(inverses.items()))
    scratch.execute(f"create temp view medieval_row as select * from read_parquet({quoted_files(files)})")
    scratch.execute(sql_text("builders/medhal/record_fact"))


def _count(scratch: duckdb.DuckDBPyConnection, tally: Tally) -> None:
    groups, first, kept = scratch.execute(
        "select (select count(distinct group_id) from medieval_row), "
        "(select count(*) from medieval_row as held where quadrant = 'Q1' and exists "
        "(select 1 from medieval_row as other where other.group_id = held.group_id and other.quadrant != 'Q1')), "
        "(select count(*) from record_fact)"
    ).fetchall()[0]
    tally.read[SOURCE] += groups
    for reason, n in (("no_partner", groups - first), ("repeated_statement", first - kept)):
        if n:
            tally.drop(SOURCE, reason, n)


def _why_not(row: Mapping[str, Any], sentences: Mapping[str, str]) -> str | None:
    """Return why two statements give no pair, None where they do."""
    if row["predicate"] not in sentences or row["predicate"] not in denials():
        return "predicate_has_no_denial"
    if _overstates(row):
        return "name_says_more_than_record"
    if _lacks_article(row):
        return "name_lacks_article"
    return "same_statement" if row["statement"] == row["wrong"] else None


def fact_pairs(workspace: Workspace, connection: duckdb.DuckDBPyConnection, tally: Tally) -> Iterator[Pair]:
    """Yield pairs of statements of the workspace's MediEval dataset, by patient and group.

    Each group gives one pair: its Q1 against one of Q2, Q3 and Q4, drawn by a stable hash so that names stand in
    factual statements as often as in others. Every factual statement has one partner and stands once. Q2's explanation
    says what the note lacks and what it holds instead, Q3's that the relation is not known, and what is (a true
    statement of the dataset about the end that was put in, where there is one, and Q1's), Q4's both. The rule of a
    claim names its quadrant.

    Args:
        workspace: its dataset ``medieval`` and its settings are read; nothing is written.
        connection: the warehouse, for the sentences of predicates.
        tally: groups read and left out.

    Raises:
        InputError: the workspace has no MediEval dataset.
    """
    files = _medieval_files(workspace)
    sentences = dict(connection.execute(sql_text("builders/medieval/truth/template")).fetchall())
    inverses = dict(
        connection.execute(
            "select predicate, inverse from kg.predicate where statement = 'both' "
            "union select inverse, predicate from kg.predicate where statement = 'both'"
        ).fetchall()
    )
    # What this database of our own spills stays in the workspace.
    spill = workspace.root / "cache" / "duckdb"
    with closing(open_database(config=database_config(workspace.settings.run, spill))) as scratch:
        _prepare(scratch, files, workspace.settings.build.seed, inverses)
        _count(scratch, tally)
        rows = scratch.sql(
            "select record_fact.*, medieval_row.context from record_fact "
            "inner join medieval_row on record_fact.group_id = medieval_row.group_id and medieval_row.quadrant = 'Q1' "
            "order by record_fact.subject_id, record_fact.group_id"
        )
        for batch in rows.to_arrow_reader(ROWS_AT_ONCE):
            for row in batch.to_pylist():
                reason = _why_not(row, sentences)
                if reason is None:
                    yield _pair(row, sentences)
                else:
                    tally.drop(SOURCE, reason)
