"""Language models behind one small interface: an OpenAI-compatible endpoint, or a local transformers model."""
