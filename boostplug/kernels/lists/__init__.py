"""Sums over complete lists. Read `order`, then `softmax`, or `lambdas` and `lambda_halves` (LambdaRank)."""
