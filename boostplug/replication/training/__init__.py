"""Trainings: splits, learners, and one task of a study."""
