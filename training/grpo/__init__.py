"""Reinforcement learning from labels (GRPO through trl): arms that differ in their labels only (arXiv 2512.19691)."""
