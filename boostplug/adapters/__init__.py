"""Adapters of frameworks: a dataset of LightGBM or XGBoost → `Queries` and scores.

In reading order: `adapter` (the interface), `lightgbm` and `xgboost` (its implementations), `reading` (what a framework
passes → `Queries`), `calling` (`Loss.__call__`), `attached` (pairs, labels and positions attached to a dataset) and
`workers` (sums over the workers of a distributed training). A new framework needs one file with its adapter and one
entry in `reading.ADAPTERS`. A framework is imported only when it calls.
"""
