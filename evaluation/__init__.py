"""Evaluation of quadrants, detectors and validators: metrics with intervals, baselines, comparisons, experts, reports."""
