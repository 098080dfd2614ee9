"""Which files `pytest -m quick` runs beside the doctests of the package: a minute on two cores."""

__all__ = ["QUICK"]

NAMES = {
    ".": "bad_input layers",
    "adapters": "call",
    "cli": "cli doctor",
    "comparison": "significance",
    "core": "checks files naming text threads values",
    "dask": "partitions",
    "data": "pairs queries tables",
    "datasets": "synthetic",
    "estimators": "lightgbm",
    "losses": "adarank loss properties totals",
    "metrics": "correlation dcg reciprocal_rank relevance",
    "model": "ensemble",
    "rankers": "adarank rankboost_numbers",
    "selection": "folds",
    "weak_rankers": "stump tree",
}
QUICK = {f"{folder}/test_{name}.py".removeprefix("./") for folder, names in NAMES.items() for name in names.split()}
