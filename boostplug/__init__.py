"""Learning-to-rank losses from the literature as objectives for LightGBM and XGBoost.

>>> import boostplug as bp
>>> bp.MPBoost()
MPBoost(distance=LogDistance(lam=3.0), hessian='newton', normalization='rows')
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from boostplug.core.version import __version__ as __version__

# Public name -> the module that defines it. Importing the package imports none of them (PEP 562).
_HOME = {
    "AdaRank": "losses",
    "AdaRankRanker": "rankers",
    "BinaryDistance": "losses",
    "Bpref": "metrics",
    "DCG": "metrics",
    "ECE": "metrics",
    "ERR": "metrics",
    "Ensemble": "model.ensemble",
    "KendallTau": "metrics",
    "LGBMRanker": "estimators.lightgbm",
    "LambdaRank": "losses",
    "LinearDistance": "losses",
    "ListNet": "losses",
    "LogDistance": "losses",
    "LogisticDistance": "losses",
    "Loss": "losses",
    "LossSum": "losses",
    "LogLoss": "metrics",
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
    "Pairs": "data.pairs",
    "PairwiseLoss": "losses",
    "RBP": "metrics",
    "RPrecision": "metrics",
    "RankBoostRanker": "rankers",
    "RankNet": "losses",
    "Recall": "metrics",
    "Precision": "metrics",
    "QBRank": "losses",
    "QBRankRanker": "rankers",
    "QuadraticBoundRanker": "rankers",
    "Queries": "data.queries",
    "RankingData": "datasets",
    "SpearmanRho": "metrics",
    "SquaredError": "losses",
    "Unbiased": "losses",
    "CRR": "losses",
    "CalibratedSoftmax": "losses",
    "ClickLogLoss": "losses",
    "Correlation": "losses",
    "LogisticError": "losses",
    "WTA": "metrics",
    "XGBRanker": "estimators.xgboost",
    "compare": "comparison.compare",
    "export": "model.export",
    "group_folds": "selection.folds",
    "load": "model.ensemble",
    "make_scorer": "selection.scorer",
    "set_num_threads": "core.threads",
    "set_labels": "adapters.attached",
    "set_pairs": "adapters.attached",
    "set_positions": "adapters.attached",
    "suggest": "selection.search",
    "time_folds": "selection.folds",
    "warmup": "cli.warm_up",
}
_MODULES = ("clicks", "dask", "datasets", "testing")

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
    return [*__all__, "__version__"]


if TYPE_CHECKING:
    from boostplug import clicks, dask, datasets, testing
    from boostplug.adapters.attached import set_labels, set_pairs, set_positions
    from boostplug.cli.warm_up import warmup
    from boostplug.comparison.compare import compare
    from boostplug.core.threads import set_num_threads
    from boostplug.data.pairs import Pairs
    from boostplug.data.queries import Queries
    from boostplug.datasets import RankingData
    from boostplug.estimators.lightgbm import LGBMRanker
    from boostplug.estimators.xgboost import XGBRanker
    from boostplug.losses import (
        CRR,
        AdaRank,
        BinaryDistance,
        CalibratedSoftmax,
        ClickLogLoss,
        Correlation,
        LambdaRank,
        LinearDistance,
        ListNet,
        LogDistance,
        LogisticDistance,
        LogisticError,
        Loss,
        LossSum,
        MPBoost,
        NDCGBoost,
        PairwiseLoss,
        QBRank,
        RankNet,
        SquaredError,
        Unbiased,
    )
    from boostplug.metrics import (
        DCG,
        ECE,
        ERR,
        MAP,
        MRR,
        NDCG,
        RBP,
        WTA,
        Bpref,
        KendallTau,
        LogLoss,
        MeanNDCG,
        Metric,
        PairError,
        Precision,
        Recall,
        RPrecision,
        SpearmanRho,
    )
    from boostplug.model.ensemble import Ensemble, load
    from boostplug.model.export import export
    from boostplug.rankers import (
        AdaRankRanker,
        MPBoostRanker,
        NDCGBoostRanker,
        QBRankRanker,
        QuadraticBoundRanker,
        RankBoostRanker,
    )
    from boostplug.selection.folds import group_folds, time_folds
    from boostplug.selection.scorer import make_scorer
    from boostplug.selection.search import suggest
