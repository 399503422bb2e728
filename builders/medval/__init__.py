"""MedVAL: outputs of medical text tasks, clean and perturbed at a known level, and a validator that must agree."""
