"""The public data sets and CatBoost, as the studies use them."""
