"""Trainings of the study: methods, sizes of trees and parts, as data; docs/results/protocol.md says why, in words.

A part is a grid. Its cells are kept one by one, so a part may be run, ended and resumed, and a method added later
trains its own cells alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from boostplug.comparison.training.runs import Method
from boostplug.comparison.training.trees import Trees
from boostplug.core.naming import distinct_names, label, parameters
from boostplug.losses import (
    AdaRank,
    BinaryDistance,
    LambdaRank,
    LinearDistance,
    ListNet,
    LogisticDistance,
    Loss,
    MPBoost,
    NDCGBoost,
    QBRank,
    RankNet,
    SquaredError,
)
from boostplug.metrics import MAP, NDCG
from studies.quality.sets import SETS

PEERS: Mapping[str, tuple[str, ...]] = {
    "lightgbm": ("lambdarank", "rank_xendcg", "regression"),
    "xgboost": ("rank:ndcg", "rank:pairwise", "reg:squarederror"),
    "catboost": ("YetiRank", "QueryRMSE", "PairLogit"),
}
"""Built-in objectives by framework; the first is the one that differences are to."""

QBRANKS: tuple[Loss, ...] = tuple(
    QBRank(preference_weight=w, normalization=how) for how in ("none", "rows") for w in (0.3, 0.5, 0.7)
)
"""Among which the defaults of `QBRank` are decided."""

BEFORE: tuple[Loss, ...] = (
    MPBoost(normalization="none"),
    NDCGBoost(normalization="none"),
    RankNet(normalization="none"),
    AdaRank(base=NDCGBoost(normalization="none")),
)
"""The defaults of other losses when the protocol was written, beside which their variants stand."""

# Of several parts.
_ROWS_3, _ROWS, _ROWS_7, _PAIRS_ALONE = (
    QBRank(preference_weight=w, normalization="rows") for w in (0.3, 0.5, 0.7, 1.0)
)
_MARGIN_1 = QBRank(margin=1.0, preference_weight=0.5, normalization="rows")
_MPBOOST_ROWS = MPBoost(normalization="rows")
_RANKNET_AND_REGRESSION = 0.5 * RankNet(normalization="rows") + 0.5 * SquaredError()

_OTHERS: tuple[Loss, ...] = (
    BEFORE[0],
    _MPBOOST_ROWS,
    *(MPBoost(distance=d, normalization="none") for d in (BinaryDistance(), LinearDistance(), LogisticDistance())),
    BEFORE[1],
    NDCGBoost(normalization="rows"),
    NDCGBoost(sigmoid=2.0, normalization="none"),
    BEFORE[2],
    RankNet(normalization="rows"),
    BEFORE[3],
    AdaRank(base=RankNet(normalization="none")),
    ListNet(),
    LambdaRank(),
    LambdaRank(metric=MAP()),
    LambdaRank(metric=NDCG(30), truncation=30, norm=True),
    SquaredError(centred=True),
    0.7 * NDCGBoost(normalization="none") + 0.3 * SquaredError(),
    _RANKNET_AND_REGRESSION,
    _MARGIN_1,
)

TWINS: Mapping[str, Loss] = {
    "lambdarank": LambdaRank(metric=NDCG(30), truncation=30, norm=True),
}
"""Losses of ours that are LightGBM's built-in objectives, up to the scale."""

DEFAULTS: tuple[Loss, ...] = (
    *(QBRank(), MPBoost(), NDCGBoost(), RankNet(), AdaRank(), ListNet(), LambdaRank()),
    _RANKNET_AND_REGRESSION,
)
"""Our losses as they are without arguments, and the sum that did best."""

_FOR_FEW_RELEVANT: tuple[Loss, ...] = (  # what might serve lists of which little is relevant better
    _ROWS_3,
    _ROWS,
    _ROWS_7,
    _PAIRS_ALONE,
    QBRank(preference_weight=0.5, normalization="query"),
    _MARGIN_1,
    0.3 * _PAIRS_ALONE + 0.7 * SquaredError(centred=True),
    0.5 * _PAIRS_ALONE + 0.5 * SquaredError(centred=True),
    0.2 * LambdaRank() + 0.8 * SquaredError(),
    0.5 * LambdaRank() + 0.5 * SquaredError(),
    0.5 * LambdaRank() + 0.5 * SquaredError(centred=True),
    0.5 * LambdaRank() + 0.5 * _ROWS,
    LambdaRank(),
    _MPBOOST_ROWS,
    RankNet(normalization="rows"),
    0.5 * _MPBOOST_ROWS + 0.5 * SquaredError(),
    0.5 * _MPBOOST_ROWS + 0.5 * _ROWS,
    _RANKNET_AND_REGRESSION,
)
_SITUATIONS: tuple[Loss, ...] = (
    _ROWS_3,
    _ROWS,
    _ROWS_7,
    _PAIRS_ALONE,
    *BEFORE[:1],
    _MPBOOST_ROWS,
    RankNet(normalization="none"),
    NDCGBoost(normalization="none"),
    ListNet(),
    LambdaRank(),
    LambdaRank(metric=MAP()),
    SquaredError(centred=True),
    _RANKNET_AND_REGRESSION,
)
_LEADING: tuple[Loss, ...] = (_ROWS, _MPBOOST_ROWS, _RANKNET_AND_REGRESSION)

_NO_CATBOOST = {name: PEERS[name] for name in ("lightgbm", "xgboost")}


_MADE = ("clicks", "fair-pairs", "one-relevant")  # of other sets
_SETS = tuple(name for name in SETS if name not in {*_MADE, "nfcorpus-balanced"})


