"""All targets: those of single calls, of trainings and of whole experiments."""

import fuzz.experiments
import fuzz.trainings  # noqa: F401 (both add theirs)
from fuzz.targets import TARGETS

__all__ = ["TARGETS"]
