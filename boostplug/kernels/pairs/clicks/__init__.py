"""Pairs of click logs, counted by the positions of both documents."""
