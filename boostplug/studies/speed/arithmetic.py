"""What a training on many documents and machines needs, from what a document and a feature cost on one thread."""

from collections.abc import Mapping
from dataclasses import dataclass

from boostplug.studies.speed.costs import TrainingSetup

__all__ = ["EFFICIENCY", "Cluster", "Costs", "needs"]

EFFICIENCY = 0.7
"""The share of a core's time that is work, where all cores of all machines train: assumed, not measured."""

_FEATURE_IN_A_FRAME = 4  # bytes, as float32


@dataclass(frozen=True)
class Costs:
    """What a training costs on one thread.

    Attributes
    ----------
    gradient_ns : float
        Nanoseconds of the loss in a round, for a document.
    tree_ns : float
        Nanoseconds of the rest of a round, for a document and a feature.
    document_bytes : float
        The most that is in memory for a document beside its features themselves.
    """

    gradient_ns: float
    tree_ns: float
    document_bytes: float | None


@dataclass(frozen=True)
class Cluster:
    """Machines, each with a worker that has so many cores."""

    workers: int
    cores: int

    @property
    def name(self) -> str:
        """In words."""
        machines = "1 machine" if self.workers == 1 else f"{self.workers} machines"
        return f"{machines} of {self.cores} cores"


def needs(
    training: TrainingSetup, costs: Costs, cluster: Cluster, *, documents: float, features: int
) -> Mapping[str, float]:
    """Return what a training needs.

    Returns
    -------
    mapping of str to float
        ``worker_gigabytes``, the most on a worker, where it is known; ``frame_gigabytes``, what its part of the
        features takes beside, as float32, while a frame of them is in memory; ``seconds_per_round``;
        ``gradient_share`` of these; ``network_megabytes``, what a worker sends in a round, where there are several.
    """
    n = documents / cluster.workers
    seconds = 1e-9 * n / (cluster.cores * EFFICIENCY)
    gradient, trees = seconds * costs.gradient_ns, seconds * costs.tree_ns * features
    values = {"seconds_per_round": gradient + trees, "gradient_share": gradient / (gradient + trees)}
    if costs.document_bytes is not None:
        values["worker_gigabytes"] = 1e-9 * (n * costs.document_bytes + training.histogram_bytes(features))
    if training.in_memory:
        values["frame_gigabytes"] = 1e-9 * n * features * _FEATURE_IN_A_FRAME
    if cluster.workers > 1:
        values["network_megabytes"] = 1e-6 * training.network_bytes(features, cluster.workers)
    return values
