"""Pairs of click logs: `listing` lists them, `by_position` counts them by the positions of both documents."""
