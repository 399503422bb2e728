"""Verbs of this group are added here."""
