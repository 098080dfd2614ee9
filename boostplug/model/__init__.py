"""Fitted models: `Ensemble`, its file format, and its exporters to both frameworks."""
