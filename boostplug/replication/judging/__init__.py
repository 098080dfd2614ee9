"""Results of a study's tasks together, and whether they support a claim."""
