"""Comparisons of losses and rankers on data sets, in eight stations, of which each imports only those before it.

1. `inputs.columns`, `inputs.data`: the user's data, as parts with checked features and queries.
2. `inputs.folds`: folds of training, validation and test parts; doubts about columns (`ids`, `leaks`), about clicks and
   about the score in use (`today`).
3. `training`: a run for each method, fold and seed.
4. `outcomes`: statistics of the runs, a row of the document for each method; `choosing` chooses a method for each fold
   without the queries that test it.
5. `decision`: keep the incumbent, or replace it.
6. `document`: all of it as one dictionary, with plain `counts`, `examples` to look at, and code (`recommendation`).
7. `report`: sentences, table, page and picture from the document.
8. `compare` with its checked `arguments` goes through the stations, and returns the class in `result`.

All stations may use `significance` (tests and intervals), `summary` (JSON), `formats` (numbers in text) and `console`.
"""
