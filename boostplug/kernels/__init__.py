"""Numba kernels: sums over the documents, pairs or lists of queries.

Read `base` first, then one of the others. Each folder says in which order its files are best read.

- `base`: the decorators, elementary functions, sorting, and the arrays that kernels read.
- `pairs`: sums over preference pairs, for losses on score differences, and squared errors of labels beside them.
- `lists`: sums over complete lists, for softmax losses, LambdaRank and centred squared errors.
- `metrics`: metrics of each query.

`boostplug.core.threads.run_over_queries` runs a kernel over many queries in parallel. The kernels of rankers stand
beside them, in `boostplug.rankers` and `boostplug.weak_rankers`.
"""
