"""A misspelt parameter of a framework is an error that names the nearest one."""

import warnings

import pytest
from adapters.harness import QID, X, Y

import boostplug as bp
from boostplug.adapters.parameter_names import LIGHTGBM_ALIASES, XGBOOST_ALIASES, refuse_unknown_parameters


@pytest.mark.parametrize(
    ("framework", "names"),
    [
        ("lightgbm", [alias for names in LIGHTGBM_ALIASES.values() for alias in names]),
        ("lightgbm", ["class_weight", "importance_type", "extra_trees", "forcedsplits_filename", "drop_rate"]),
        ("xgboost", [alias for names in XGBOOST_ALIASES.values() for alias in names]),
        ("xgboost", ["alpha", "gamma", "eval_metric", "verbosity", "disable_default_eval_metric", "n_estimators"]),
        ("xgboost", ["rate_drop", "top_k", "updater", "max_cat_threshold", "aft_loss_distribution", "use_rmm"]),
        ("xgboost", ["interaction_constraints", "seed_per_iteration", "num_parallel_tree", "quantile_alpha"]),
    ],
)
def test_parameters_and_their_aliases_pass(framework, names):
    assert refuse_unknown_parameters(framework, names) is None


def test_nothing_of_the_question_is_seen():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(ValueError, match="not a parameter"):
            refuse_unknown_parameters("xgboost", ["no_such_name_at_all"])
    assert not caught


def test_a_subclass_may_have_parameters_of_its_own():
    class Named(bp.XGBRanker):
        def __init__(self, *, label="", **more):
            self.label = label
            super().__init__(**more)

        def get_xgb_params(self):
            return {name: value for name, value in super().get_xgb_params().items() if name != "label"}

    ranker = Named(label="a", objective=bp.MPBoost(), n_estimators=2, n_jobs=1)
    assert ranker.fit(X, Y, qid=QID, verbose=False).predict(X).std() > 0
