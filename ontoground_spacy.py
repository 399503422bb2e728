"""How spaCy finds the component `ontoground` (the entry point `spacy_factories`); what it does is in `ontoground.pipe`.

spaCy imports this for every pipeline of whoever has ontoground installed. `import ontoground` looks for its rooms, and
fails where something stands in their way, such as a `training.py` of one's own: other pipelines must work all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spacy.language import Language

if TYPE_CHECKING:
    from ontoground.pipe import MentionReader

__all__ = ["make_mention_reader"]

DEFAULTS = {"workspace": "work", "spans_key": "ontoground", "annotate_ents": True, "prefix": ""}


@Language.factory("ontoground", default_config=DEFAULTS, assigns=["doc.ents", "doc.spans"])
def make_mention_reader(
    nlp: Language, name: str, workspace: str, spans_key: str, annotate_ents: bool, prefix: str
) -> MentionReader:
    """Make the component.

    Args:
        nlp, name: the pipeline, and the component's name in it; neither changes anything.
        workspace: a folder with a graph (docs/definitions.md#workspace). Its path is all that a pipeline on disk keeps.
        spans_key: where all mentions are put in ``doc.spans``.
        annotate_ents: whether ``doc.ents`` gets them too: the longer of two that overlap, and none where an entity is.
        prefix: goes before ``assertion``, ``certainty`` and ``section``, where another component has such attributes.

    Raises:
        UsageError: another component computes an attribute of one of these names.
    """
    from ontoground.pipe import MentionReader

    return MentionReader(workspace, spans_key, annotate_ents, prefix)
