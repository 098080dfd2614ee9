"""The trainings of a comparison: the same trees, rounds, stopping rule and metric for every method.

Read the modules in this order: `trees` (parameters that all methods share), `frameworks` (one training in LightGBM or
XGBoost), `tuning`, `runs` (plan, methods and outcomes as values), `fold_runs` (tuning and training on a fold), and
`schedule` (the order of trainings within a budget, over `workers`). `kept` stores finished trainings in a `store`, a
file of JSON lines, with `digests` of all that affects them.
"""
