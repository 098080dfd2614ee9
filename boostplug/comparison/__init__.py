"""Comparisons of losses and rankers on data sets.

Read `compare` (the public function), `arguments` (its checks), `inputs` (its data sets), `training` (the trainings and
their store), `significance` (tests and intervals), `outcomes` (where they are applied to trainings), `result` (what
`compare` returns), `summary` (it as values and as JSON), `recommendation` (it as code) and `report` (it for readers).
`live` and `console` show progress; `document` and `machine` are for every file of results, those of
`boostplug.replication` too.
"""
