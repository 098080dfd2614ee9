"""The frameworks' own rankers that take our losses and metrics."""
