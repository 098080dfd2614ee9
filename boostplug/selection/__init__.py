"""Choosing models: folds that never split a query, and scorers. It touches no framework."""
