"""Comparisons of losses and rankers on data sets.

Read the modules in this order:

- `compare`, the public function, and `arguments`, its checks;
- `inputs`, the data sets, and `training`, the trainings and their store;
- `significance`, tests and intervals, and `outcomes`, which applies them to trainings;
- `result`, the class that `compare` returns, and `summary`, its values as JSON;
- `recommendation`, the code of the recommended method, and `report`, the HTML page.

`live` and `console` show progress. `document` and `machine` are for all files of results, also those of
`boostplug.replication`.
"""
