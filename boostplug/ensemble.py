"""Where pickles of boostplug 0.1.0 look for `Ensemble`; it stands in `boostplug.model`."""

from boostplug.model.ensemble import Ensemble

__all__ = ["Ensemble"]
