"""A small data set, finished comparisons on it, and what LightGBM has trained."""

import pytest

import boostplug as bp
from boostplug.comparison.training.frameworks import FRAMEWORKS
from boostplug.datasets import make_ranking

BUILT_IN = ["lambdarank", "rank_xendcg", "regression", "rank:ndcg", "rank:pairwise", "reg:squarederror"]


@pytest.fixture(scope="session")
def parts():
    return tuple(
        make_ranking(n, n_features=8, mean_list_size=12, empty_queries=0.2, random_state=seed)
        for seed, n in enumerate((40, 20, 25))
    )


@pytest.fixture(scope="session")
def result(parts):
    losses = [bp.MPBoost()]
    return bp.compare(*parts, losses=losses, baselines=BUILT_IN, rounds=4, seeds=2, num_threads=1, data="toy")


@pytest.fixture(scope="session")
def settled(parts):
    """A comparison of which early stopping has ended every training, so that there are verdicts."""
    options = {"rounds": 500, "early_stopping_rounds": 3, "seeds": 2, "num_threads": 1}
    return bp.compare(*parts, losses=[bp.MPBoost(), bp.QBRank()], baselines=BUILT_IN, **options)


@pytest.fixture(scope="session")
def tiny():
    return tuple(make_ranking(12, n_features=4, mean_list_size=8, random_state=seed) for seed in range(3))


class Trained(list):
    """The trainings of LightGBM: name of the objective, seed, leaves. After `until` of them Ctrl-C comes."""

    until = None

    @property
    def names(self):
        return [name for name, *_ in self]


@pytest.fixture
def trained(monkeypatch):
    found, run = Trained(), FRAMEWORKS["lightgbm"].run

    def watched(self, setting, seed, *args, **options):
        if len(found) == found.until:
            raise KeyboardInterrupt
        objective = setting.objective
        name = objective if isinstance(objective, str) else type(objective).__name__
        found.append((name, seed, self.trees.num_leaves))
        return run(self, setting, seed, *args, **options)

    monkeypatch.setattr(FRAMEWORKS["lightgbm"], "run", watched)
    return found
