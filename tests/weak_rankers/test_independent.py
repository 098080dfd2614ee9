"""The set of independent rankers: an orthonormal basis, however close to each other its rankers are."""

import numpy as np
import pytest

from boostplug.weak_rankers.independent import IndependentSet, components_of_pairs


@pytest.mark.parametrize("together", [True, False])
def test_the_basis_of_vectors_that_are_nearly_alike_is_orthonormal(together):
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=40) + 1e-5 * rng.normal(size=(12, 40))
    span = IndependentSet(np.zeros(40, np.int64))
    added = span.add_each(vectors) if together else [i for i, vector in enumerate(vectors) if span.add(vector)]
    assert added == [*range(12)]
    np.testing.assert_allclose(span.basis @ span.basis.T, np.eye(12), rtol=0, atol=1e-14)
    assert not any(span.add(vector) for vector in rng.normal(size=(3, 12)) @ vectors)


def test_what_pairs_do_not_compare_is_no_difference():
    component = components_of_pairs(np.array([0, 2]), np.array([1, 3]), 5)
    assert component[0] == component[1] != component[2] == component[3]
    span = IndependentSet(component)
    assert span.largest == 2
    assert not span.add([1.0, 1.0, 0.0, 0.0, 7.0])  # constant within each component
    assert span.add([1.0, 0.0, 0.0, 0.0, 0.0])
    assert not span.add([0.0, 1.0, 5.0, 5.0, 0.0])  # minus the first
    assert span.add([1.0, 0.0, 0.0, 2.0, 0.0])
    assert span.size == span.largest
