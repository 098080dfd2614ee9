"""Studies: programs that measure what the pages of docs/results show. README.md says how each is run."""
