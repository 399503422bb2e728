"""MedHal: statements that are factual or not, with a partner each, from texts on disk and from our own facts."""
