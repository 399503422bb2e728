"""MedHal's engine that asks a language model: prompts, strict reading of answers, the writer."""
