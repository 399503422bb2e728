"""The pages of `ontoground explore`: a workspace to look at in a browser of this machine, read only."""
