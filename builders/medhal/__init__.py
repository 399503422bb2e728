"""MedHal: statements that are factual or not, each with a partner, from texts on disk and from our own facts."""
