"""What becomes of a framework's call: dataset → `Queries` → numbers → what the framework expects.

In reading order: `adapter` (what a framework must tell us), `lightgbm` and `xgboost` (what they do), `registry` (which
there are), `record` (what is known of a dataset), `preferences` (pairs attached to one), `call` (the call itself), and
`job` (the workers of a distributed training). `options`, `aliases` and `parameter_names` know framework parameters.
A further framework is one file with its adapter and one line in `registry`. A framework is imported only when it calls.
"""
