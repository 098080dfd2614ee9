"""Metrics of each query: `dcg_ap` by position, `ranks` by order; `err` and `precision_at_percent` over ties."""
