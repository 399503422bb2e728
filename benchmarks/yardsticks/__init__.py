"""Other people's readers of notes, each a program on files, so that it can run in a Python environment of its own."""
