"""Inputs of a comparison: tables, files and folders, as folds of training, validation and test parts.

Read `frames` (columns of a table), `data` (parts and folds from the user's arguments), `folds` (the loaded data).
"""
