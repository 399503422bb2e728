"""Evaluation of quadrant predictions: metrics with intervals by patient, baselines, comparisons, tables, pictures."""
