"""Training on a Dask cluster: whole queries per partition, one loss over all workers, the same model.

>>> import boostplug as bp
>>> bp.dask.partition_by_query.__name__
'partition_by_query'
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from boostplug.core.extras import LIBRARIES, imported, needed_by

with needed_by("boostplug.dask needs", "dask", "distributed"):
    import dask.dataframe
    import distributed

# Public name -> the module of this package that defines it: each framework is loaded by its own ranker alone.
_HOME = {
    "LGBMRanker": "lightgbm",
    "XGBRanker": "xgboost",
    "check_partitions": "partitions",
    "partition_by_query": "partitions",
}

__all__ = sorted(_HOME)  # noqa: PLE0605 (strings, all of them)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'boostplug.dask' has no attribute {name!r}")
    if _HOME[name] in LIBRARIES:  # a framework's ranker
        imported(_HOME[name], f"boostplug.dask.{name} needs", "dask")
    value = globals()[name] = getattr(import_module(f"boostplug.dask.{_HOME[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if TYPE_CHECKING:
    from boostplug.dask.lightgbm import LGBMRanker as LGBMRanker
    from boostplug.dask.partitions import check_partitions as check_partitions
    from boostplug.dask.partitions import partition_by_query as partition_by_query
    from boostplug.dask.xgboost import XGBRanker as XGBRanker
