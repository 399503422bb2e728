"""The Python door: what the verbs show of a workspace, as objects. It reads only; a call closes what it opens.

The examples are of the demo, ``w`` is ``ontoground.open("work/demo")``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ground.errors import InputError, UsageError

if TYPE_CHECKING:
    import networkx
    import polars
    import pyarrow
    import rdflib

    from builders.assess.judge import Assessed
    from ehr.reading import TextReader
    from ground.storage.workspace import Workspace
    from kg.export import Part
    from kg.graph import ConceptGraph
    from ontoground.views.predictions import Device

__all__ = ["Answer", "Card", "Exports", "Notes", "OpenWorkspace", "Relations", "Row", "open_workspace", "read_text"]

SHOWN = 100
"""Rows of an answer that a notebook shows."""
MOST_CONCEPTS = 200_000
"""Concepts of a part of the graph that is made in memory."""
DATASETS = ("medieval", "medhal", "medval")
HIGH = 600
"""Most pixels of a frame in a notebook; what is longer is scrolled."""


def open_workspace(folder: str | Path | None = None) -> OpenWorkspace:
    """Open a workspace to look into it: without a folder the one that the verbs take, ONTOGROUND_WORKSPACE or ./work.

    Raises:
        InputError: the folder holds no warehouse.
    """
    from ground.storage.workspace import Workspace

    folder = os.environ.get("ONTOGROUND_WORKSPACE", "work") if folder is None else folder
    _require((str, Path), folder=folder)
    return OpenWorkspace(Workspace.existing(Path(folder)))


def read_text(text: str, workspace: OpenWorkspace | str | Path) -> Notes:
    """Read any text with the names of a workspace's release: sections, mentions, assertion, certainty.

    A workspace that is open keeps its reader. The first text builds what later processes map from `cache/`.

    >>> ontoground.read_text("Denies chest pain. She takes lisinopril 10 mg daily.", w)
    unknown: 'chest pain' absent, certain ['C9910002']
    unknown: 'lisinopril' present, certain ['C9950001']
    """
    opened = workspace if isinstance(workspace, OpenWorkspace) else open_workspace(workspace)
    return opened.read_text(text)


@dataclass(frozen=True)
class Answer:
    """The rows of a query."""

    table: pyarrow.Table

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def arrow(self) -> pyarrow.Table:
        """Return the rows as an Arrow table."""
        return self.table

    def pl(self) -> polars.DataFrame:
        """Return the rows as a Polars frame; `UsageError` where it holds no such columns."""
        import polars

        try:
            return polars.DataFrame(self.table)
        except polars.exceptions.PolarsError as error:
            do = "give each column a name of its own, or cast it in the query; `arrow()` holds any"
            what = "Polars has no frame of these columns"
            raise UsageError(what, found=", ".join(self.table.column_names), do=do) from error

    def df(self) -> Any:
        """Return the rows as a pandas frame, where pandas is installed."""
        return self.table.to_pandas()

    def __repr__(self) -> str:
        return repr(self.pl())

    def _repr_html_(self) -> str:
        return str(self.pl().head(SHOWN)._repr_html_())


class Card(dict[str, Any]):
    """A concept: cui, name, types, groups, names, neighbours by predicate (docs/schemas/graph-show.json)."""

    def __repr__(self) -> str:
        lines = [f"{self['cui']} {self['name']} ({'; '.join(self['types'])})"]
        lines += [f"  {near['words']} ... ({near['predicate']}, {near['n']:,})" for near in self["neighbours"]]
        return "\n".join(lines)


class Row(dict[str, Any]):
    """A row and what it rests on: label, says, why, evidence, group (docs/schemas/explain.json)."""

    def __repr__(self) -> str:
        return "\n".join((f"{self['label']}  {self['says']}", *(f"    {line}" for line in self["why"])))

    def _repr_html_(self) -> str | None:
        if not _can_draw():
            return None
        from ontoground.pages.render import in_notebook

        return in_notebook("notebook_row.html", HIGH, row=self)


class Relations(tuple[dict[str, Any], ...]):
    """What relates two concepts, the strongest tier first (``relations`` of docs/schemas/graph-relations.json).

    What is shown leaves out plausible relations beside stronger ones, as the verb does.
    """

    names: dict[str, str]
    """The name of each concept of the paths."""

    def __repr__(self) -> str:
        from ontoground.views.concepts import evidence_of, strong

        lines, shown = [], strong(self)
        for relation in shown:
            lines.append(
                f"{relation['sentence']} ({relation['tier']}, {relation['hops']} hops, by {relation['pattern']})"
            )
            lines += [f"    {edge['words']} [{evidence_of(edge)}]" for edge in relation["path"]]
        if more := len(self) - len(shown):
            lines.append(f"and {more} plausible, too weak to make a statement true: list(...) has all")
        return "\n".join(lines) or "no relation"

    def _repr_html_(self) -> str | None:
        if not _can_draw():
            return None
        from ontoground.pages.pictures import path_picture
        from ontoground.pages.render import in_notebook
        from ontoground.views.concepts import strong

        names = self.names.__getitem__
        drawn = [{**relation, "picture": path_picture(relation["path"], names)} for relation in strong(self)]
        high, more = min(60 + 130 * len(drawn), HIGH), len(self) - len(drawn)
        return in_notebook("notebook_relations.html", high, relations=drawn, more=more)


class Notes(tuple[dict[str, Any], ...]):
    """Texts with their sections and mentions (``notes`` of docs/schemas/notes-mentions.json)."""

    __slots__ = ()

    @property
    def mentions(self) -> list[dict[str, Any]]:
        """The mentions of all of them."""
        return [mention for note in self for mention in note["mentions"]]

    def __repr__(self) -> str:
        lines = (
            f"{mention['section']}: {' '.join(mention['text'].split())!r}"
            f" {mention['assertion']}, {mention['certainty']} {mention['cuis']}"
            for mention in self.mentions
        )
        return "\n".join(lines) or "no mention"

    def html(self) -> str:
        """Return a page that shows the texts marked, as the note page of `ontoground explore` does; needs `pages`."""
        from ontoground.pages.render import alone

        return alone("notebook_note.html", **self._drawn())

    def _repr_html_(self) -> str | None:
        if not _can_draw():
            return None
        from ontoground.pages.render import in_notebook

        height = min(140 + 24 * sum(note["text"].count("\n") + 2 for note in self), HIGH)
        return in_notebook("notebook_note.html", height, **self._drawn())

    def _drawn(self) -> dict[str, Any]:
        from ontoground.pages.marks import assertions_of, marked

        return {"notes": marked(self), "assertions": assertions_of(self)}


EXPECTED = {
    str: "text",
    Integral: "a whole number",
    (str, Path): "a path",
    Iterable: 'a list, as ["hypertension"]',
    (tuple, list): "a pair of a note and a statement",
}


def _require(kind: Any, **arguments: object) -> None:
    """Refuse arguments of another type, and words with a NUL or half of a character, which no query can hold.

    Raises:
        UsageError: an argument is none of this kind.
    """
    expected = EXPECTED[kind]
    for name, value in arguments.items():
        if not isinstance(value, kind) or (kind is Iterable and isinstance(value, str)):
            raise UsageError(f"{name} is of another type", found=type(value).__name__, expected=expected)
        if isinstance(value, Integral) and abs(int(value)) >= 2**63:
            raise UsageError(f"{name} is beyond 64 bits", expected=expected)
        # A text to be read may hold any character.
        if isinstance(value, str) and name != "text" and re.search(r"[\0\ud800-\udfff]", value):
            raise UsageError(f"{name} has a NUL or half of a character", expected=expected)


def _require_count(**arguments: object) -> None:
    """Refuse what is no whole number from 0."""
    _require(Integral, **arguments)
    for name, value in arguments.items():
        if value < 0:  # type: ignore[operator]
            raise UsageError(f"{name} is below 0", found=str(value), expected="a whole number from 0")


def _can_draw() -> bool:
    """Tell whether notebooks can show more than text: the templates need the extra `pages`."""
    from importlib.util import find_spec

    return find_spec("jinja2") is not None


@dataclass(frozen=True)
class Exports:
    """Parts of a workspace's graph as objects of the field's own libraries; `ontoground graph export` writes all of it.

    Concepts are CUIs or exact names. With ``hops``, others so many edges away belong to the part, with ``predicates``
    (either direction's name) only their edges; without ``concepts`` it is every edge of the predicates.
    """

    workspace: Workspace

    def to_networkx(
        self, predicates: Sequence[str] | None = None, concepts: Sequence[str] | None = None, hops: int = 1
    ) -> networkx.MultiDiGraph:
        """Return a part of the graph for networkx, with evidence (``sab``, ``rela``, ``rui``) on its edges.

        ``networkx.draw(part, labels=dict(part.nodes(data="name")))`` draws it.

        >>> part = w.graph.to_networkx(["treats"], ["hypertension"])
        >>> {predicate for _, _, predicate in part.edges(keys=True)}
        {'treats'}
        """
        from kg.export import to_networkx

        return to_networkx(*self._part(predicates, concepts, hops))

    def to_rdf(
        self, predicates: Sequence[str] | None = None, concepts: Sequence[str] | None = None, hops: int = 1
    ) -> rdflib.Graph:
        """Return a part of the graph for rdflib, which answers SPARQL, with the prefixes skos, umls, kg and biolink.

        >>> part = w.graph.to_rdf(concepts=["hypertension"])
        >>> len(part.query("select ?drug where { ?drug kg:treats [ skos:prefLabel 'hypertension'@en ] }")) > 0
        True
        """
        from kg.export import to_rdf
        from ontoground.flow.session import reading
        from ontoground.views.concepts import semantic_types

        graph, part = self._part(predicates, concepts, hops)
        with reading(self.workspace) as connection:
            return to_rdf(graph, part, semantic_types(connection))

    def _part(
        self, predicates: Sequence[str] | None, concepts: Sequence[str] | None, hops: int
    ) -> tuple[ConceptGraph, Part]:
        from kg.export import part_of
        from kg.graph import ConceptGraph
        from ontoground.flow.session import reading
        from ontoground.views.concepts import resolve

        for name, given in (("predicates", predicates), ("concepts", concepts)):
            if given is not None:
                _require(Iterable, **{name: given})
                _require(str, **{f"{name}[{n}]": one for n, one in enumerate(given)})
        _require_count(hops=hops)
        with reading(self.workspace) as connection:
            cuis = None if concepts is None else [resolve(connection, concept) for concept in concepts]
        graph = ConceptGraph.open(self.workspace.graph)
        part = part_of(graph, cuis, hops, predicates)
        if (n := len(graph) if part.nodes is None else len(part.nodes)) > MOST_CONCEPTS:
            raise UsageError(
                "this part of the graph is too large to be made in memory",
                found=f"{n} concepts",
                expected=f"at most {MOST_CONCEPTS}",
                do="ask for less, or write it with `ontoground graph export`",
            )
        return graph, part


@dataclass(frozen=True)
class OpenWorkspace:
    """A workspace; nothing stays open between two calls."""

    workspace: Workspace

    def __repr__(self) -> str:
        return f"ontoground.open({str(self.workspace.root)!r})"

    def sql(self, query: str, **wanted: object) -> Answer:
        """Return the rows of a named query, or of a select of your own (as `ontoground sql` takes it).

        Args:
            query: its name, or a select.
            wanted: by column what the rows must have.

        >>> w.sql("coverage_by_volume", source_table="diagnoses_icd").pl().columns
        ['source_table', 'n_rows', 'mapped_rows', 'share']
        >>> w.sql("select count(*) > 0 as some from kg.concept").df()
           some
        0  True
        """
        from ontoground.views.query import exploring, fetch_table, query_text

        _require(str, query=query)
        filters = [f"{column}={value}" for column, value in wanted.items()]
        text = query_text(query, None, filters) if query.isidentifier() else query_text(None, query, filters)
        with exploring(self.workspace) as connection:
            return Answer(fetch_table(connection, text))

    def concept(self, concept: str, limit: int = 8) -> Card:
        """Return what is known of a concept, given by CUI or exact name, with so many neighbours of each predicate.

        >>> card = w.concept("hypertension", limit=2)
        >>> card["cui"], card["types"]
        ('C9900047', ['Disease or Syndrome'])
        >>> [one["words"] for one in card["neighbours"]][-2:]
        ['hypertension may be treated by', 'hypertension is part of']
        """
        from kg.graph import ConceptGraph
        from ontoground.flow.session import reading
        from ontoground.views.concepts import card_of, resolve

        _require(str, concept=concept)
        _require_count(limit=limit)
        with reading(self.workspace) as connection:
            cui = resolve(connection, concept)
            return Card(card_of(connection, ConceptGraph.open(self.workspace.graph), cui, limit))

    def relations(self, head: str, tail: str, max_hops: int = 3, paths: int = 3) -> Relations:
        """Return what the graph says from one concept to another; ``paths`` of each pattern, 0 for all.

        A notebook shows each path as a picture.

        >>> first, *_ = w.relations("lisinopril", "hypertension")
        >>> first["sentence"], first["tier"], [edge["words"] for edge in first["path"]]
        ('lisinopril treats hypertension', 'inherited',
         ['lisinopril is a type of ACE inhibitor', 'ACE inhibitor treats hypertension'])
        """
        from kg.graph import ConceptGraph
        from ontoground.flow.session import reading
        from ontoground.views.concepts import relations_between, resolve

        _require(str, head=head, tail=tail)
        _require_count(max_hops=max_hops, paths=paths)
        with reading(self.workspace) as connection:
            first, second = (resolve(connection, end) for end in (head, tail))
        graph = ConceptGraph.open(self.workspace.graph)
        relations = Relations(relations_between(graph, first, second, max_hops, paths))
        cuis = {edge[end] for relation in relations for edge in relation["path"] for end in ("head_cui", "tail_cui")}
        relations.names = {cui: graph.name(cui) for cui in sorted(cuis)}
        return relations

    def note(self, hadm_id: int) -> Notes:
        """Return the discharge summaries of an admission with their sections and mentions.

        A notebook shows them marked.

        >>> (note,) = w.note(95000007)
        >>> note["mentions"][0]["text"], note["mentions"][0]["assertion"]
        ('Hypoxia', 'present')
        """
        from ontoground.flow.session import reading
        from ontoground.views.notes import admission_notes

        _require(Integral, hadm_id=hadm_id)
        with reading(self.workspace) as connection:
            return Notes(admission_notes(connection, int(hadm_id), with_mentions=True))

    def statements(self, dataset: str = "medieval", **wanted: Any) -> polars.LazyFrame:
        """Return a built dataset's rows whose columns have these values (a list: one of them), not yet read.

        ``medieval_contradicted`` are the rows of MediEval's configuration `contradicted`;
        ``datasets.load_dataset(str(w.workspace.dataset("medieval")))`` opens the same files by split.

        >>> w.statements(quadrant="Q3").select("is_true", "is_supported").unique().collect().rows()
        [(False, True)]

        Raises:
            InputError: the dataset is not built.
            UsageError: it has no such column, or one of few values (quadrant, predicate, split) never has this one.
        """
        import polars

        from ontoground.flow.status import row_files

        _require(str, dataset=dataset)
        files = row_files(self.workspace, dataset)
        if not files:
            built = dataset.partition("_")[0]
            if built not in DATASETS:
                raise UsageError("there is no dataset of this name", found=dataset, expected=", ".join(DATASETS))
            raise InputError(
                "this dataset is not built", file=self.workspace.dataset(built), do=f"ontoground build {built}"
            )
        rows = polars.scan_parquet(files, glob=False)
        schema = rows.collect_schema()
        for name in wanted:
            if name not in schema:
                near = get_close_matches(name, schema, n=1) or schema
                raise UsageError("the dataset has no such column", found=name, expected=", ".join(near))
        choices = self._choices(dataset.partition("_")[0]) if wanted else {}
        for name, value in wanted.items():
            values = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
            known = (*choices.get(name, values), None)
            if unknown := [value for value in values if value not in known]:
                # An older build may have values that are none today.
                there = rows.select(name).unique().collect().to_series().drop_nulls().sort().to_list()
                if absent := ", ".join(str(value) for value in unknown if value not in there):
                    raise UsageError(f"{name} has no such value", found=absent, expected=", ".join(map(str, there)))
            try:
                these = polars.Series(list(values), dtype=schema[name])
            except (TypeError, OverflowError, polars.exceptions.PolarsError) as error:
                what = f"{name} is never of this kind"
                raise UsageError(what, found=type(value).__name__, expected=str(schema[name])) from error
            rows = rows.filter(polars.col(name).is_in(these.implode()))
        return rows

    def _choices(self, dataset: str) -> dict[str, tuple[Any, ...]]:
        """Return the values of the columns of a dataset that have only so many."""
        from ground.contracts.rows import MedievalRow, choices_of
        from ground.contracts.rows_text import MedhalRow, MedvalRow
        from kg.predicates import read_vocabulary

        lines = read_vocabulary(own=self.workspace.rules).predicates
        predicates = (name for line in lines for name in (line.predicate, line.inverse))
        kinds = {"medieval": MedievalRow, "medhal": MedhalRow, "medval": MedvalRow}
        rows = choices_of(kinds[dataset]) if dataset in kinds else {}
        return {**rows, "predicate": tuple(predicates)}

    @property
    def graph(self) -> Exports:
        """The graph for networkx, rdflib and SPARQL."""
        return Exports(self.workspace)

    def explain(self, row: str) -> Row:
        """Return what a row of a built dataset rests on; a notebook shows it with the note around its mentions.

        >>> row = w.statements(quadrant="Q3").select("id").head(1).collect().item()
        >>> w.explain(row)["label"]
        'Q3'
        """
        from ontoground.views.row import explained

        _require(str, row=row)
        return Row(explained(self.workspace, row))

    def predict(self, model: str | Path, note: str, *statements: str, device: Device = "auto") -> dict[str, Any]:
        """Ask a trained run about statements in the context of a note (docs/schemas/predict.json); extra `training`.

        Args:
            model: the run's folder.
            note: a text.
            statements: sentences as those of the dataset that the run was trained on.
            device: where the model works.
        """
        from ontoground.views.predictions import predict_statements

        _require((str, Path), model=model)
        _require(str, text=note, **{f"statement {n}": statement for n, statement in enumerate(statements)})
        return predict_statements(Path(model), note, statements, self.workspace, device)

    def assess(self, note: str, *statements: str) -> list[Assessed]:
        """Return which quadrant statements about a note are in, or why it cannot be told; nothing is trained.

        Each answer has its reasons, the path and the words of the note (docs/schemas/assess.json).

        >>> (answer,) = w.assess("Hypertension, controlled on lisinopril.", "Lisinopril treats hypertension.")
        >>> answer.quadrant, [end["said"] for end in answer.ends]
        ('Q1', ['attested', 'attested'])
        """
        return self.assess_all([(note, statement) for statement in statements])

    def assess_all(self, pairs: Iterable[tuple[str, str]]) -> list[Assessed]:
        """Return the same of many pairs of a note and a statement, which are looked at together."""
        from builders.assess.judge import assess
        from ontoground.flow.session import reading

        _require(Iterable, pairs=pairs)
        pairs = list(pairs)
        for n, pair in enumerate(pairs):
            _require((tuple, list), **{f"pair {n}": pair})
            if len(pair) != 2:
                raise UsageError(f"pair {n} is none", found=f"{len(pair)} values", expected=EXPECTED[tuple, list])
            _require(str, text=pair[0], **{f"statement {n}": pair[1]})
        notes = list(dict.fromkeys(note for note, _ in pairs))
        place = {note: number for number, note in enumerate(notes)}
        asked = [(place[note], statement) for note, statement in pairs]
        reader, graph = self.reader, self._graph
        with reading(self.workspace) as connection:
            return assess(connection, self.workspace, reader, graph, notes, asked)

    def read_text(self, text: str) -> Notes:
        """Read any text: sections, mentions, what is asserted of them, and how sure that is from the text alone.

        Mentions have the columns of those of ``note``.

        >>> [(one["text"], one["assertion"]) for one in w.read_text("Father had gout.").mentions]
        [('gout', 'family')]
        """
        _require(str, text=text)
        read, graph = self.reader.read(text), self._graph
        mentions = [
            {
                "begin_offset": mention.begin,
                "end_offset": mention.end,
                "text": mention.text,
                "cuis": list(mention.cuis),
                "concepts": "; ".join(f"{cui} {graph.name(cui)}" for cui in sorted(mention.cuis) if cui in graph)
                or None,
                "assertion": str(mention.assertion),
                "section": mention.section,
                "certainty": "unsure" if mention.unsure else "certain",
                "reasons": list(mention.unsure),
            }
            for mention in read.mentions
        ]
        sections = [
            {
                "section": section.section,
                "header": section.header,
                "begin_offset": section.begin,
                "end_offset": section.end,
            }
            for section in read.sections
        ]
        return Notes([{"note_id": None, "text": text, "sections": sections, "mentions": mentions}])

    @cached_property
    def _graph(self) -> ConceptGraph:
        from kg.graph import ConceptGraph

        return ConceptGraph.open(self.workspace.graph)

    @cached_property
    def reader(self) -> TextReader:
        """What reads texts with the names of the release, made when first asked for."""
        from ehr.reading import TextReader
        from ontoground.flow.session import reading

        with reading(self.workspace) as connection:
            return TextReader.open(connection, self.workspace.settings.notes, self.workspace.rules)