@dataclass(frozen=True, kw_only=True)
class StudyPart:
    """A grid of trainings.

    Attributes
    ----------
    name : str
    leaves : int
        Of a tree.
    learning_rate : float
    losses : tuple of Loss
        In those of LightGBM and XGBoost that have peers.
    peers : mapping of str to tuple of str
        By framework, the built-in objectives.
    sets : tuple of str
    folds : tuple of int or None
        Of each set, from 0. None: the first ones, as many as the set says.
    first_seed : int
    shares : tuple of float
        Of the training queries.
    tune : int
        Settings that are tried on the validation part.
    """

    name: str
    leaves: int = 24
    learning_rate: float = 0.07
    losses: tuple[Loss, ...] = ()
    peers: Mapping[str, tuple[str, ...]]
    sets: tuple[str, ...] = _SETS
    folds: tuple[int, ...] | None = None
    first_seed: int = 0
    shares: tuple[float, ...] = (1.0,)
    tune: int = 0
    rounds: int = 300
    patience: int = 50

    def methods(self, framework: str) -> list[Method]:
        """Return what is trained in a framework."""
        built_in = self.peers.get(framework, ())
        ours = self.losses if built_in and framework != "catboost" else ()
        return [
            *(Method(name, framework, name, is_reference=name == built_in[0]) for name in built_in),
            *(Method(name, framework, loss) for name, loss in zip(_names(ours), ours, strict=True)),
        ]

    def trees(self, data: str) -> Trees:
        """Return the trees for a set; l2 is the framework's own, but where it is tuned."""
        return Trees(
            learning_rate=self.learning_rate,
            num_leaves=self.leaves,
            row_fraction=0.8,
            column_fraction=0.5,
            lightgbm={} if self.tune else {"lambda_l2": 0.0},
            xgboost={"ndcg_exp_gain": SETS[data].gain == "exp2"},
        )


def _names(losses: Sequence[Loss]) -> list[str]:
    """Return names that tell losses apart; a margin by its own name, since a weight has the same values."""
    return [
        f"QBRank({', '.join(f'{key}={label(part)}' for key, part, default in parameters(loss) if not default)})"
        if isinstance(loss, QBRank) and loss.margin != "grade"
        else name
        for loss, name in zip(losses, distinct_names(losses), strict=True)
    ]


PARTS: dict[str, StudyPart] = {
    part.name: part
    for part in (
        StudyPart(name="24 leaves", losses=(*QBRANKS, *_OTHERS), peers=PEERS),
        StudyPart(
            name="8 leaves",
            leaves=8,
            losses=(*QBRANKS, *BEFORE),
            peers=_NO_CATBOOST,
        ),
        StudyPart(
            name="few relevant",
            losses=_FOR_FEW_RELEVANT,
            peers=_NO_CATBOOST,
            sets=("nfcorpus", "yandex"),
        ),
        StudyPart(
            name="relevant weigh half",  # in LightGBM alone: XGBoost takes weights of queries, not of rows
            losses=(_ROWS_3, _ROWS, LambdaRank()),
            peers={"lightgbm": PEERS["lightgbm"]},
            sets=("nfcorpus-balanced",),
        ),
        StudyPart(
            name="situations",
            losses=_SITUATIONS,
            peers={**PEERS, "catboost": ("YetiRank", "QueryRMSE")},
            sets=_MADE,
        ),
        StudyPart(
            name="learning curves",
            losses=_LEADING,
            peers={"lightgbm": PEERS["lightgbm"], "xgboost": ("rank:ndcg",)},
            sets=("mslr", "yandex", "nfcorpus", "jester", "movielens"),
            folds=(0, 1),
            shares=(0.05, 0.1, 0.2, 0.5, 1.0),
        ),
        StudyPart(
            name="tuned",
            losses=_LEADING,
            peers={
                "lightgbm": ("lambdarank", "regression"),
                "xgboost": ("rank:ndcg", "reg:squarederror"),
                "catboost": ("QueryRMSE",),
            },
            sets=("yandex", "nfcorpus", "jester"),
            folds=(0,),
            tune=20,
        ),
        StudyPart(
            name="confirmation",
            losses=(
                _ROWS,
                _ROWS_3,
                _MARGIN_1,
                _MPBOOST_ROWS,
                _RANKNET_AND_REGRESSION,
            ),
            peers=_NO_CATBOOST,
            sets=("yandex", "nfcorpus", "jester", "movielens"),
            folds=(2, 3, 4),
            first_seed=7,
        ),
    )
}
"""The parts of the study by name."""


@dataclass(frozen=True)
class Job:
    """A cell: one training, or one search and a training with what it chose."""

    part: str
    data: str
    fold: int
    share: float
    method: Method
    seed: int

    @property
    def key(self) -> str:
        """What it is kept under."""
        share = "" if self.share == 1.0 else f" | {self.share:g} of the training queries"
        where = f"{self.part} | {self.data} | fold {self.fold + 1}{share}"
        objective = self.method.objective
        return f"{where} | {self.method.framework} | {objective!r} | seed {self.seed}"

    @property
    def group(self) -> tuple[str, str, int, float, str]:
        """What jobs share that train on the same binned data."""
        return self.part, self.data, self.fold, self.share, self.method.framework


def jobs_of(part: StudyPart) -> Iterator[Job]:
    """Yield the cells of a part, those on the same binned data together."""
    for data in part.sets:
        folds = range(SETS[data].n_folds) if part.folds is None else part.folds
        for fold in folds:
            for share in part.shares:
                for framework in PEERS:
                    for method in part.methods(framework):
                        n_seeds = 1 if framework == "catboost" else SETS[data].n_seeds  # it takes ten times as long
                        for seed in range(part.first_seed, part.first_seed + n_seeds):
                            yield Job(part.name, data, fold, share, method, seed)
