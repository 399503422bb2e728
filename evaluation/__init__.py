"""Evaluation of quadrants, detectors and validators: metrics with intervals, comparisons, experts, reports."""
