"""Learning-to-rank losses from the literature as objectives for LightGBM and XGBoost.

>>> import boostplug as bp
>>> bp.MPBoost()
MPBoost(distance=LogDistance(lam=3.0), hessian='newton', normalization='none')
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Public name -> the module that defines it. Importing the package imports none of them (PEP 562).
_HOME = {
    "AdaRank": "losses",
    "AdaRankRanker": "rankers",
    "BinaryDistance": "losses",
    "DCG": "metrics",
    "ERR": "metrics",
    "Ensemble": "ensemble",
    "KendallTau": "metrics",
    "LGBMRanker": "frameworks.lightgbm",
    "LinearDistance": "losses",
    "LogDistance": "losses",
    "LogisticDistance": "losses",
    "Loss": "losses",
    "MAP": "metrics",
    "MPBoost": "losses",
    "MPBoostRanker": "rankers",
    "MRR": "metrics",
    "MeanNDCG": "metrics",
    "Metric": "metrics",
    "NDCG": "metrics",
    "PairError": "metrics",
    "NDCGBoost": "losses",
    "NDCGBoostRanker": "rankers",
    "Pairs": "pairs",
    "PairwiseLoss": "losses",
    "RankBoostRanker": "rankers",
    "RankNet": "losses",
    "Precision": "metrics",
    "PrecisionAtPercent": "metrics",
    "QBRank": "losses",
    "QBRankRanker": "rankers",
    "QuadraticBoundRanker": "rankers",
    "Queries": "queries",
    "SpearmanRho": "metrics",
    "WTA": "metrics",
    "XGBRanker": "frameworks.xgboost",
    "compare": "experiments.compare",
    "group_folds": "frameworks.folds",
    "load": "ensemble",
    "make_scorer": "frameworks.scorer",
    "set_num_threads": "threads",
    "set_pairs": "frameworks.plug",
}
_MODULES = ("datasets", "testing")

__all__ = [*sorted(_HOME), *_MODULES]  # noqa: PLE0604 (strings, all of them)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(f"boostplug.{_HOME[name]}"), name)
    elif name in _MODULES:
        value = import_module(f"boostplug.{name}")
    else:
        raise AttributeError(f"module 'boostplug' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if TYPE_CHECKING:
    from boostplug import datasets, testing
    from boostplug.ensemble import Ensemble, load
    from boostplug.experiments.compare import compare
    from boostplug.frameworks.folds import group_folds
    from boostplug.frameworks.lightgbm import LGBMRanker
    from boostplug.frameworks.plug import set_pairs
    from boostplug.frameworks.scorer import make_scorer
    from boostplug.frameworks.xgboost import XGBRanker
    from boostplug.losses import (
        AdaRank,
        BinaryDistance,
        LinearDistance,
        LogDistance,
        LogisticDistance,
        Loss,
        MPBoost,
        NDCGBoost,
        PairwiseLoss,
        QBRank,
        RankNet,
    )
    from boostplug.metrics import (
        DCG,
        ERR,
        MAP,
        MRR,
        NDCG,
        WTA,
        KendallTau,
        MeanNDCG,
        Metric,
        PairError,
        Precision,
        PrecisionAtPercent,
        SpearmanRho,
    )
    from boostplug.pairs import Pairs
    from boostplug.queries import Queries
    from boostplug.rankers import (
        AdaRankRanker,
        MPBoostRanker,
        NDCGBoostRanker,
        QBRankRanker,
        QuadraticBoundRanker,
        RankBoostRanker,
    )
    from boostplug.threads import set_num_threads
