"""A small source of data, and protocols on it."""

from dataclasses import dataclass, replace

from boostplug.datasets import make_ranking
from studies.replication import PAPERS
from studies.sources import Loaded, Split


@dataclass(frozen=True)
class Toy:
    """Two folds of a small set, or one."""

    as_published: bool = True
    n_queries: int = 8
    n_features: int = 4
    n_grades: int = 5
    n_folds: int = 2
    wanted = ""
    real = True

    def load(self, _folder):
        parts = [
            make_ranking(
                self.n_queries, n_features=self.n_features, mean_list_size=12, n_grades=self.n_grades, random_state=seed
            )
            for seed in range(4)
        ]
        splits = [Split("", 1, *parts[:3]), Split("", 2, *parts[1:])][: self.n_folds]
        return Loaded(splits, ("a note",), as_published=self.as_published)


def small(name, studies, rounds, source):
    """Return a paper's protocol with some of its studies alone, on a small source, and all that is said of them."""
    paper = PAPERS[name]
    kept = {
        kind: tuple(part for part in getattr(paper, kind) if part.study in studies)
        for kind in ("claims", "theorems", "baselines", "figures")
    }
    own = tuple(replace(one, source=source, rounds=rounds) for one in paper.studies if one.name in studies)
    return replace(paper, studies=own, **kept)
