"""A starting point for trees: settings of LightGBM and XGBoost that suit ranking losses, beside CatBoost.

The third part of docs/results/protocol.md was written before the first training.
"""
