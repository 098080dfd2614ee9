# The public names and the modules that define them, for `boostplug` itself and for type checkers.

from boostplug import clicks as clicks
from boostplug import dask as dask
from boostplug import datasets as datasets
from boostplug import testing as testing
from boostplug.adapters.attached import (
    set_labels as set_labels,
)
from boostplug.adapters.attached import (
    set_pairs as set_pairs,
)
from boostplug.adapters.attached import (
    set_positions as set_positions,
)
from boostplug.comparison.compare import compare as compare
from boostplug.core.threads import set_num_threads as set_num_threads
from boostplug.data.pairs import Pairs as Pairs
from boostplug.data.queries import Queries as Queries
from boostplug.datasets import RankingData as RankingData
from boostplug.estimators.folds import fit_folds as fit_folds
from boostplug.estimators.lightgbm import LGBMRanker as LGBMRanker
from boostplug.estimators.xgboost import XGBRanker as XGBRanker
from boostplug.explanation.explain import importance as importance
from boostplug.explanation.explain import why as why
from boostplug.losses import (
    CRR as CRR,
)
from boostplug.losses import (
    AdaRank as AdaRank,
)
from boostplug.losses import (
    BinaryDistance as BinaryDistance,
)
from boostplug.losses import (
    CalibratedSoftmax as CalibratedSoftmax,
)
from boostplug.losses import (
    ClickLogLoss as ClickLogLoss,
)
from boostplug.losses import (
    Correlation as Correlation,
)
from boostplug.losses import (
    LabelRange as LabelRange,
)
from boostplug.losses import (
    LambdaRank as LambdaRank,
)
from boostplug.losses import (
    LinearDistance as LinearDistance,
)
from boostplug.losses import (
    ListNet as ListNet,
)
from boostplug.losses import (
    LogDistance as LogDistance,
)
from boostplug.losses import (
    LogisticDistance as LogisticDistance,
)
from boostplug.losses import (
    LogisticError as LogisticError,
)
from boostplug.losses import (
    Loss as Loss,
)
from boostplug.losses import (
    LossSum as LossSum,
)
from boostplug.losses import (
    MPBoost as MPBoost,
)
from boostplug.losses import (
    NDCGBoost as NDCGBoost,
)
from boostplug.losses import (
    PairwiseLoss as PairwiseLoss,
)
from boostplug.losses import (
    QBRank as QBRank,
)
from boostplug.losses import (
    RankNet as RankNet,
)
from boostplug.losses import (
    SquaredError as SquaredError,
)
from boostplug.losses import (
    Traits as Traits,
)
from boostplug.losses import (
    Unbiased as Unbiased,
)
from boostplug.metrics import (
    DCG as DCG,
)
from boostplug.metrics import (
    ECE as ECE,
)
from boostplug.metrics import (
    ERR as ERR,
)
from boostplug.metrics import (
    MAP as MAP,
)
from boostplug.metrics import (
    MRR as MRR,
)
from boostplug.metrics import (
    NDCG as NDCG,
)
from boostplug.metrics import (
    RBP as RBP,
)
from boostplug.metrics import (
    WTA as WTA,
)
from boostplug.metrics import (
    Bpref as Bpref,
)
from boostplug.metrics import (
    ChoiceLogLoss as ChoiceLogLoss,
)
from boostplug.metrics import (
    KendallTau as KendallTau,
)
from boostplug.metrics import (
    LogLoss as LogLoss,
)
from boostplug.metrics import (
    MeanNDCG as MeanNDCG,
)
from boostplug.metrics import (
    Metric as Metric,
)
from boostplug.metrics import (
    PairError as PairError,
)
from boostplug.metrics import (
    Precision as Precision,
)
from boostplug.metrics import (
    Recall as Recall,
)
from boostplug.metrics import (
    RPrecision as RPrecision,
)
from boostplug.metrics import (
    SpearmanRho as SpearmanRho,
)
from boostplug.metrics import (
    choice_probabilities as choice_probabilities,
)
from boostplug.model.ensemble import (
    Ensemble as Ensemble,
)
from boostplug.model.ensemble import (
    load as load,
)
from boostplug.model.export import export as export
from boostplug.model.mean import mean_model as mean_model
from boostplug.rankers import (
    AdaRankRanker as AdaRankRanker,
)
from boostplug.rankers import (
    LinearRanker as LinearRanker,
)
from boostplug.rankers import (
    MPBoostRanker as MPBoostRanker,
)
from boostplug.rankers import (
    NDCGBoostRanker as NDCGBoostRanker,
)
from boostplug.rankers import (
    QBRankRanker as QBRankRanker,
)
from boostplug.rankers import (
    QuadraticBoundRanker as QuadraticBoundRanker,
)
from boostplug.rankers import (
    RankBoostRanker as RankBoostRanker,
)
from boostplug.rankers.warm_up import warmup as warmup
from boostplug.selection.folds import (
    group_folds as group_folds,
)
from boostplug.selection.folds import (
    time_folds as time_folds,
)
from boostplug.selection.scorer import make_scorer as make_scorer
from boostplug.selection.search import suggest as suggest
from boostplug.selection.split import split_queries as split_queries
from boostplug.selection.starting import starting_params as starting_params

__version__: str
