"""Where pickles of boostplug 0.1.0 look for what has moved; nothing else lives here.

Importing this package makes the old module names stand for the new modules, as far as their frameworks are installed.
"""

import sys
from importlib import import_module

for _old, _new in {
    "folds": "selection.folds",
    "lightgbm": "estimators.lightgbm",
    "scorer": "selection.scorer",
    "xgboost": "estimators.xgboost",
}.items():
    try:
        sys.modules[f"{__name__}.{_old}"] = import_module(f"boostplug.{_new}")
    except ImportError:  # a framework that is not installed: its rankers cannot be loaded anyway
        continue
