"""`Pairs.from_clicks` and `Pairs.from_implicit` against plain double loops, on hand-made pages, and in a training."""

from collections import defaultdict
from types import SimpleNamespace

import numpy as np
import pytest

import boostplug as bp
from boostplug.data import click_pairs
from boostplug.datasets import ClickLog

RULES = ("skip_above", "skip_next", "all_unclicked")


def as_dict(pairs):
    """Return the weight of each pair, no pair twice."""
    weights = np.ones(len(pairs)) if pairs.weight is None else pairs.weight
    found = dict(zip(zip(pairs.winner.tolist(), pairs.loser.tolist(), strict=True), weights.tolist(), strict=True))
    assert len(found) == len(pairs)
    return found


def beats(rule, above):
    """Return whether the rule compares a winner with a loser that stands so many places above it."""
    return {"skip_above": above > 0, "skip_next": above == -1, "all_unclicked": True}[rule]


def double_loop(clicked, group, position, rule, *, row=None, theta=None, cap=10.0, weight=None, least=1, shown=None):
    """Return the weight of each pair as the docstring says, page by page and pair by pair."""
    row = np.arange(len(clicked)) if row is None else row
    weights, pages = defaultdict(float), defaultdict(int)
    first = 0
    for page, size in enumerate(group):
        rows = range(first, first + size)
        first += size
        for i in rows:
            for j in rows:
                pages[row[i], row[j]] += i != j
                if row[i] == row[j] or not beats(rule, position[i] - position[j]):
                    continue
                if shown is None:
                    if not (clicked[i] and not clicked[j]):
                        continue
                    one = 1.0
                else:
                    if min(shown[i], shown[j]) < least or clicked[i] * shown[j] <= clicked[j] * shown[i]:
                        continue
                    one = clicked[i] - shown[i] * clicked[j] / shown[j]
                one *= 1.0 if weight is None else weight[page]
                one *= 1.0 if theta is None else min(1.0 / theta[position[i] - 1], cap)
                weights[row[i], row[j]] += one
    return {pair: total for pair, total in weights.items() if shown is not None or pages[pair] >= least}


