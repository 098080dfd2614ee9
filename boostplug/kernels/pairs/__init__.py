"""Sums over the preference pairs of each query.

Smooth functions of the score difference: read `smooth`, the driver, then `pair_task` (documents and pair weights),
`pair_loop` and `pair_by_pair` for short lists. Long lists: `tables` describes a function by polynomials, and
`boxes` sums all documents of a box of scores at once.
The squared hinge: `hinge` sums by sorting. The exponential loss: `exponential` factorises.
`masses` sums weights of pairs. `clicks` is for the pairs of click logs.
"""
