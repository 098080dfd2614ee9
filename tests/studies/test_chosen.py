"""The study of one chosen document per list: its data, and the rule that names a loss first."""

import numpy as np
import pytest

import boostplug as bp
from boostplug.comparison.training.frameworks import DataPart
from studies import chosen
from studies.tables import Estimate, estimated

pytestmark = pytest.mark.ci


def test_the_rule_takes_the_largest_difference_and_among_near_ones_the_least_log_loss():
    both = [
        {"method": "ahead", "difference": Estimate(0.0100, 4.0, 100), "log loss": 2.0},
        {"method": "near", "difference": Estimate(0.0091, 3.0, 100), "log loss": 1.9},
        {"method": "behind", "difference": Estimate(0.0089, 3.0, 100), "log loss": 1.5},
    ]
    assert chosen.named_first(both) == "near"


def test_folds_of_the_simulation_share_no_list_and_test_each_once():
    folds = chosen.folds_of(None, chosen.SIMULATED, nothing=False)
    first = [np.concatenate([part.X[:: chosen._N_SHOWN, 0] for part in fold]) for fold in folds]
    assert all(len(np.unique(rows)) == chosen._N_LISTS for rows in first)
    assert len(np.unique(np.concatenate([test.X[:: chosen._N_SHOWN, 0] for *_, test in folds]))) == chosen._N_LISTS
    made = folds[0][0].queries
    assert (np.bincount(made.query_of_row, made.labels) == 1.0).all()


def test_lists_whose_best_grade_is_low_have_no_choice():
    part = DataPart(np.zeros((5, 1)), bp.Queries([2.0, 1.0, 3.0, 0.0, 3.0], group=[2, 3]))
    np.testing.assert_array_equal(chosen._without_low(part).queries.labels, [0.0, 0.0, 3.0, 0.0, 3.0])


def test_an_estimate_is_the_mean_over_its_standard_error():
    values = np.array([1.0, 3.0, np.nan, 2.0, 2.0])
    found = estimated(values)
    assert found.mean == 2.0
    assert found.z == pytest.approx(2.0 / (np.sqrt(0.5) / 2.0))
    assert found.n == 4


def test_bins_hold_equal_expected_choices_and_true_probabilities_lie_on_the_diagonal():
    rng, n, size = np.random.default_rng(5), 4000, 6
    utility = rng.normal(size=(n, size)) * 1.5
    labels = np.eye(size)[np.argmax(utility + rng.gumbel(size=utility.shape), axis=1)]
    labels[:500] = 0.0  # lists without a choice do not count
    queries = bp.Queries(labels.ravel(), group=np.full(n, size))
    documents, expected, made = chosen.choice_bins(utility.ravel(), queries)
    assert documents.sum() == 3500 * size
    np.testing.assert_allclose(expected, 350.0, rtol=0.01)
    assert np.abs(made - expected).sum() / 3500 < 0.06  # some ten times √(350 / 3500²) · .8
    _, expected, made = chosen.choice_bins(3.0 * utility.ravel(), queries)  # too sure
    assert np.abs(made - expected).sum() / 3500 > 0.2
