"""Ontology side: RRF releases into the warehouse, the concept graph, relation queries of up to three hops."""
