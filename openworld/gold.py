"""The truth about a note: one line of ``truth/notes.jsonl.gz``."""

from __future__ import annotations

from typing import Any

from openworld.notes import Note
from openworld.notetext import Mention
from openworld.world import Knowledge

__all__ = ["gold_note"]

TYPE_OF_KIND = {"disorder": "disorder", "finding": "finding", "procedure": "procedure"}
TYPE_OF_TERM = {"T121": "drug", "T184": "finding", "T033": "finding", "T060": "procedure", "T061": "procedure"}


def _gold_type(known: Knowledge, concept: str) -> str:
    named = known.concepts[concept]
    if named.kind == "term":
        return TYPE_OF_TERM[named.types[0]]
    return TYPE_OF_KIND.get(named.kind, "drug")


def _gold_mention(known: Knowledge, text: str, mention: Mention, names: dict[str, str]) -> dict[str, Any]:
    written = text[mention.start : mention.end]
    cui = known.concepts[mention.concept].cui
    return {
        "text": written,
        "occurrence": text.count(written, 0, mention.start) + 1,
        "concept": mention.concept,
        "type": _gold_type(known, mention.concept),
        "section": mention.section,
        "assertion": mention.assertion,
        "start": mention.start,
        "end": mention.end,
        "cui": cui,
        "surface_cui": names.get(mention.written.lower(), cui),
    }


def gold_note(
    known: Knowledge, note_id: str, key: tuple[int, int], note: Note, names: dict[str, str]
) -> dict[str, Any]:
    """Return one line of notes.jsonl: mentions with offsets, the links that the note states, coded items it omits."""
    links = list(dict.fromkeys((link.head, link.predicate, link.tail, link.evidence) for link in note.links))
    return {
        "note_id": note_id,
        "subject_id": key[0],
        "hadm_id": key[1],
        "mentions": [_gold_mention(known, note.text, mention, names) for mention in note.mentions],
        "treats": [
            {"drug": head, "disorder": tail, "evidence": evidence}
            for head, predicate, tail, evidence in links
            if predicate == "treats"
        ],
        "links": [
            {
                "head": head,
                "predicate": predicate,
                "tail": tail,
                "head_cui": known.concepts[head].cui,
                "tail_cui": known.concepts[tail].cui,
                "evidence": evidence,
            }
            for head, predicate, tail, evidence in links
        ],
        "code_present_note_silent": note.silent,
    }
