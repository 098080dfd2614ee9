"""Comparisons of losses and rankers on data sets, in eight stations.

1. `inputs`: the user's data, and 2. folds of training, validation and test parts; doubts about columns (`leaks`, `ids`)
   and about the score in use (`today`).
3. `training`: a run for each method, fold and seed, by joblib; `compare` starts them, with `arguments` checked.
4. `result`: the class that `compare` returns, with all runs as a DataFrame.
5. `outcomes`: statistics of the runs by `significance`, a row of the document for each method.
6. `decision`: keep the incumbent or replace it, by what `choosing` chose without the queries that test it;
   `recommendation` is its code.
7. ``CompareResult.document``: all of it as one dictionary, with plain `counts`; `examples` are queries to look at.
8. `report`: the table, the page, the picture and the words, from the document.

`console` shows progress. `document` is for all files of results, also those of the studies.
"""
