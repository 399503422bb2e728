"""Evaluation of detectors (MedHal) and validators (MedVAL): predictions and experts' ratings against a dataset."""
