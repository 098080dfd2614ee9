"""Base classes of losses: conventions, losses on pairs, smooth losses on pairs, losses on lists.

Read `traits` and `loss` first, then `pair_loss` and `smooth_pair_loss` (a function of the score difference), or `lists`
(a kernel of one's own over complete lists). `gains`, `logistic` and `calibrated` are shared by several losses. Sums of
losses and losses on one of several labels stand in `loss`, since its operators make them. Others that are made of
losses stand in `losses/composite`.
"""
