"""Base classes of losses: conventions, losses on pairs, smooth losses on pairs, losses on lists, sums of losses.

Read `loss` first, then `pair_loss` and `smooth_pair_loss` (a function of the score difference), or `lists` (a kernel of
one's own over complete lists). `sums` combines losses. `gains`,
`logistic`, `calibrated` and `derivatives` are shared by several losses, `position_bias` and `clicked_pairs` are parts
of `Unbiased`.
"""
