"""Command line, the pipeline in order, and the embedded open world."""
