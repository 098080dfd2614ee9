"""Generators of random numbers from the usual arguments."""

import numpy as np

from boostplug.core.checks import check_integer

RandomState = int | np.random.Generator | np.random.RandomState | None


def generator(random_state: RandomState) -> np.random.Generator:
    """Return a generator of random numbers from a seed, a generator or None."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.Generator(np.random.PCG64(random_state.randint(0, 2**31 - 1, size=4).tolist()))
    if random_state is None:
        return np.random.Generator(np.random.PCG64())
    seed = check_integer("random_state", random_state, 0, ", a Generator, a RandomState or None")
    return np.random.Generator(np.random.PCG64(seed))
