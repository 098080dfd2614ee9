"""Losses that are made of other losses: sums, weighted queries, one of several labels, corrected clicks."""
