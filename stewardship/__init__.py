"""Stewardship of labels: audit, recomputation, adjudication, and versioned releases."""
