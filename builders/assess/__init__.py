"""Any statement about any note: what the graph says of it, and what the note says of its ends. Nothing is trained."""
