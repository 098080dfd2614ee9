"""Adapters of frameworks: a dataset of LightGBM or XGBoost → `Queries` and scores.

In reading order: `adapter` is the interface, `lightgbm` and `xgboost` are its implementations. `reading` makes
`Queries` of what a framework passes, and `calling` is `Loss.__call__`. `attached` holds pairs, labels and positions
attached to a dataset. `workers` sums over the workers of a distributed training. A new framework needs one file with
its adapter and one entry in `reading.ADAPTERS`. A framework is imported only when it calls.
"""
