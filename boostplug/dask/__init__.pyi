from boostplug.dask.lightgbm import LGBMRanker as LGBMRanker
from boostplug.dask.partitions import check_partitions as check_partitions
from boostplug.dask.partitions import partition_by_query as partition_by_query
from boostplug.dask.xgboost import XGBRanker as XGBRanker
