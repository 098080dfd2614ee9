"""Sums of the exponential loss over pairs.

Read `by_grade` first, which factorises the sums grade by grade. `by_pair` has the plain loop, for short lists with many
grades, `far` the sums of scores so far apart that exponents are cut, and `query` the documents of one query.
"""
