"""The trainings of a comparison: the same trees, rounds, stopping rule and metric for every method.

Read `trees` (what every method grows), `frameworks` (one training in LightGBM or XGBoost), `tuning`, `runs` (what a
comparison trains, and what came of it), `schedule` (in which order, within a budget, over `workers`), and `kept`: what
is finished goes into a `store`, an SQLite file.
"""
