"""Sums over the preference pairs of each query.

Smooth functions of the score difference: read `smooth`, which plans the sums, and `pair_by_pair` for short lists. For
long lists `sampling` has a function's values on a grid of scores. `grid` sums all pairs of lower and higher grades. The
squared hinge: `hinge` sums by sorting. The exponential loss: `exponential` factorises. `masses` sums weights of pairs.
`clicks` is for the pairs of click logs.
"""
