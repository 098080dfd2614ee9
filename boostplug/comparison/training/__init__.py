"""The trainings of a comparison: the same trees, rounds, stopping rule and metric for every method.

Read the modules in this order: `trees` (parameters that all methods share), `frameworks` (one training in LightGBM or
XGBoost), `tuning`, `runs` (the plan, the methods, and a run on a fold), and `kept`, which stores finished runs in a
`store`, a file of JSON lines. `workers` are joblib's threads and processes.
"""
