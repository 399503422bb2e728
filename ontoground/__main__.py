"""``python -m ontoground``: the command line, also where the console script is not on the path."""

from ontoground.cli.main import main

main()
