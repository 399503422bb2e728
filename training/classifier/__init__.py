"""Quadrant classifiers: a decoder with a four-way head, on packed rows or plain ones, or a prompt alone."""
