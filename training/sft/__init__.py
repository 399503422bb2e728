"""Fine-tuning on MedHal and MedVAL: prompts, strict parsing, training, generation in batch, metrics."""
