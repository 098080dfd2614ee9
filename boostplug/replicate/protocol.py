"""`Protocol`: what the replication of a paper consists of, as data fixed before anything is trained."""

from dataclasses import dataclass

from boostplug.replicate.claims import Claim
from boostplug.replicate.figures import Figure
from boostplug.replicate.study import Study

__all__ = ["Protocol"]


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """A paper: its studies, what it claims of them, and where ours differ.

    Attributes
    ----------
    name : str
        On the command line.
    paper : str
    studies : tuple of Study
        Those are run whose data the folder holds; without folder, those on the bundled set.
    claims : tuple of Claim
    deviations : tuple of str
        What differs from the paper, and why.
    figures : tuple of Figure
    seed : int
        Of every ranker.
    """

    name: str
    paper: str
    studies: tuple[Study, ...]
    claims: tuple[Claim, ...]
    deviations: tuple[str, ...]
    figures: tuple[Figure, ...] = ()
    seed: int = 0
