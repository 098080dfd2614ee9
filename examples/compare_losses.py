"""
Which loss? A comparison with intervals
=======================================

``bp.compare`` trains losses with the same trees. It says how far each is from lambdarank, and how
sure that is.
"""

import matplotlib.pyplot as plt

import boostplug as bp

train, valid, test = bp.datasets.load_bundled()
losses = [bp.QBRank(), bp.MPBoost(), bp.RankNet(), bp.NDCGBoost(), bp.ListNet(), bp.SquaredError()]
result = bp.compare(
    train, valid, test, losses=losses, baselines="lambdarank", frameworks="lightgbm", seeds=2
)
print(result.recommendation)

# %%
# Δ and its 95 % interval, over the test queries. If it contains 0, these queries cannot separate
# the two.

table = result.to_frame().dropna(subset="difference").sort_values("difference")
_, axes = plt.subplots(figsize=(7, 4), layout="constrained")
left = table["difference"] - table["interval_low"]
right = table["interval_high"] - table["difference"]
axes.errorbar(table["difference"], table["method"], xerr=[left, right], fmt="o", capsize=4)
axes.axvline(0.0, color="black", linestyle="--")
axes.set(
    xlabel="test NDCG@10, difference to lambdarank", title="Most of them are level on 138 queries"
)
plt.show()
