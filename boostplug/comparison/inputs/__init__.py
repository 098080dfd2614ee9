"""Inputs of a comparison: tables, files and folders, as folds of training, validation and test parts.

Read `columns` (columns of a table), `data` (parts and folds from the user's arguments), `folds` (the loaded data), then
what doubts them: `ids`, `contents`, `clicks`, `today` and `leaks`, which look at the columns by `features`.
"""
