"""Queries whose pairs have weights of their own, as losses that correct for positions make them."""

from dataclasses import replace

from boostplug.core.checks import frozen


def with_pair_weights(queries, winner, loser):
    """Return the same queries with pair weights multiplied by ``winner[i] * loser[j]``, where i is preferred."""
    groups = queries.grade_groups
    root = groups.sqrt_weight if len(groups.sqrt_weight) else 1.0
    out = queries.with_grade_groups(groups.weighted(winner[groups.rows] * root, loser[groups.rows] * root))
    if queries.pairs is not None:
        pairs = queries.listed_pairs
        factor = winner[pairs.winner] * loser[pairs.loser]
        out.__dict__["listed_pairs"] = replace(pairs, weight=frozen(pairs.weight * factor))
    return out
