"""Hostile values wherever a user may pass one: an error of ours that shows the value, shortened, or none at all."""

import numpy as np
import pytest

import boostplug as bp


@pytest.mark.parametrize("weight", [1e-100, 1e100, 1.401298464324817e-45, 3.4028234663852886e38])
def test_every_weight_of_single_precision_and_more_is_one(weight):
    assert bp.Queries([1, 0], group=[2], weight=[weight, 0.0]).row_weight.tolist() == [weight, 0.0]
    assert bp.Pairs([0], [1], weight=[weight], margin=[weight]).margin[0] == weight


def test_numpy_does_not_warn_within_a_users_function():
    """What it returns is judged; the numbers that make NumPy warn are refused in words."""
    with pytest.raises(ValueError, match=r"gain must return values from 0 .* it returned nan for the grade -1\.0"):
        bp.NDCG(gain=np.sqrt)(np.zeros(2), bp.Queries([-1, 1], group=[2]))
    with pytest.raises(ValueError, match="condition 3"):
        bp.MPBoost(distance=lambda gap: 1e300 * gap * 1e300).value(np.zeros(2), bp.Queries([0, 1], group=[2]))
