"""Adapters between the frameworks' datasets and `Queries`; they know no maths."""
