"""Learning-to-rank losses from the literature as objectives for LightGBM and XGBoost.

>>> import boostplug as bp
>>> bp.MPBoost()
MPBoost(distance=LogDistance(lam=3.0), hessian='newton', normalization='rows')
"""

from boostplug.core.lazy import names_in_stub as _names_in_stub
from boostplug.core.version import __version__ as __version__

__getattr__, __dir__, __all__ = _names_in_stub(__name__, __file__)
