"""What the tasks of a study add up to, and whether that bears a claim out."""