def a_log(seed, n_pages=120, longest=8):
    """Return a log with pages of 0 to `longest` rows in random order, whose positions have gaps."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, longest + 1, n_pages)
    position = np.concatenate([rng.permutation(longest + 2)[:size] + 1 for size in group])
    row = np.concatenate([rng.permutation(longest + 3)[:size] + 20 * rng.integers(0, 4) for size in group])
    clicked = (rng.random(len(position)) < 0.3).astype(int)
    return rng, clicked, group, position, row


@pytest.mark.parametrize("rule", RULES)
def test_the_rules_are_the_double_loop(rule):
    rng, clicked, group, position, row = a_log(0)
    theta, weight = 1.0 / np.arange(1, 12), rng.integers(0, 4, len(group)) / 2
    for options, of_loop in (
        ({}, {}),
        ({"row": row}, {"row": row}),
        ({"propensity": theta, "max_weight": 4}, {"theta": theta, "cap": 4.0}),
        ({"row": row, "weight": weight, "propensity": theta}, {"row": row, "weight": weight, "theta": theta}),
    ):
        found = as_dict(bp.Pairs.from_clicks(clicked, group=group, position=position, rule=rule, **options))
        expected = double_loop(clicked, group, position, rule, **of_loop)
        assert expected
        assert found == pytest.approx(expected)


@pytest.mark.parametrize("rule", RULES)
def test_counts_are_the_double_loop(rule):
    """A page holds documents at several positions, and several documents at one; some were never shown."""
    rng, _, group, _, row = a_log(1)
    position, shown = rng.integers(1, 6, len(row)), rng.integers(0, 30, len(row))
    clicked = rng.binomial(shown, 0.3)
    theta = np.linspace(1.0, 0.05, 5)
    for options, of_loop in (
        ({}, {}),
        ({"min_impressions": 12}, {"least": 12}),
        ({"row": row, "propensity": theta, "min_impressions": 5}, {"row": row, "theta": theta, "least": 5}),
    ):
        arguments = {"group": group, "position": position, "impressions": shown, "rule": rule}
        found = as_dict(bp.Pairs.from_clicks(clicked, **arguments, **options))
        expected = double_loop(clicked, group, position, rule, shown=shown, **of_loop)
        assert expected
        assert found == pytest.approx(expected)


def test_a_log_is_its_columns():
    _, clicked, group, position, row = a_log(3)
    shown = clicked + 2
    qid = [f"p{page}" for page, size in enumerate(group) for _ in range(size)]
    log = ClickLog(clicked, qid=qid, position=position, impressions=shown)
    for rule in RULES:
        expected = bp.Pairs.from_clicks(
            clicked, group=group, position=position, impressions=shown, rule=rule, row=row, propensity=np.ones(20)
        )
        found = bp.Pairs.from_clicks(log, rule=rule, row=row, propensity=SimpleNamespace(propensity=np.ones(20)))
        assert as_dict(found) == as_dict(expected)


def test_an_empty_log_has_no_pairs():
    for more in ({}, {"row": np.zeros(0, int)}):
        assert len(bp.Pairs.from_clicks([], group=[], position=[], **more)) == 0
    assert len(bp.Pairs.from_clicks([0, 0], group=[2], position=[1, 2], row=[1, 2])) == 0
    assert len(bp.Pairs.from_implicit([], group=[])) == 0


def test_pairs_are_made_in_blocks(monkeypatch):
    _, clicked, group, position, row = a_log(0)
    options = {"group": group, "position": position}
    expected = bp.Pairs.from_clicks(clicked, **options), bp.Pairs.from_clicks(clicked, row=row, **options)
    monkeypatch.setattr(click_pairs, "_AT_ONCE", 7)
    found = bp.Pairs.from_clicks(clicked, **options), bp.Pairs.from_clicks(clicked, row=row, **options)
    for one, other in zip(found, expected, strict=True):
        assert as_dict(one) == as_dict(other)
    drawn = bp.Pairs.from_implicit(clicked, group=group, n_negatives=2, random_state=0)
    assert (np.bincount(drawn.winner)[clicked[: drawn.winner.max() + 1] == 1] <= 2).all()
    assert len(as_dict(drawn)) == len(drawn)


def test_implicit_pairs_prefer_what_was_taken_to_what_was_not():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 20, 300)
    qid = np.repeat(np.arange(300), group)
    consumed = rng.integers(0, 4, len(qid)) * (rng.random(len(qid)) < 0.4)
    pairs = bp.Pairs.from_implicit(consumed, qid=qid, n_negatives=4, random_state=1)
    assert pairs.weight is None
    assert (consumed[pairs.winner] > 0).all()
    assert (consumed[pairs.loser] == 0).all()
    assert (qid[pairs.winner] == qid[pairs.loser]).all()
    assert len(as_dict(pairs)) == len(pairs)  # drawn without replacement
    left = np.bincount(qid[consumed == 0], minlength=300)
    expected = np.where(consumed > 0, np.minimum(left[qid], 4), 0)
    np.testing.assert_array_equal(np.bincount(pairs.winner, minlength=len(qid)), expected)


def test_implicit_pairs_follow_the_seed():
    consumed, group = np.arange(200) % 5 == 0, [100, 100]

    def losers(random_state):
        return bp.Pairs.from_implicit(consumed, group=group, random_state=random_state).loser.tolist()

    assert losers(3) == losers(3) == losers(np.int64(3)) == losers(np.random.default_rng(3))
    assert losers(3) != losers(4)
    assert losers(None) != losers(None)
    assert losers(np.random.RandomState(3)) == losers(np.random.RandomState(3))
    generator = np.random.default_rng(0)
    assert losers(generator) != losers(generator)


def test_implicit_draws_are_uniform():
    """Of 8 others 3 are drawn, 6,000 times: each about 2,250 times, and each pair of places about as often."""
    consumed = np.tile(np.arange(9) == 4, 6000)
    pairs = bp.Pairs.from_implicit(consumed, group=np.full(6000, 9), n_negatives=3, random_state=0)
    drawn = np.zeros((6000, 9))
    drawn[pairs.winner // 9, pairs.loser % 9] = 1.0
    together = np.delete(np.delete(drawn.T @ drawn, 4, axis=0), 4, axis=1)
    assert not drawn[:, 4].any()
    assert np.abs(np.diag(together) - 2250).max() < 150  # 4 standard deviations
    assert np.abs(together[np.triu_indices(8, 1)] - 642.9).max() < 4 * 25  # 18,000 / 28 each


def test_implicit_weights():
    consumed = [0, 3, 1, 0]
    pairs = bp.Pairs.from_implicit(consumed, group=[4], weight=consumed, random_state=0)
    assert as_dict(pairs) == {(1, 0): 3.0, (1, 3): 3.0, (2, 0): 1.0, (2, 3): 1.0}
    by_query = bp.Pairs.from_implicit([0, 3, 1, 0], group=[2, 2], weight=[2, 0.5], random_state=0)
    assert as_dict(by_query) == {(1, 0): 2.0, (2, 3): 0.5}
