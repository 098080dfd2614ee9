"""Adapters between frameworks and losses: dataset → `Queries` → numbers → the framework's format.

In reading order: `adapter` (the interface), `lightgbm` and `xgboost` (its implementations), `registry` (all adapters),
`record` (the per-dataset cache), `attached` (pairs, labels and positions attached to a dataset), `reading` (a dataset's
`Queries`), `call` (a framework's call), `first_step` (warnings at the start of a training) and `workers` (sums over the
workers of a distributed training). `options` and `parameter_names` list parameters of the frameworks. A new framework
needs one file with its adapter and one line in `registry`. A framework is imported only when it calls.
"""
