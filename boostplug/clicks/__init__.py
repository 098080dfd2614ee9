"""Clicks: simulated logs, how likely each position is looked at, and rankings evaluated on logs.

>>> import boostplug as bp
>>> data = bp.datasets.make_ranking(50, random_state=0)
>>> bp.clicks.simulate(data, ranker="random", sessions=1000, random_state=0)
ClickLog(n_pages=1000, n_rows=30832, n_clicks=591)
"""

from boostplug.clicks.correction import Correction, correction
from boostplug.clicks.evaluate import Estimate, Evaluation, evaluate
from boostplug.clicks.propensity import Propensity, propensity
from boostplug.clicks.simulate import simulate
from boostplug.data.click_log import ClickLog

__all__ = [
    "ClickLog",
    "Correction",
    "Estimate",
    "Evaluation",
    "Propensity",
    "correction",
    "evaluate",
    "propensity",
    "simulate",
]
