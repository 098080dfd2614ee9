"""Training on a Dask cluster: whole queries per partition, one loss over all workers, the same model.

>>> import boostplug as bp
>>> bp.dask.partition_by_query.__name__
'partition_by_query'
"""

from importlib import import_module

from boostplug.core.extras import needed_by
from boostplug.core.lazy import names_in_stub as _names_in_stub

with needed_by("boostplug.dask needs", "dask", "distributed"):
    import_module("dask.dataframe")
    import_module("distributed")

# Each framework is loaded only by its own ranker.
__getattr__, __dir__, __all__ = _names_in_stub(__name__, __file__)
