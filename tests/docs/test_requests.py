"""The request bodies of the pages on search engines: JSON with the fields that the engines document."""

import json
import re
from pathlib import Path

import pytest

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


def test_rescoring_by_a_query_leaves_the_models_score_only():
    """The default adds the first score; an engine that replaces it has no weights."""
    rescorers = [body["rescore"] for _, text in BODIES if "rescore" in (body := json.loads(text))]
    of_queries = [rescorer["query"] for rescorer in rescorers if "query" in rescorer]
    assert len(rescorers) == 2
    assert len(of_queries) == 1
    (query,) = of_queries
    assert query.keys() <= QUERY_RESCORER
    assert (query["query_weight"], query["rescore_query_weight"]) == (0, 1)
    assert query.get("score_mode", "total") == "total"
