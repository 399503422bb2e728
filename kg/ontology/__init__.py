"""Ontologies beside or instead of UMLS: readers of their formats, and what joins their concepts to CUIs."""
