"""Sums over complete lists. Read `order`, then `softmax` or `lambdas`; `lambda_halves` sums long lists."""
