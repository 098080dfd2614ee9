"""`ENGINES`: what is known of each search engine, a row each."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from boostplug.model import readers, writers

_PART = r"[A-Za-z_$@][\w$@]*(\([\w$@.,]*\))?"
_RANK_FEATURE = rf"(?a)(?!(?:if|in|true|false)$){_PART}(\.{_PART})*"
_NO_RANK_FEATURE = (
    "which Vespa refuses or reads as a number or a formula; give each the name of a rank feature or function, such as "
    "title_bm25, bm25(title) or fieldMatch(title).completeness"
)


class Engine(NamedTuple):
    """A search engine. A new one is a writer, a reader and a row in `ENGINES`.

    Attributes
    ----------
    title, text : str
        Its name, and what `export` returns for it, in messages and docs.
    write : callable
        Takes trees, the names of the features, and `options`.
    read : callable, optional
        Takes the text and the columns of some rows, and returns a `readers.Model`. None: no text, but a ranker.
    missing : tuple of str
        Values of `missing` that it takes. Without "zero", it treats missing values as the trees do.
    learnt : str
        What to do, in messages and docs, if the model has learnt from missing values.
    offset : "auto" or float, optional
        Default of `offset`. None: it takes none.
    options : tuple of str
        Arguments of `export` that not every engine takes.
    names : (str, str)
        Pattern of the names of features that it takes, and what is wrong with others.
    dump : callable, optional
        Writes a booster of LightGBM with its categories, where the engine reads LightGBM's own format.
    """

    title: str
    text: str
    write: Callable[..., Any]
    read: Callable[[str, readers.FeatureValues], readers.Model] | None
    missing: tuple[str, ...] = ("zero",)
    learnt: str = ""
    offset: str | float | None = 0.0
    options: tuple[str, ...] = ()
    names: tuple[str, str] = (r".*", "")
    dump: Callable[..., str] | None = None


ENGINES = {
    "solr": Engine(
        "Solr", "JSON of a `MultipleAdditiveTreesModel`", writers.solr, readers.solr, options=("name", "store")
    ),
    "elasticsearch-ltr": Engine(
        "Elasticsearch with the plugin elasticsearch-learning-to-rank",
        "JSON, type `model/xgboost+json`",
        writers.xgboost_dump,
        partial(readers.plugin, directions=True),
        missing=("nan", "zero"),
        learnt="for plugins since 1.5.9, missing='nan'",
        offset="auto",
    ),
    "opensearch-ltr": Engine(
        "OpenSearch with the plugin ltr",
        "JSON, type `model/xgboost+json`",
        writers.xgboost_dump,
        readers.plugin,
        missing=("nan", "zero"),
        learnt="for OpenSearch since 3.8.0, missing='nan'",
        offset="auto",
    ),
    "ranklib": Engine(
        "both plugins, RankLib", "XML, type `model/ranklib`, features numbered from 1", writers.ranklib, readers.ranklib
    ),
    "vespa": Engine(
        "Vespa",
        "JSON as LightGBM or XGBoost dump it",
        writers.xgboost_dump,
        readers.vespa,
        missing=("nan",),
        offset=None,
        names=(_RANK_FEATURE, _NO_RANK_FEATURE),
        dump=writers.vespa,
    ),
    "xgboost": Engine(
        "Elastic's own learning to rank",
        "a plain `xgboost.XGBRanker`, for `eland`",
        writers.xgboost_ranker,
        None,
        missing=("nan",),
        learnt="XGBoost keeps that, and eland does not: fill them with 0 in training for Elastic",
    ),
}
