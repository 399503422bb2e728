"""Studies: the cells of a paper's experiment, each a run of a verb that exists, and the tables that they make."""
