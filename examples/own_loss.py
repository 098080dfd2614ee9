"""
A pairwise loss of one's own
============================

A function of the score difference and its two derivatives, as plain NumPy functions.
"""

import matplotlib.pyplot as plt
import numpy as np

import boostplug as bp


def value(d):
    """Return log cosh(d - 1): quadratic near a lead of 1, linear far from it."""
    return np.logaddexp(d - 1.0, 1.0 - d) - np.log(2.0)


def first(d):
    """Return the derivative."""
    return np.tanh(d - 1.0)


def second(d):
    """Return the second derivative, without overflow."""
    return 4.0 * np.exp(-2.0 * np.abs(d - 1.0)) / (1.0 + np.exp(-2.0 * np.abs(d - 1.0))) ** 2


loss = bp.PairwiseLoss(value, first, second)
print(f"pairs are summed in {loss.summation} time")
bp.testing.check_loss(
    loss
)  # gradient, Hessian, ties, weights, threads, … or an error that names the broken property

fold = bp.datasets.load_bundled()
ranker = bp.LGBMRanker(objective=loss, n_estimators=60, num_leaves=15, random_state=1, verbose=-1)
ranker.fit(fold.train.X, fold.train.y, qid=fold.train.qid)
print(f"test NDCG@10 {ranker.score(fold.test.X, fold.test.y, qid=fold.test.qid):.4f}")

# %%
# What one pair costs, for its lead: the loss's value on a query of two documents.

pair = bp.Queries([1, 0], group=[2])
lead = np.linspace(-3.0, 5.0, 200)
_, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for other in (loss, bp.RankNet(), bp.QBRank(preference_weight=1.0, normalization="none")):
    cost = [other.value([d, 0.0], pair)[0] for d in lead]
    axes.plot(lead, cost, label="log-cosh" if other is loss else other.name)
axes.set(
    xlabel="lead of the better document",
    ylabel="loss of the pair",
    title="Only log-cosh minds too long a lead",
)
axes.legend()
plt.show()
