"""The verbs of the command line, one module or folder each, imported when they are called; heavy things when they run.

The folder of `build` is called ``builds``, since many tools pass over folders called ``build``.
"""
