"""Build matrices with query ids of 64 bits, and one with a pandas Series of ids above 2^24."""

import numpy as np
import pandas as pd
import xgboost as xgb


def groups(qid):
    """Return the boundaries of queries in a matrix, or what XGBoost says."""
    try:
        return xgb.DMatrix(np.zeros((6, 1)), label=np.arange(6.0), qid=qid).get_uint_info("group_ptr")
    except xgb.core.XGBoostError as error:
        return str(error).split("Check failed: ")[-1].splitlines()[0]


print("XGBoost", xgb.__version__)
six = np.arange(6)
print("0, 1, 2, 3, 4, 5          ", groups(six))
print("the same times 2**32      ", groups(six * 2**32))
print("increasing, not mod 2**32 ", groups(np.array([1, 1, 2, 2, 2**32, 2**32])))
print("from 2**24 on, array      ", groups(six + 2**24))
print("from 2**24 on, Series     ", groups(pd.Series(six + 2**24)))
