"""Data structures: queries with labels, weights and preference pairs, click logs, and tables of features."""
