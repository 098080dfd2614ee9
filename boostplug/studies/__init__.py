"""Studies: the papers' experiments, the study of quality, benchmarks, and checks of the statistics.

They produce evidence and are no part of the library. Nothing outside imports from here, except the command line, which
loads a study when it is asked for.
"""
