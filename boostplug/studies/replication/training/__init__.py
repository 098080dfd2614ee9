"""What is trained: splits, learners, and one task of a study."""
