"""The trainings of a comparison: the same trees, rounds, stopping rule and metric for every method.

Read the modules in this order: `trees` (their parameters), `plan` (what all runs share, and a setting of one method),
`frameworks` (one training in LightGBM or XGBoost), `tuning`, `store` (a file of JSON lines that keeps finished runs),
`runs` (the methods, and a run on a fold, from the store or trained) and `baselines` (what needs no framework).
`workers` are joblib's threads.
"""
