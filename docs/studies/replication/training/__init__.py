"""Trainings: splits, learners, and the tasks of a study."""
