"""`suggest`: each loss's space, with optuna's own trials."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import boostplug as bp
from boostplug.core.values import Range
from boostplug.losses import LOSSES
from boostplug.testing import suited

optuna = pytest.importorskip("optuna")

LOSS_VALUES = [
    *(loss for variants in LOSSES.values() for loss in variants),
    bp.QBRank(margin=1.0),
    bp.AdaRank(metric=bp.MAP(), base=bp.MPBoost(distance=bp.LogisticDistance())),
    bp.PairwiseLoss(np.square, lambda d: 2.0 * d, lambda d: np.full_like(d, 2.0)),
    bp.Unbiased(base=bp.QBRank(), method="additive"),
    bp.Unbiased(base=bp.NDCGBoost(), method="ips", propensity=[1.0, 0.5, 0.3]),
]


@pytest.fixture(autouse=True)
def silent():
    optuna.logging.set_verbosity(optuna.logging.WARNING)


def studied(loss, n_trials=15, **options):
    """Return the losses that a study's trials get, and the study."""
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
    return [bp.suggest(study.ask(), loss, **options) for _ in range(n_trials)], study


@pytest.mark.parametrize("loss", LOSS_VALUES)
def test_every_suggested_value_is_legal(loss):
    drawn, study = studied(loss)
    choices = [6 if isinstance(space, Range) else len(space) for space in loss.search_space.values()]
    assert len(set(drawn)) >= min(6, math.prod(choices))
    assert {type(each) for each in drawn} == {type(loss)}
    trials = study.get_trials(deepcopy=False)
    queries = suited(loss, bp.Queries([2, 1, 0, 1, 0], group=[3, 2]))
    for each, trial in zip(drawn, trials, strict=True):
        again = bp.XGBRanker(objective=loss).set_params(**trial.params).objective  # as study.best_params is used
        assert again == each
        assert np.isfinite(each.gradient_hessian(np.arange(5.0), queries)).all()
    for name, space in loss.search_space.items():  # its ends, too
        ends = (space.low, space.high) if isinstance(space, Range) else space
        assert all(type(loss.with_params(**{name: end})) is type(loss) for end in ends)


def test_what_is_drawn():
    def names(loss):
        trial = studied(loss, 1)[1].get_trials(deepcopy=False)[0]
        return {name.removeprefix("objective__") for name in trial.params}

    assert names(bp.MPBoost()) == {"distance__lam", "hessian", "normalization"}
    assert names(bp.MPBoost(distance=bp.BinaryDistance())) == {"hessian", "normalization"}
    assert names(bp.MPBoost(distance=np.sqrt)) == {"hessian", "normalization"}
    assert names(bp.QBRank()) == {"preference_weight", "hessian", "normalization"}
    assert names(bp.QBRank(margin=2.0)) == {"margin", "preference_weight", "hessian", "normalization"}
    assert names(bp.NDCGBoost()) == {"sigmoid", "hessian", "normalization"}
    assert names(bp.AdaRank(base=bp.RankNet())) == {"metric__k", "base__sigmoid", "base__normalization"}
    assert names(bp.AdaRank(metric=bp.MAP(), base=bp.RankNet())) == {"base__sigmoid", "base__normalization"}


def test_given_values_are_taken():
    fixed = {"objective__sigmoid": 3.0, "objective__normalization": "query"}
    assert bp.suggest(optuna.trial.FixedTrial(fixed), bp.RankNet()) == bp.RankNet(sigmoid=3.0, normalization="query")
    fixed = {"base__sigmoid": 0.5, "base__normalization": "rows", "metric__k": 2}
    loss = bp.suggest(optuna.trial.FixedTrial(fixed), bp.AdaRank(base=bp.RankNet()), prefix="")
    assert loss == bp.AdaRank(metric=bp.NDCG(2), base=bp.RankNet(sigmoid=0.5, normalization="rows"))


def test_hessians_that_functions_do_not_allow_are_not_drawn():
    bump = (lambda d: np.exp(-d * d), lambda d: -2 * d * np.exp(-d * d), lambda d: (4 * d * d - 2) * np.exp(-d * d))
    assert bp.PairwiseLoss(*bump, hessian="global").search_space["hessian"] == ("global",)
    with pytest.warns(UserWarning, match="one by one"):  # it is no polynomial far from 0
        steep = bp.PairwiseLoss(lambda d: np.exp(-d), lambda d: -np.exp(-d), lambda d: np.exp(-d))
    assert steep.search_space["hessian"] == ("newton", "bound")


@dataclass(frozen=True)
class Quantile(bp.RankNet):
    """A loss of a user's own: one parameter's range is said, one is at its default."""

    share: float = 0.5
    width: float = 2.0
    search_ranges: ClassVar = {"share": Range(0.1, 0.9)}

    def __post_init__(self):
        super().__post_init__()
        if not 0.0 < self.share < 1.0 or self.width > 3.0:
            raise ValueError(f"Quantile: share must be between 0 and 1; got {self.share}, {self.width}")


def test_losses_of_a_users_own():
    fixed = {"sigmoid": 1.0, "normalization": "none", "share": 0.9, "width": 2.0}
    assert bp.suggest(optuna.trial.FixedTrial(fixed), Quantile(), prefix="").share == 0.9
    with pytest.raises(ValueError, match=r"got 0.9, 8.0; the search_space of Quantile is to offer what it takes"):
        bp.suggest(optuna.trial.FixedTrial(fixed | {"width": 8.0}), Quantile(), prefix="")


def test_a_study_over_a_ranker():
    data = bp.datasets.make_ranking(n_queries=20, random_state=0)
    ranker = bp.LGBMRanker(objective=bp.QBRank(), n_estimators=3, num_leaves=4, verbose=-1, n_jobs=1)

    def quality(trial):
        ranker.set_params(objective=bp.suggest(trial, bp.QBRank()))
        return ranker.fit(data.X, data.y, qid=data.qid).score(data.X, data.y, qid=data.qid)

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0))
    study.optimize(quality, n_trials=5)
    assert len(set(study.trials_dataframe(attrs=("value",))["value"])) > 1
    best = ranker.set_params(**study.best_params).fit(data.X, data.y, qid=data.qid)
    assert best.score(data.X, data.y, qid=data.qid) == study.best_value
