"""Comparisons of losses and rankers on data sets, in eight stations, of which each imports only those before it.

1. `inputs.columns`, `inputs.data`: the user's data, as parts with checked features and queries.
2. `inputs.folds`: folds of training, validation and test parts, and doubts about them: about columns (`ids`, `leaks`),
   clicks, shared queries (`contents`) and the score in use (`today`). Columns that are no leak but rank almost as well
   alone as the best model are noted in station 4.
3. `training`: a run for each method, fold and seed.
4. `comparison`: the runs with their statistics, a row of the document for each method; `choosing` chooses a method for
   each fold without the queries that test it.
5. `decision`: keep the incumbent, or replace it.
6. `document`: all of it as one dictionary, with plain `counts`, `examples` to look at, and code (`recommendation`).
7. `report`: sentences, table, page and picture from the document.
8. `compare` with its checked `arguments` goes through the stations, and returns the class in `result`.

A sentence about the data, the arguments or the names of methods is made where its finding arises, and stands in the
document as text: a warning, a note, or a reason not to rely on the comparison. `report.words` puts these into their
places, and makes all sentences about results from the document's numbers.

All stations may use `significance` (tests and intervals), `summary` (JSON), `formats` (numbers in text) and `console`.
"""
