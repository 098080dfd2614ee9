"""What losses see: queries with their labels, weights, pairs and grades; and tables of features as users have them."""
