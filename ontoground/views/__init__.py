"""What a workspace answers: a concept, an admission's notes, a query, a group of statements."""
