"""Sums over complete lists. Read `order`, then `softmax`, or `lambdas` (LambdaRank)."""
