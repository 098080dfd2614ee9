"""The request bodies of the pages on search engines: JSON with the fields that the engines document."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import boostplug as bp

DOCS = Path(__file__).parents[2] / "docs"
BODIES = [
    (page, body)
    for page in ("guides/search_engines.md", "tutorials/search_engine.md")
    for body in re.findall(r"^```json\n(.*?)^```$", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
]

RESCORE = {"window_size", "query", "learning_to_rank"}
QUERY_RESCORER = {"query_weight", "rescore_query_weight", "rescore_query", "score_mode"}
SLTR = {"model", "params", "store", "_name", "featureset", "active_features", "boost", "cache"}
FEATURE = {"name", "params", "template_language", "template"}
LOG_SPECS = {"name", "named_query", "rescore_index", "missing_as_zero"}
SOLR_FEATURE = {"store", "name", "class", "params"}
SOLR_CLASSES = {"SolrFeature", "FieldValueFeature", "OriginalScoreFeature", "ValueFeature", "FieldLengthFeature"}


def objects(value, name=""):
    """Yield each object of a body, with the name under which it stands."""
    if isinstance(value, dict):
        yield name, value
    for key, item in value.items() if isinstance(value, dict) else ((name, one) for one in value):
        if isinstance(item, (dict, list)):
            yield from objects(item, key)


@pytest.mark.parametrize(("page", "text"), BODIES)
def test_bodies_have_the_fields_that_engines_document(page, text):
    body = json.loads(text)
    known = {"rescore": RESCORE, "sltr": SLTR, "features": FEATURE, "log_specs": LOG_SPECS}
    known["learning_to_rank"] = {"model_id", "params"}
    for name, found in objects(body):
        assert found.keys() <= known.get(name, found.keys())
    if isinstance(body, list):
        assert all(feature.keys() == SOLR_FEATURE for feature in body)
        assert {feature["class"].removeprefix("org.apache.solr.ltr.feature.") for feature in body} <= SOLR_CLASSES


def rescorer():
    """Return the one rescorer of a query; an engine that replaces the first score has no weights."""
    rescorers = [body["rescore"] for _, text in BODIES if "rescore" in (body := json.loads(text))]
    assert len(rescorers) == 2
    (found,) = [one for one in rescorers if "query" in one]
    return found


@pytest.fixture(scope="module")
def model():
    """Return the scores of an exported model for 3,000 documents, in single precision, some of them equal."""
    pytest.importorskip("lightgbm")
    train = bp.datasets.load_bundled().train
    X = np.nan_to_num(train.X)[:3000]
    ranker = bp.LGBMRanker(objective=bp.QBRank(), n_estimators=50, verbose=-1, n_jobs=1)
    ranker.fit(X, train.y[:3000], qid=train.qid[:3000])
    offset = json.loads(bp.export(ranker, to="opensearch-ltr", X=X))[0]["leaf"]
    scores = (ranker.predict(X) + offset).astype(np.float32)
    assert offset > 0 <= scores.min()
    assert len(np.unique(scores)) < len(scores)
    return scores


def rescored(first, model, query, window):
    """Return the scores of one shard's hits as QueryRescorer of Elasticsearch and OpenSearch computes them."""
    scores = first * np.float32(query["query_weight"])
    top = np.lexsort((np.arange(len(first)), -first))[:window]
    scores[top] += model[top] * np.float32(query["rescore_query_weight"])
    assert scores.dtype == np.float32
    return scores, top


def by(scores):
    """Return the order of hits: equal scores by the number of the document."""
    return np.lexsort((np.arange(len(scores)), -scores))


@pytest.mark.parametrize("seed", range(5))
def test_a_small_weight_lets_the_model_rank_and_keeps_the_first_order_below_the_window(model, seed):
    request = rescorer()
    query, window = request["query"], request["window_size"]
    assert query.keys() <= QUERY_RESCORER
    assert query.get("score_mode", "total") == "total"
    rng = np.random.default_rng(seed)
    rows = rng.choice(len(model), 1000, replace=False)
    model, largest = model[rows], model.max()
    first = rng.gamma(2.0, 3.0, 1000).astype(np.float32)
    first *= np.float32(30.0 / first.max())  # as the guide says: 1e-7 is for first scores up to 30
    scores, top = rescored(first, model, query, window)
    order = by(scores)
    assert {*order[:window]} == {*top}
    np.testing.assert_array_equal(order[window:], by(first)[window:])
    assert np.abs(scores[top] - model[top]).max() <= 1.1e-6 * largest
    falls = np.diff(model[order[:window]].astype(np.float64))
    assert falls.max() <= 1.1e-6 * largest  # no pair of a larger difference is exchanged
    without = {**query, "query_weight": 0}
    assert not np.array_equal(by(rescored(first, model, without, window)[0])[window:], by(first)[window:])
    default = by(rescored(first, model, {**query, "query_weight": 1}, window)[0])
    assert np.diff(model[default[:window]]).max() > 0.1 * largest


def test_the_first_score_breaks_ties_in_eight_steps(model):
    weight = np.float32(1e-6) * model.max() / np.float32(30)
    step = np.arange(8, dtype=np.float32) * np.float32(30 / 7)
    for score in (model.max(), model.min()):
        scores, _ = rescored(step, np.full(8, score), {"query_weight": weight, "rescore_query_weight": 1}, 8)
        np.testing.assert_array_equal(by(scores), np.arange(8)[::-1])


@pytest.mark.parametrize("lowest", [0.0, 2e-6])
def test_with_several_shards_the_lowest_score_must_be_above_what_the_first_score_adds(lowest):
    """A shard's window has the higher first scores of that shard, and not of all."""
    query = {"query_weight": 1e-7, "rescore_query_weight": 1}
    model = np.full(10, lowest, np.float32)
    low, high = np.float32(np.arange(10)), np.float32(np.arange(10)) + np.float32(8)
    (scores, window), (others, other_window) = (rescored(first, model, query, 5) for first in (low, high))
    below = np.delete(others, other_window)
    assert scores[window].min() > np.delete(scores, window).max()  # within a shard
    assert (scores[window].min() > below.max()) == (lowest > 0)
