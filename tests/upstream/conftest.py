"""The scripts of the reports are run by `test_upstream.py`, and are no tests themselves."""

collect_ignore_glob = ["lightgbm_*.py", "xgboost_*.py"]
