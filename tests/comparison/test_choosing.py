"""Choose, then use: each fold tests the method that the other folds choose; p and interval know of the choice."""

from itertools import product

import numpy as np
import pytest

from boostplug.comparison import choosing
from boostplug.comparison.choosing import choose_then_use
from boostplug.comparison.significance import t_interval


def plain(values, references, signs=None, truth=None):
    """Return the pairs of each fold and their mean difference by plain loops, with the signs of each fold's queries."""
    n_methods, incumbent = len(values[0]), references[0]
    signs = [np.ones(v.shape[1]) for v in values] if signs is None else signs
    means = [[np.mean((v[m] - v[incumbent]) * s) for m in range(n_methods)] for v, s in zip(values, signs, strict=True)]
    pairs, differences = [], []
    for f in range(len(values)):
        others = [np.mean([means[g][m] for g in range(len(values)) if g != f]) for m in range(n_methods)]
        pairs.append((int(np.argmax(others)), max(references, key=lambda m: others[m])))
        differences.append(means[f][pairs[f][0]] - means[f][pairs[f][1]])
    return pairs, np.mean(differences)


def chosen(values, references=(0,), **given):
    sizes = [v.shape[1] for v in values]
    codes = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
    return choose_then_use(values, [np.ones(n) for n in sizes], codes, references, np.zeros(len(values[0])), **given)


def test_a_fold_is_chosen_for_by_the_others():
    values = [np.random.default_rng(seed).normal(size=(5, 4 + seed)) for seed in range(4)]
    values[0][2] += 1.0
    for references in ((0,), (0, 3)):
        found = chosen(values, references)
        means = np.mean([v.mean(axis=1) for v in values], axis=0)
        assert found.best == means.argmax()
        assert found.incumbent == max(references, key=lambda m: means[m])
        assert [*found.pairs.values()] == plain(values, [found.incumbent, *references])[0]


def test_p_counts_the_sign_patterns_after_which_the_choice_gains_as_much():
    values = [np.random.default_rng(seed).normal(size=(3, 3)) for seed in (3, 4, 5)]
    observed = plain(values, [0])[1]
    drawn = [plain(values, [0], np.reshape(signs, (3, 3)))[1] for signs in product((-1.0, 1.0), repeat=9)]
    share = min(np.mean([d >= observed - 1e-12 for d in drawn]), np.mean([d <= observed + 1e-12 for d in drawn]))
    assert chosen(values, flips=20_000).p == pytest.approx(min(1.0, 2 * share), abs=0.02)


def test_a_repeated_query_has_no_say_in_a_fold_that_tests_it():
    values = [np.array([[0.0, 0.0], [1.0, 0.2]]), np.array([[0.0, 0.0], [1.0, -0.3]])]
    ones, first = [np.ones(2)] * 2, np.array([0.0, -1.0])
    found = choose_then_use(values, ones, [np.array([0, 1]), np.array([0, 2])], [0], first)
    assert [*found.pairs.values()] == [(0, 0), (1, 0)]  # the first query, 0 in both folds, speaks for method 1
    found = choose_then_use(values, ones, [np.array([0, 1])] * 2, [0], first)
    assert [*found.pairs.values()] == [(0, 0), (0, 0)]  # no other queries: by the values for this case


def test_undefined_queries_and_weights_of_0_count_for_nothing():
    values = [np.random.default_rng(seed).normal(size=(3, 8)) for seed in range(3)]
    more = [np.hstack([v, np.full((3, 1), np.nan), np.full((3, 1), 9.0)]) for v in values]
    more[0][:, 9] = [0.0, 9.0, 0.0]
    weight = [np.r_[np.ones(9), 0.0]] * 3
    found = choose_then_use(more, weight, np.split(np.arange(30), 3), [0], np.zeros(3))
    assert found[:3] == chosen(values)[:3]


def test_the_interval_is_wider_by_all_draws_of_signs_and_not_by_those_of_the_last_batch(monkeypatch):
    rng = np.random.default_rng(0)
    values = [rng.normal(size=(8, 40)) for _ in range(5)]
    at_once = chosen(values, flips=801).widening
    monkeypatch.setattr(choosing, "SIGNS_AT_ONCE", 200 * 100)  # of 200 queries: eight batches of 100, and one of 1
    assert at_once > 1.1
    assert chosen(values, flips=801).widening == pytest.approx(at_once, rel=0.1)


def test_where_nothing_differs_few_are_advised_and_the_interval_holds_the_truth():
    """Eight methods on 5 folds of 40 queries. Tested as if nobody had chosen them, the pairs promise too much."""
    n, gains, advised, plainly, held, widened = 250, [], 0, 0, 0, 0
    for seed in range(n):
        rng = np.random.default_rng(seed)
        common = rng.normal(size=(5, 1, 40))
        values = [np.vstack([np.zeros((1, 40)), c + rng.normal(size=(8, 40))]) for c in common]
        found = chosen(values, flips=400)
        differences = np.concatenate([v[a] - v[b] for v, (a, b) in zip(values, found.pairs.values(), strict=True)])
        mean, low, high = t_interval(differences, strata=np.repeat(range(5), 40))
        gains.append(mean)
        advised += found.p < 0.05 and mean > 0
        plainly += low > 0
        held += low <= 0 <= high
        widened += mean - found.widening * (mean - low) <= 0 <= mean + found.widening * (high - mean)
    assert abs(np.mean(gains)) < 3 * np.std(gains) / np.sqrt(n)
    assert advised <= 0.04 * n < plainly  # 2.1 % and 5.8 % of 2,000
    assert held < 0.9 * n < 0.93 * n < widened  # 87.2 % and 95.4 % of 2,000
