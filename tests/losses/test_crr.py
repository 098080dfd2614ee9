"""CRR: the sum of its two losses under a name of its own."""

import pickle

import numpy as np
import pytest

import boostplug as bp


def problem(rng, n=40):
    return rng.normal(size=n), bp.Queries(rng.integers(0, 5, n), group=[n - 15, 15], weight=0.5 + rng.random(n))


@pytest.mark.parametrize("w", [0.0, 0.3, 1.0])
@pytest.mark.parametrize(
    ("pair_loss", "label_loss"),
    [
        (bp.RankNet(normalization="rows"), bp.SquaredError()),
        (bp.MPBoost(), bp.LogisticError(max_grade=4.0)),
        (0.5 * bp.RankNet() + 0.5 * bp.NDCGBoost(), bp.SquaredError(centred=True)),
    ],
)
def test_it_is_the_sum_of_its_losses(w, pair_loss, label_loss):
    scores, queries = problem(np.random.default_rng(0))
    one = bp.CRR(preference_weight=w, pair_loss=pair_loss, label_loss=label_loss)
    other = w * pair_loss + (1.0 - w) * label_loss
    np.testing.assert_array_equal(one.value(scores, queries), other.value(scores, queries))
    for x, y in zip(one.gradient_hessian(scores, queries), other.gradient_hessian(scores, queries), strict=True):
        np.testing.assert_array_equal(x, y)
    assert one.hessian_kind == other.hessian_kind
    assert one.largest_label == other.largest_label


def test_its_repr_and_parameters_are_its_own():
    loss = bp.CRR(preference_weight=0.3, pair_loss=bp.RankNet(sigmoid=2.0))
    assert bp.Loss.parse(repr(loss)) == (loss,)
    assert bp.Loss.parse("crr") == (bp.CRR(),)
    assert pickle.loads(pickle.dumps(loss)) == loss
    params = loss.get_params()
    assert params["preference_weight"] == 0.3
    assert params["pair_loss__sigmoid"] == 2.0
    assert loss.with_params(pair_loss__sigmoid=3.0, preference_weight=0.1).name == "CRR(.1, RankNet(3))"
    assert "parts" not in params


@pytest.mark.parametrize("options", [{"preference_weight": 1.5}, {"pair_loss": "ranknet"}, {"label_loss": None}])
def test_what_is_no_loss_or_share_is_refused(options):
    with pytest.raises(ValueError, match=f"CRR: {next(iter(options))}"):
        bp.CRR(**options)
