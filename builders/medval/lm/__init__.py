"""MedVAL's engine that asks language models: one writes the outputs, one judges them."""
