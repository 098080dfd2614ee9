"""Metrics of each query. Read `dcg_ap` first: metrics by position.

Then `ranks` (correlations of orders), `err` (reciprocal ranks over ties) and `precision_at_percent`.
"""
