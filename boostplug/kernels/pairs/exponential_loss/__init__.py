"""Sums of the exponential loss over pairs.

Read `by_grade` first, which factorises the sums grade by grade. `by_pair` has the plain loop, for short lists with many
grades. `far` sums queries with clipped exponents, and `query` holds the documents of one query.
"""
