"""Choosing models: folds that never split a query, scorers, and search spaces. It touches no framework."""
