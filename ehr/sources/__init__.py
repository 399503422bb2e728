"""Where records come from: a module for each source, over one loader and one contract (``docs/sources.md``)."""
