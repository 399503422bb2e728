"""Sheets for experts: which rows, written without labels, read back with checks, and how far several raters agree."""
