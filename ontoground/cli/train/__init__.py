"""``ontoground train classifier|corfu|medhal|medval|grpo``."""

from ontoground.cli.train.verbs import group

__all__ = ["group"]
