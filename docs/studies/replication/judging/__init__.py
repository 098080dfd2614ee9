"""Results of a study over all its tasks, and verdicts on claims about them."""
