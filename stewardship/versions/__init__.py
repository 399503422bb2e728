"""Versions of labels: rules put right, releases frozen, and what is different between two of them."""
