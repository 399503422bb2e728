"""Predictions of quadrants against a MediEval dataset: metrics, intervals over patients, baselines, one report."""
