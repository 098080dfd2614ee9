"""Base classes of losses: conventions, losses on pairs, smooth losses on pairs, losses on lists.

Read `traits` and `loss` first. For a function of the score difference go on with `pair_loss` and `smooth_pair_loss`,
for a kernel over complete lists with `lists`. `gains`, `logistic` and `calibrated` are shared by several losses. Sums
of losses and losses on one of several labels stand in `loss`, since its operators make them. Others that are made of
losses stand in `losses/composite`.
"""
