"""Comparisons of losses and rankers on data sets, in eight stations.

1. `inputs`: the user's data, and 2. folds of training, validation and test parts.
3. `training`: a run for each method, fold and seed, by joblib; `compare` starts them, with `arguments` checked.
4. `result`: the class that `compare` returns, with all runs as a DataFrame.
5. `outcomes`: statistics of the runs by `significance`, a row of the document for each method.
6. `decision`: keep the incumbent or replace it; `recommendation` is its code.
7. ``CompareResult.document``: all of it as one dictionary.
8. `report`: the table, the page and the words, from the document.

`console` shows progress. `document` and `machine` are for all files of results, also those of `boostplug.replication`.
"""
