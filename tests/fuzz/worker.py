"""A process that makes many calls of one target: ``python tests/fuzz/worker.py TARGET CALLS SEED FILE``.

The file gets a JSON of what came of them. Before each call its text is written to FILE.call, so that a call that ends
the process, or never ends, can be read there.
"""

import faulthandler
import json
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.all_targets import TARGETS
from fuzz.harness import outcome_of
from hypothesis import HealthCheck, Phase, given, seed, settings

_SECONDS = 60  # for one call
_BYTES = 12 << 30  # of address space: what asks for more fails


def main(name, n_calls, start, path):
    """Make the calls, and write what came of them."""
    counts, defects = Counter(), {}
    current = Path(f"{path}.call")

    def call(text):
        if sum(counts.values()) >= n_calls:
            return
        current.write_text(text, encoding="utf-8", errors="surrogatepass")
        faulthandler.dump_traceback_later(_SECONDS, exit=True)
        outcome = outcome_of(text)
        faulthandler.cancel_dump_traceback_later()
        counts[outcome.kind] += 1
        if outcome.kind == "else":
            known = defects.setdefault(outcome.defect, {"n": 0, "text": text, "detail": outcome.detail})
            known["n"] += 1
            if len(text) < len(known["text"]):
                known.update(text=text, detail=outcome.detail)

    some = settings(
        max_examples=1000,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    part = 0
    while sum(counts.values()) < n_calls:
        seed(1_000_003 * start + part)(some(given(TARGETS[name].strategy)(call)))()
        part += 1
    Path(path).write_text(json.dumps({"target": name, "counts": counts, "defects": defects}))
    current.unlink()


if __name__ == "__main__":
    faulthandler.enable()
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_BYTES, _BYTES))
    except ImportError:  # not on Windows
        pass
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
