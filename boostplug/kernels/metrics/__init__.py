"""Metrics of each query. Read `dcg_ap` first: sums over ranks.

Then `ranks` (pairs, and correlations of ranks) and `err` (reciprocal ranks over ties).
"""
