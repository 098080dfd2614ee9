"""Comparisons of losses and rankers on data sets."""
