"""Benchmark clicks: a call of `Unbiased` beside its base's, and pairs from a large log."""

from collections.abc import Iterator, Mapping
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from boostplug.data.pairs import Pairs
from boostplug.data.queries import Queries
from boostplug.losses import LambdaRank, Loss, MPBoost, QBRank, RankNet, Unbiased
from studies.speed.benchmark import Benchmark, Column, Row, Setting
from studies.speed.measuring.clock import in_turns
from studies.speed.measuring.data import scores_of

__all__ = ["Clicks"]

_ROWS, _SIZES = 1_000_000, (10, 40, 120)
_IMPRESSIONS, _PAGE, _SHOWN_AGAIN = 10_000_000, 10, 10
_CALLS = 9
_MOST = 1.6  # times the base
_BASES: tuple[Loss, ...] = (RankNet(), QBRank(), MPBoost(), LambdaRank())
_CALL, _PAIRS = "A call on pages of {}", "Pairs from a log"

# Further arguments of each method, by the size of a page.
_METHODS: Mapping[str, dict[str, Any]] = {
    "unbiased_lambdamart": {},
    "additive": {},
    "ips": {"propensity": lambda size: 1.0 / np.arange(1.0, size + 1)},
}


class Clicks(Benchmark):
    """A call of `Unbiased` around several losses beside its base's, and `Pairs.from_clicks`.

    A page has one document at each position, scores are normal, and one row in ten to twenty has a click. *Merged*
    passes `row=`: each document is shown on ten pages, and all clicks on two documents become one pair.
    """

    name = "clicks"
    title = "learning from clicks: a call of Unbiased, pairs from a log"
    columns = (
        Column("rows", "rows", "given"),
        Column("milliseconds", "ms"),
        Column("share", "of the base's", "ratio", 2),
        Column("seconds", "s", digits=2),
        Column("pairs", "pairs", "given"),
    )

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._calls = setting.count(_CALLS, 3)
        self._log = _pages(setting.count(_IMPRESSIONS // _PAGE, 20), _PAGE)

    def run(self) -> Iterator[Row]:
        """Measure all of it once."""
        for size in _SIZES:
            self.setting.say(f"pages of {size}")
            yield from self._of_calls(size)
        self.setting.say("pairs from clicks")
        yield from self._of_pairs()

    def _of_calls(self, size: int) -> Iterator[Row]:
        pages = _pages(self.setting.count(_ROWS // size, 10), size)
        scores = scores_of(pages)
        for base in _BASES:
            losses: dict[str, Loss] = {base.name: base}
            for method, more in _METHODS.items():
                known = {name: value(size) for name, value in more.items()}
                losses[f"{base.name}, {method}"] = Unbiased(base=base, method=method, **known)
            calls = {name: partial(loss.gradient_hessian, scores, pages) for name, loss in losses.items()}
            seconds = in_turns(calls, self._calls)
            for name, taken in seconds.items():
                share = {} if name == base.name else {"share": taken / seconds[base.name]}
                values = {"rows": pages.n_rows, "milliseconds": 1e3 * taken, **share}
                yield Row(_CALL.format(size), name, values, dict.fromkeys(share, _MOST))

    def _of_pairs(self) -> Iterator[Row]:
        log = self._log
        given = {"clicked": log.labels, "group": np.diff(log.boundaries), "position": log.position}
        documents = np.arange(log.n_rows) % (log.n_rows // _SHOWN_AGAIN)
        for rule in ("skip_above", "skip_next", "all_unclicked"):
            for name, more in ((rule, {}), (f"{rule}, merged", {"row": documents})):
                start = perf_counter()
                pairs = Pairs.from_clicks(rule=rule, **given, **more)
                taken = perf_counter() - start
                yield Row(_PAIRS, name, {"rows": len(documents), "seconds": taken, "pairs": len(pairs.winner)})


def _pages(n_pages: int, size: int) -> Queries:
    """Return pages with clicks, of which there are fewer further down."""
    rng = np.random.default_rng(0)
    place = np.tile(np.arange(1, size + 1), n_pages)
    relevance = 0.1 + 0.6 / (1.0 + np.exp(-rng.normal(size=len(place))))
    clicked = (rng.random(len(place)) < relevance / place).astype(np.float64)
    return Queries(clicked, group=np.full(n_pages, size), position=place)
