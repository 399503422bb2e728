"""The embedded open world: a small invented hospital and ontology, from general medical knowledge.

Everything here was written for this project and may be shipped. CUIs are C99xxxxx (filler concepts C70 to C97), so that
nobody takes them for the UMLS's; patients are 90000001 and up, admissions 95000001 and up.
"""

from openworld.render import World, render, render_scale

__all__ = ["World", "render", "render_scale"]
