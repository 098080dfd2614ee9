"""The trainings of a comparison: the same trees, rounds, stopping rule and metric for every method.

Read `trees` (parameters of trees that all methods share), `frameworks` (one training in LightGBM or XGBoost), `tuning`,
`runs` (plan, methods and outcomes as values), `fold_runs` (tunes and trains on a fold), and `schedule` (the order of
trainings within a budget, over `workers`). Finished trainings are `kept` in a `store`, an SQLite file.
"""
