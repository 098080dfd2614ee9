"""Base classes of losses: conventions, losses on pairs, smooth losses on pairs, losses on lists.

Read `loss` first, then `pair_loss` and `smooth_pair_loss` (a function of the score difference), or `lists` (a kernel of
one's own over complete lists). `gains`, `logistic`, `calibrated` and `derivatives` are shared by several losses.
Losses that are made of other losses stand in `losses/composite`.
"""
