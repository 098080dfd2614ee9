"""How settings are drawn, pruned and chosen: on invented trainings, and on small real ones."""

from types import SimpleNamespace

import numpy as np
import pytest

import boostplug as bp
from boostplug.comparison.training import tuning
from boostplug.comparison.training.frameworks import FRAMEWORKS, Watch
from boostplug.comparison.training.plan import Setting, TrainingPlan
from boostplug.comparison.training.trees import Trees
from boostplug.data.inputs import CheckedInputs
from boostplug.losses import LOSSES

pytest.importorskip("optuna")

ROUNDS = 20


def framework(name="lightgbm", trees=None):
    """Return what tuning asks a framework for."""
    trees = trees or Trees()
    params = trees.for_lightgbm(1) if name == "lightgbm" else trees.for_xgboost(1)
    return SimpleNamespace(name=name, tree_names=FRAMEWORKS[name].tree_names, params=params)


class Training:
    """Invented trainings, of which some settings are hopeless."""

    def __init__(self, *, sign=1.0):
        self.sign, self.settings, self.outcomes, self.rounds = sign, [], [], 0

    def __call__(self, setting, seed, report):
        self.settings.append((setting.objective, dict(setting.parameters)))
        self.outcomes.append(self._train(setting.parameters, report))
        return self.outcomes[-1]

    def _train(self, parameters, report):
        height = -abs(np.log(parameters.get("num_leaves", 40) / 12)) - parameters.get("lambda_l2", 1.0) / 100
        values, pruned = [], False
        while len(values) < ROUNDS and not pruned:
            self.rounds += 1
            number = len(values) + 1
            values.append(self.sign * (height + number / 1000 - 0.1 * (number % 2)))
            pruned = report is not None and report(number, values[-1])
        best_value = (max if self.sign > 0 else min)(values)
        return SimpleNamespace(best_value=best_value, values=values, pruned=pruned)


def tuned(training, objective="lambdarank", *, trials=25, seed=0, trees=None, of="lightgbm", greater=True):
    metric, trees = bp.NDCG(10) if greater else bp.PairError(), trees or Trees()
    plan = TrainingPlan(metric, metric, [metric], trees, ROUNDS, None, 1, trials, [seed])
    return tuning.tune(framework(of, trees), objective, plan, training)


def best_of(training):
    """Return the objective and parameters of the best training that was not pruned."""
    _, i = max((outcome.best_value, -i) for i, outcome in enumerate(training.outcomes) if not outcome.pruned)
    return training.settings[-i]


def test_hopeless_settings_are_ended_early_and_count():
    training = Training()
    best = tuned(training)
    assert len(training.outcomes) == 25
    pruned = [i for i, outcome in enumerate(training.outcomes) if outcome.pruned]
    assert pruned
    assert min(pruned) > 5
    assert training.rounds < 25 * ROUNDS
    assert best.parameters == best_of(training)[1]
    tops = [np.maximum.accumulate(outcome.values) for outcome in training.outcomes]
    for i in pruned:
        end = len(tops[i]) - 1
        whole = [j for j in range(1, i) if not training.outcomes[j].pruned]  # the given setting is no trial of optuna's
        before = [tops[j][end] for j in whole]
        assert tops[i][end] < np.percentile(before, 25)
        assert end + 1 >= ROUNDS // 5


def test_of_errors_the_least_is_chosen_and_the_greatest_are_pruned():
    up, down = Training(), Training(sign=-1.0)
    best, least = tuned(up), tuned(down, greater=False)
    assert least.parameters == best.parameters
    assert [outcome.pruned for outcome in down.outcomes] == [outcome.pruned for outcome in up.outcomes]


class Fails(Training):
    """Fails with parameters that were drawn, or always."""

    def __init__(self, *, always=False):
        super().__init__()
        self.always = always

    def _train(self, parameters, report):
        if parameters or self.always:
            raise RuntimeError("impossible")
        return super()._train(parameters, report)


def test_what_fails_counts_and_is_never_chosen():
    training = Fails()
    best = tuned(training, trials=4)
    assert (best.objective, best.parameters, len(training.settings)) == ("lambdarank", {}, 4)
    assert (best.failed, best.failure) == (3, "RuntimeError: impossible")
    assert tuned(Fails(always=True), trials=4) is None


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_every_method_of_a_framework_has_the_same_space_of_trees(name):
    words = set(FRAMEWORKS[name].tree_names.values())
    for objective in (*FRAMEWORKS[name].baselines, bp.QBRank(), bp.AdaRank()):
        training = Training()
        tuned(training, objective, of=name, trials=3)
        assert training.settings[0] == (objective, {})  # the given setting
        for _, parameters in training.settings[1:]:
            assert set(parameters) & words == words


def test_the_text_of_what_was_drawn_makes_the_loss_again():
    """A store has it as text."""
    for loss in (loss for losses in LOSSES.values() for loss in losses):
        training = Training()
        best = tuned(training, loss, trials=6)
        assert best.parameters  # not the given setting
        assert bp.Loss.parse(str(best.objective)) == (best_of(training)[0],)


@pytest.mark.parametrize(
    ("of", "own", "fixed"),
    [
        ("lightgbm", {"eta": 0.2}, "learning_rate"),
        ("lightgbm", {"sigmoid": 3.0}, "sigmoid"),
        ("xgboost", {"lambda": 2.0}, "reg_lambda"),
        ("xgboost", {"lambdarank_pair_method": "mean"}, "lambdarank_pair_method"),
    ],
)
def test_what_is_given_to_a_framework_is_not_drawn(of, own, fixed):
    objective = FRAMEWORKS[of].baselines[0]
    for trees, there in ((Trees(), True), (Trees(**{of: own}), False)):
        training = Training()
        tuned(training, objective, of=of, trials=3, trees=trees)
        assert all((fixed in parameters) == there for _, parameters in training.settings[1:])


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_watch_ends_a_training_that_is_pruned(parts, name):
    pieces = [CheckedInputs(part.X, part.queries) for part in parts]
    seen = []

    def report(number, value):
        seen.append((number, value))
        return number == 3

    watch = Watch(bp.NDCG(5), pieces[1].queries, patience=None, num_threads=1, report=report)
    FRAMEWORKS[name](*pieces, Trees(), 1).run(Setting(bp.RankNet()), 0, 9, watch)
    assert seen == list(enumerate(watch.values, 1))
    assert len(seen) == 3
    assert watch.pruned
