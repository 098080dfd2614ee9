"""Sums of the exponential loss over pairs, in linear time.

Read `by_grade`, which factorises the sums grade by grade, then `grade_boxes`, for queries of many grades. Both take a
query's scores and weights, and return its derivatives, by `one_query`.
"""
