"""`Protocol`: what the replication of a paper consists of, as data fixed before anything is trained."""

from dataclasses import dataclass

from boostplug.studies.replication.checked import Check
from boostplug.studies.replication.claims import Citation, Claim
from boostplug.studies.replication.figures import Figure
from boostplug.studies.replication.study import Study

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
        What the paper says of its experiments.
    deviations : tuple of str
        What differs from the paper, and why; and every choice that was made after a result had been seen.
    theorems : tuple of Check
        What the paper proves: it cannot fail but by an error of ours.
    baselines : tuple of Check
        Published rows of methods that are trained here too.
    not_tested : tuple of (Citation, str)
        What else the paper claims of its experiments, and why it is not judged here.
    figures : tuple of Figure
    seed : int
        Of every ranker.
    """

    name: str
    paper: str
    studies: tuple[Study, ...]
    claims: tuple[Claim, ...]
    deviations: tuple[str, ...]
    theorems: tuple[Check, ...] = ()
    baselines: tuple[Check, ...] = ()
    not_tested: tuple[tuple[Citation, str], ...] = ()
    figures: tuple[Figure, ...] = ()
    seed: int = 0
