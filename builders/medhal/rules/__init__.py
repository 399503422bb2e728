"""The rules engine: sentences by templates and syntax, without a model."""
