"""Deliberate defects, as data: each is one small change of the package that the tests must notice.

A defect is found by its text, which stands exactly once in the package, so that it follows a move from file to file;
the room says where it belongs. Add one whenever a defect is found that the tests had let pass, beside the test that it
called for: a change that nothing notices is a missing test, whatever the coverage.
"""

from dataclasses import dataclass

__all__ = ["BREAKAGES", "SURVIVED", "Breakage"]

# Those that the tests of version 0.1.0 let pass.
SURVIVED = {
    "AdaRank's weight is capped at half of what is allowed",
    "the lowest curve is taken for the highest",
    "what is within noise holds",
    "who overfits more is taken for who overfits less",
    "who is behind beyond noise at one measure is forgiven",
    "a dataset's new weights are not read",
    "a forked child does without helping threads",
    "a framework's threads stay after it",
    "errors of helping threads are lost",
}


@dataclass(frozen=True)
class Breakage:
    """One defect.

    Attributes
    ----------
    name : str
    room : str
        Where in the package the text stands.
    old, new : str
        The text, and what is wrong instead.
    tests : tuple of str
        Files or folders in tests/ of which one test must fail.
    """

    name: str
    room: str
    old: str
    new: str
    tests: tuple[str, ...]


def _in(room, tests, *breakages):
    """Return the breakages of one room, given as (name, old, new), that the same tests catch."""
    return [Breakage(name, room, old, new, tests) for name, old, new in breakages]


BREAKAGES = [
    *_in(
        "kernels",
        ("losses/test_lambda_rank.py",),
        (
            "the norm of a list takes its lambdas once",
            "total *= 2.0 * multiplier * n / mass",
            "total *= multiplier * n / mass",
        ),
        (
            "to rise is worth no more to average precision than to stay",
            "won[j] = (relevant + 1.0) / (j + 1.0) - passed",
            "won[j] = relevant / (j + 1.0) - passed",
        ),
        (
            "both halves see the other as the upper one does",
            "right = up == upper",
            "right = up",
        ),
        (
            "halves forget how far below the middle a position is worth",
            "s_apart = s * apart",
            "s_apart = 0.0 * apart",
        ),
    ),
    *_in(
        "kernels",
        ("test_migration.py",),
        ("pairs far apart weigh more than in LightGBM and XGBoost", "_NORM = 0.01  #", "_NORM = 0.02  #"),
    ),
    *_in(
        "losses",
        ("losses/test_lambda_rank.py",),
        (
            "the ideal DCG of LambdaRank is that of the whole list",
            "discount[len(discount) if k is None else k :] = 0.0",
            "discount[len(discount) :] = 0.0",
        ),
    ),
    *_in(
        "losses",
        ("losses/test_list_net.py", "losses/test_squared_error.py", "losses/test_laws.py"),
        (
            "the weight of a list is the mean of its documents'",
            "return frozen(square / total)",
            "return frozen(total / np.diff(runs.start))",
        ),
        (
            "centred squared errors say that a shift matters",
            "return self.centred",
            "return not self.centred",
        ),
    ),
    *_in(
        "kernels",
        ("losses/test_list_net.py",),
        (
            "shares among the others are lost where they vanish beside the first",
            "if whole.others < _VANISHED:",
            "if whole.others < -_VANISHED:",
        ),
        (
            "what a document lacks to 1 is a difference",
            "sums.hessian[row] = c * whole.share * whole.others",
            "sums.hessian[row] = c * whole.share * (1.0 - whole.share)",
        ),
        (
            "Bruch's third term is left out",
            "for _ in range(2):\n                of_one =",
            "for _ in range(1):\n                of_one =",
        ),
        (
            "noise does not see the row",
            "for part in (row, bits if bits != _NEGATIVE_ZERO else unsigned(0)):",
            "for part in (unsigned(0), bits if bits != _NEGATIVE_ZERO else unsigned(0)):",
        ),
        (
            "-0.0 has other noise than 0.0",
            "bits if bits != _NEGATIVE_ZERO else unsigned(0)",
            "bits",
        ),
    ),
    *_in(
        "kernels",
        ("losses/test_squared_error.py",),
        (
            "errors are not taken relative to a document of the list",
            "x: float = (labels[row] - labels[other]) - (scores[row] - scores[other])",
            "x: float = labels[row] - scores[row]",
        ),
        (
            "errors are taken relative to the first document, not to the heaviest",
            "heaviest = at\n        own",
            "heaviest = a\n        own",
        ),
    ),
    *_in(
        "losses",
        ("losses",),
        (
            "pairs of a query average to a number one too small",
            "return runs.unit * (runs.n_judged / runs.n_pairs)",
            "return runs.unit * (runs.n_judged / (runs.n_pairs + 1.0))",
        ),
        (
            "the weights' unit is left out where all pairs of a query weigh 1",
            "return runs.unit / runs.n_pairs",
            "return 1.0 / runs.n_pairs",
        ),
        (
            "the scale of a loss that says nothing of it leaves weights out",
            "return number, number.copy() if queries.row_weight is None else",
            "return number, number.copy() if True else",
        ),
        (
            "QBRank's scale leaves the labels' weights out",
            "weight = number if queries.row_weight is None else np.array([queries.row_weight[judged].sum()])",
            "weight = number",
        ),
        (
            "MPBoost's scale leaves the weights of explicit pairs out",
            "runs.sums(runs.weight * self._pair_distances(queries, runs) ** 2)",
            "runs.sums(self._pair_distances(queries, runs) ** 2)",
        ),
        (
            "PairwiseLoss counts the pairs of a cell in its scale",
            "of_cell = part * (runs.mass[high] * runs.mass[low])",
            "of_cell = part * (np.diff(runs.run_start)[high] * np.diff(runs.run_start)[low])",
        ),
        (
            "the log distance forgets its 1 +",
            "return np.log1p(self.lam * np.asarray(gap, dtype=np.float64))",
            "return np.log(self.lam * np.asarray(gap, dtype=np.float64))",
        ),
        (
            "AdaRank favours the queries that rank well",
            "exponents = -self.metric._per_query(scores, queries)",
            "exponents = self.metric._per_query(scores, queries)",
        ),
        (
            "AdaRank's exponents are as large as the metric",
            "return 0.0 if abs(largest) <= _FAR else largest",
            "return 0.0",
        ),
        (
            "each machine takes AdaRank's exponents from its own largest",
            "(totals * np.exp(references - reference)).sum()",
            "totals.sum()",
        ),
        (
            "AdaRank's metric sees rows of weight 0",
            "kept = weight > 0\n            scores, queries",
            "kept = weight >= 0\n            scores, queries",
        ),
        (
            "NDCGBoost's bound is not twice its newton",
            '(2.0 if self.hessian == "bound" else 1.0)',
            '(1.0 if self.hessian == "bound" else 1.0)',
        ),
        (
            "NDCGBoost's global bound is half of itself",
            "(s * s / (3.0 * np.sqrt(3.0)))",
            "(s * s / (6.0 * np.sqrt(3.0)))",
        ),
        (
            "QBRank's label term is not halved in the value",
            "value = (0.5 * (1.0 - w)) * out.squares",
            "value = (1.0 - w) * out.squares",
        ),
        (
            "a pair is twice as steep at its loser",
            "np.bincount(winner, g, n) - np.bincount(loser, g, n)",
            "np.bincount(winner, g, n) - 2.0 * np.bincount(loser, g, n)",
        ),
    ),
    *_in(
        "kernels",
        ("weak_rankers/test_growth.py",),
        ("the last bit decides between features", "gain > top + tie)", "gain > top)"),
        ("the last bit decides between thresholds", "bar = (gain + tie) / whole", "bar = gain / whole"),
        (
            "a tree grows where the newest leaves are, not where it gains most",
            "if nodes.gain[node] > nodes.gain[chosen] + tie:",
            "if nodes.gain[node] > -1.0:",
        ),
        (
            "a value that is missing later goes right, wherever most rows go",
            "nodes.missing_left[node] = middle - first > n_right",
            "nodes.missing_left[node] = False",
        ),
        (
            "missing values go right, however it fits",
            "for missing_left in range(1 + missing):",
            "for missing_left in range(1):",
        ),
        ("values that are hardly apart are parted", "if upper > lower + _APART:", "if upper > lower:"),
        (
            "light rows lose their weight beside heavy ones",
            "unit = math.ldexp(1.0, math.frexp(total)[1])",
            "unit = 1.0",
        ),
        ("bins keep what they were filled with", "total[turn, 0] = total[turn, 1] = 0.0", "pass"),
        ("targets that are equal are split", "squares * unit > _PURE * total", "squares * unit >= 0.0"),
    ),
    *_in(
        "weak_rankers",
        ("weak_rankers/test_growth.py",),
        (
            "missing values are sorted in front of the others",
            "np.where(np.isnan(column), np.float32(np.inf), column)",
            "np.where(np.isnan(column), np.float32(-np.inf), column)",
        ),
    ),
    *_in(
        "rankers",
        ("rankers/test_units.py",),
        (
            "residuals are fitted in the labels' unit, whatever it is",
            "return 1.0 if abs(exponent) <= _ORDINARY else",
            "return 1.0 if True else",
        ),
        (
            "a tree's weight forgets the residuals' unit",
            "alpha = float(self.learning_rate * step) * unit",
            "alpha = float(self.learning_rate * step)",
        ),
    ),
    *_in(
        "metrics",
        ("rankers/test_units.py", "losses/test_ndcg_boost.py"),
        ("gains of small grades lose their digits", "out[small] = np.expm1(_LN2 * grades[small])", "pass"),
    ),
    *_in(
        "losses",
        ("losses/test_ndcg_boost.py",),
        (
            "the ideal list has its best documents last",
            "rank = np.repeat(runs.query_start[1:], n) - 1 - np.arange(len(runs.rows))",
            "rank = np.arange(len(runs.rows)) - np.repeat(runs.query_start[:-1], n)",
        ),
        (
            "rounding lets gains fall",
            "level[of_query] = np.maximum.accumulate(level[of_query])",
            "level[of_query] = level[of_query]",
        ),
        (
            "near gains lose the digits of their gap",
            "level -= level[runs.query_run[:-1]][query_of_run]",
            "level -= 0.0",
        ),
    ),
    *_in(
        "adapters",
        ("adapters/test_call.py",),
        ("a round's arrays are not handed on", "most = 0 if call.record is _of_nobody else 2", "most = 0"),
        (
            "a call's frame keeps itself, and all that was made in it",
            "call = _understood(a, b, weight, group, totals, inspect.currentframe())",
            "frame = inspect.currentframe()\n        call = _understood(a, b, weight, group, totals, frame)",
        ),
    ),
    *_in(
        "adapters",
        ("adapters/test_job.py",),
        (
            "each worker has a scale of its own",
            "loss.gradient_hessian(call.scores, call.queries, totals=totals)",
            "loss.gradient_hessian(call.scores, call.queries)",
        ),
        (
            "each worker's metric is that of its own queries",
            "total, count = job.gather(np.array(metric.sum_and_count(scores, queries))).sum(axis=0)",
            "total, count = job.gather(np.array(metric.sum_and_count(scores, queries)))[0]",
        ),
        ("one worker's error is its own", "call.fail(error, n_questions)", "raise"),
        (
            "a worker without rows stays out of the job",
            "if not dataset.num_row() and self.workers() is not None:",
            "if False:",
        ),
        ("a worker warns for all", "any_step = job.any_step", "pass"),
    ),
    *_in(
        "adapters",
        ("adapters/test_units.py",),
        ("of many losses in turn each call is a first one", "deque(maxlen=64)", "deque(maxlen=4)"),
        (
            "a first step is looked at from any scores",
            "if np.any(call.scores):\n        with threads_of_framework",
            "if False:\n        with threads_of_framework",
        ),
        (
            "one look at a dataset is enough for all losses",
            "if same and (known.loss is loss or repr(known.loss) == repr(loss)):",
            "if same:",
        ),
        (
            "a loss that is built anew in each round is looked at in each",
            "known.loss is loss or repr(known.loss) == repr(loss)",
            "known.loss is loss",
        ),
        (
            "one look at a dataset is enough for all trainings",
            "training = queries if booster is None else booster",
            "training = queries",
        ),
        (
            "a leaf's least Hessian is LightGBM's default, whatever was given",
            "1e-3 if given is None else float(given)",
            "1e-3",
        ),
        (
            "a leaf's least Hessian is XGBoost's default, whatever was given",
            "1.0 if given is None else float(given)",
            "1.0",
        ),
        ("Hessians may be as small as they like", "first.mean_hessian < _SMALL", "first.mean_hessian < 0.0"),
        ("two documents are too little", "least and first.mean_hessian < _SMALL:", "least:"),
        ("XGBoost may gain what float32 cannot hold", "if gain > _LARGEST_GAIN:", "if gain > 1e300:"),
        ("LightGBM's leaves may be as small as they like", "if step < _LEAST_LEAF / _RATES:", "if step < 0.0:"),
        (
            "labels that float32 cannot tell apart pass",
            "lost = (labels != 0.0) & (np.abs(labels) < TINY)",
            "lost = (labels != 0.0) & (np.abs(labels) < 0.0)",
        ),
    ),
    *_in(
        "kernels",
        ("adapters/test_units.py",),
        ("steps that are all alike are not", "away[np.abs(away) <= 1e-12 * np.abs(step).max()] = 0.0", "pass"),
        ("a first step is not seen from the mean", "away = step - gradient.sum() / h.sum()", "away = step + 0.0"),
    ),
    *_in(
        "data",
        ("losses/test_weights.py",),
        (
            "roots of weights are over no power of two",
            "int(np.frexp(weights.max(initial=0.0) or 1.0)[1]) - 1",
            "0",
        ),
        (
            "the weights of explicit pairs are left out of the scale",
            "return self.sums(self.weight)",
            "return self.n_pairs",
        ),
    ),
    *_in(
        "kernels",
        ("losses",),
        (
            "a Hessian vanishes beside its gradient",
            "least = max(_LEAST_HESSIAN * size, _LEAST) if size > 0.0 else 0.0",
            "least = _LEAST_HESSIAN * size",
        ),
        ("every exponential is 2e-10 off", "_LN2_LOW = 1.90821492927058770002e-10", "_LN2_LOW = 0.0"),
        (
            "documents of QBRank are pushed one way by all others",
            "slope - step if above else slope + step",
            "slope - step",
        ),
        (
            "a long list's squares miss the step between neighbours",
            "square += step * (2.0 * total + step * weight)",
            "square += step * (2.0 * total)",
        ),
        (
            "sums over long lists of far scores lose a tail",
            "q0, q1, q2, c, rate = tail[1 if d > 0.0 else 0]",
            "q0, q1, q2, c, rate = tail[1]",
        ),
        (
            "tables of grade gaps are read a column off",
            "c[j] = table[at + u] * loser[j]",
            "c[j] = table[at] * loser[j]",
        ),
        (
            "gaps of gains leave out the block that they cross",
            "gaps[k] += within * x + moments[own_gaps + k] + between * y",
            "gaps[k] += moments[own_gaps + k] + between * y",
        ),
        ("blocks of two grades are not summed", "several = last - first > 1", "several = last - first > 2"),
        (
            "far scores are summed by products of exponentials",
            "left = extent <= parts.limit[p] or (most < np.inf and not extent <= most)",
            "left = extent <= parts.limit[p]",
        ),
        (
            "sums take in the documents past a run",
            "x = only(last - k, x, 0.0)",
            "x = only(WIDTH, x, 0.0)",
        ),
        (
            "queries that the first kernel leaves are not summed by the second",
            "left = True\n            continue",
            "continue",
        ),
        (
            "a step is taken where MPBoost's squared distances have vanished",
            "if not any_step or h[i] < NOTHING:",
            "if not any_step:",
        ),
        (
            "far exponents are rounded for each document",
            "top = (d * (f_u - f_v) - largest) + SAFE_EXPONENT",
            "top = (d * f_u - d * f_v - largest) + SAFE_EXPONENT",
        ),
        (
            "differences of far scores lose what rounding leaves out",
            "return high, (a - (high + back)) + (back - b)",
            "return high, 0.0",
        ),
        (
            "weights of a query are not brought to its unit",
            "of_gradient = of_factor + 2 * units.of_weight + units.of_distance",
            "of_gradient = of_factor + units.of_weight + units.of_distance",
        ),
        ("far scores of running sums forget their shift", "passed *= math.exp(extreme - sign * f[i])", "passed *= 1.0"),
    ),
    *_in(
        "kernels",
        ("kernels/test_grade_boxes.py",),
        ("what changes before the first node is not seen", "> 10.0 * allowed", "> 1e300"),
        ("boxes may touch", "d_0 < _NEAREST * d_1", "d_0 < 0.0"),
        ("boxes are right beside their largest pair alone", "least = math.exp(-(d_1 - d_0) * abs(x))", "least = 1.0"),
        (
            "boxes far apart have no largest exponent",
            "distance_of(gap[1], kind, parameter) * (origin[1] - origin[0])",
            "0.0",
        ),
        (
            "positions in a box lose the last digits of grades",
            "(load(r, first + i) - low) * per_half - 1.0",
            "load(r, first + i) * per_half - (low * per_half + 1.0)",
        ),
        ("lanes past the last document count", "w = only(end - j, w, 0.0)", "w = only(end - b[0], w, 0.0)"),
        ("documents of one grade are a pair", "r[end] < r[i]:", "r[end] <= r[i]:"),
        ("logarithms lose what 1 + y rounds away", "(y - (u - 1.0)) / u", "0.0"),
    ),
    *_in(
        "kernels",
        ("metrics",),
        (
            "long lists are sorted without regard to file order",
            "if spare_keys[i] >= keys[j]:",
            "if spare_keys[i] > keys[j]:",
        ),
        (
            "ties at the cut-off are left out",
            "while 0 < m < n and keys[m] == keys[m - 1]:",
            "while 0 < m < n - 1 and keys[m] == keys[m - 1] and k > 3:",
        ),
        (
            "average precision takes tied relevant documents for independent",
            "slope = (inside - 1) / max(b - a - 1, 1)",
            "slope = inside / max(b - a, 1)",
        ),
        (
            "reciprocal rank of ties draws with replacement",
            "chance *= (tied - t - hits + 1) / max(tied - t, 1)",
            "chance *= 1.0 - hits / tied",
        ),
        (
            "precision divides by the list's length",
            "out[q] = (sure + hits * (cut - a) / max(m - a, 1)) / (n_relevant if of_relevant else k)",
            "out[q] = (sure + hits * (cut - a) / max(m - a, 1)) / (n_relevant if of_relevant else cut)",
        ),
        (
            "bpref of ties counts as if all relevant ones stood in their middle",
            "                missing = 0.5 * terms * (2 * high - terms + 1)",
            "                missing = (last_above - above + 1) * max(high - 0.5 * (last_above - above), 0.0)",
        ),
        (
            "pairs tied in score and grade count as ties of grades",
            "n_tied += b - a - inside[codes[b]]",
            "n_tied += b - a",
        ),
    ),
    *_in(
        "metrics",
        ("metrics",),
        (
            "bpref counts documents without judgement as non-relevant",
            "ranks.binary_preference(scores, relevant, judged,",
            "ranks.binary_preference(scores, relevant, judged | True,",
        ),
        (
            "plain arrays are scored without their weights",
            "        queries = Queries(grades, group=group, qid=qid, weight=weight, labelled=labelled)",
            "        queries = Queries(grades, group=group, qid=qid, labelled=labelled)",
        ),
        (
            "short lists keep their value in the LETOR convention",
            "ideal[(np.diff(queries.boundaries) < self.k) & (ideal > 0)] = np.inf",
            "pass",
        ),
        (
            "the second document is discounted in the LETOR convention",
            'np.maximum(position, 2.0) if convention == "letor"',
            'np.maximum(position, 1.5) if convention == "letor"',
        ),
        ("τ_b is not corrected for tied scores", "untied = untied - same_score", "untied = untied - 0.0 * same_score"),
        (
            "the pairs farthest apart are taken from the near end",
            "order = np.argsort(-gap)",
            "order = np.argsort(gap)",
        ),
        (
            "queries without relevant documents count 0 whatever empty says",
            "values[np.isnan(values)] = empty",
            "values[np.isnan(values)] = 0",
        ),
        (
            "the count of a weighted mean is that of queries",
            "return float(weight @ values[defined]), float(weight.sum())",
            "return float(weight @ values[defined]), float(defined.sum())",
        ),
        (
            "labels of unlabelled rows make documents relevant",
            "relevant = queries.labelled_rows & (queries.labels >= self.relevant)",
            "relevant = queries.labels >= self.relevant",
        ),
        (
            "pooled pairs count without their query's weight",
            "weight = pairs if queries.query_weight is None else pairs * queries.query_weight",
            "weight = pairs",
        ),
    ),
    *_in(
        "rankers",
        ("rankers/test_adarank.py",),
        (
            "AdaRank's weight is capped at half of what is allowed",
            "capped = right >= wrong * math.exp(2.0 * _MAX_ALPHA)",
            "capped = right >= wrong * math.exp(_MAX_ALPHA)",
        ),
        ("AdaRank weighs queries by the last round alone", "P = initial * losses", "P = P * losses"),
        (
            "AdaRank takes a feature again",
            "allowed[columns == weak.feature] = False",
            "allowed[columns == weak.feature] = self.negated",
        ),
        ("features of which lower is better are not tried", "negated: bool = True,", "negated: bool = False,"),
        (
            "AdaRank keeps its own best round where another metric was asked for",
            "if watch.best.number and (keep is None or watch.asked_for):",
            "if watch.best.number and keep is None:",
        ),
    ),
    *_in(
        "rankers",
        ("rankers/test_conformance.py",),
        (
            "a validation set chooses no round unless training stops early",
            "self.best.add(value)",
            "self.best.add(value if self.patience is not None else np.nan)",
        ),
    ),
    *_in(
        "rankers",
        ("rankers/test_rankboost.py", "rankers/test_rankboost_numbers.py"),
        (
            "continuous RankBoost forgets the pairs it ties",
            'share = tied / 2 if self.variant == "continuous" else 0.0',
            "share = 0.0",
        ),
        (
            "a weight is undefined by a whole pair",
            "right, wrong = right + 0.5 / n_pairs, wrong + 0.5 / n_pairs",
            "right, wrong = right + 1.0 / n_pairs, wrong + 1.0 / n_pairs",
        ),
        ("RankBoost+ ignores the weights of pairs that no cut parts", "* np.tanh(self.eta)", "* self.eta"),
    ),
    *_in(
        "rankers",
        ("rankers/test_rankboost.py", "rankers/test_quadratic_bound.py"),
        (
            "RankBoost's potentials are of queries, not of pairs",
            'MPBoost(distance=BinaryDistance(), normalization="none")  # -gradient',
            "MPBoost(distance=BinaryDistance())  # -gradient",
        ),
        (
            "the general method's loss is no longer the paper's sum",
            'loss: Any = QBRank(normalization="none"),',
            "loss: Any = QBRank(),",
        ),
        (
            "the general method takes whole steps by default",
            "learning_rate: float = 0.05,\n        line_search: bool = True,",
            "learning_rate: float = 1.0,\n        line_search: bool = True,",
        ),
    ),
    *_in(
        "rankers",
        ("rankers",),
        (
            "directed distances between grades have one sign",
            "directed[first_cell[query] + b * n_grades + a] = -distances",
            "directed[first_cell[query] + b * n_grades + a] = distances",
        ),
        (
            "NDCG_Boost counts a document as its own rival",
            "[0, ::2] - 0.5 * self._row_weight",
            "[0, ::2]",
        ),
        (
            "the averaged weights of QBRank count labels twice",
            "return gradient, 0.5 * (hessian + labels)",
            "return gradient, 0.5 * hessian + labels",
        ),
        (
            "a line search goes half of the way",
            "return step if step > _SHORTEST else None",
            "return 0.5 * step if step > _SHORTEST else None",
        ),
    ),
    *_in(
        "adapters",
        ("adapters", "test_pairs.py", "estimators"),
        ("a dataset's new labels are not read", "_equal(self.labels, other.labels) and ", ""),
        ("a best round outlives its training", 'given.get("i") == 0', "False"),
        (
            "a misspelt parameter of XGBoost passes",
            'if not any("are not used" in str(warning.message) for warning in caught):',
            "if True:",
        ),
        (
            "scores of a user's own call go to the frameworks' checks as they are",
            'values.dtype.kind == "f" else numbers(name, values)',
            'values.dtype.kind == "f" else values',
        ),
        ("labelled rows of a dataset may be anything", "if mask is not None and mask.dtype != np.bool_:", "if False:"),
        ("a dataset's new weights are not read", " and _equal(self.weight, other.weight)", ""),
        ("a dataset's new pairs are not read", "known.preferences is preferences and ", ""),
        (
            "labels that LightGBM made of missing ones count",
            "if labels is not None and labelled is None and not labels.any():",
            "if labels is not None and labelled is None and not len(labels):",
        ),
        (
            "the pairs of a part are those of the whole's last pairs but one",
            "if record.inherited is None or record.inherited[0] is not of_whole:",
            "if record.inherited is None:",
        ),
        ("a row may stand in a subset twice", "if times.max(initial=0) > 1:", "if times.max(initial=0) > 99:"),
        (
            "options at their defaults pass",
            "options.keys() & parameters.keys() if parameters[name] is not None}",
            "options.keys() & parameters.keys() if parameters[name] is True}",
        ),
        ("options that are off are refused", "if str(value).lower() not in options[name].off]", "]"),
        ("objectives that set leaves by labels pass", 'if parameters.get("objective") in _ADAPTIVE:', "if False:"),
        (
            "parameters of another training around count",
            "if training is None or not any(dataset is other for other in training.datasets):",
            "if training is None:",
        ),
        (
            "of several aliases LightGBM takes the last",
            "for alias in ALIASES[name] if",
            "for alias in ALIASES[name][::-1] if",
        ),
    ),
    *_in(
        "kernels",
        ("adapters", "test_pairs.py", "estimators"),
        ("a Hessian below single precision keeps its gradient", "keep = y >= TINY", "keep = y > 0.0"),
    ),
    *_in(
        "core",
        ("studies/replication/test_claims.py",),
        ("one great value hides that others are out of bounds", "np.where(np.isfinite(size), size, 0.0)", "size.max()"),
    ),
    *_in(
        "studies",
        ("studies/replication/test_page.py",),
        (
            "claims on synthetic data are counted with those on real data",
            'for document in documents.values() for claim in document["claims"] if claim["real"]]',
            'for document in documents.values() for claim in document["claims"]]',
        ),
        (
            "a number of the matrix leads to another verdict",
            "link.format(_anchor(claims[0]['about'], holds))",
            "link.format(_anchor(claims[0]['about'], claims[0]['holds']))",
        ),
    ),
    *_in(
        "studies",
        ("studies/replication/test_figures.py",),
        (
            "a legend names what has no curve",
            "if np.isnan(values).all():\n                    continue",
            "if False:\n                    continue",
        ),
    ),
    *_in(
        "studies",
        (
            "studies/replication/test_claims.py",
            "studies/replication/test_outcome.py",
            "studies/replication/test_machine.py",
        ),
        ("the lowest curve is taken for the highest", "sign = -1.0 if self.lowest else 1.0", "sign = 1.0"),
        (
            "who overfits more is taken for who overfits less",
            "gap = interval(falls - own)",
            "gap = interval(own - falls)",
        ),
        (
            "Apart needs no critical difference",
            "Interval(gap, gap - critical, gap + critical)",
            "Interval(gap, gap, gap)",
        ),
        (
            "Near forgets how far from the figure it is claimed to be",
            "[self.row or self.learners[0]][self.measure] + self.offset",
            "[self.row or self.learners[0]][self.measure]",
        ),
        ("what is within noise holds", "if positive(gap.low):", "if positive(gap.mean):"),
        (
            "who is behind beyond noise at one measure is forgiven",
            "or len(behind) > (1.0 - share) * len(each) + _SLACK:",
            "or False:",
        ),
        ("any noise is no worsening", '"holds" if gap.high <= 0.1 * won else "level"', '"holds"'),
        ("of several others the best verdict counts", "return min(holds, key=_WORST.index)", "return holds[0]"),
        ("queries weigh the same, not folds", "weight=weight, strata=folds[defined]", "weight=None"),
        (
            "errors are better the greater",
            "return 1.0 if outcome.metric(measure).greater_is_better else -1.0",
            "return 1.0",
        ),
        (
            "what improves with more rounds is said to worsen",
            "direction(Interval(-gap.mean, -gap.high, -gap.low))",
            "direction(gap)",
        ),
        (
            "what may worsen within noise is said to last",
            "positive(gap.low + self.tolerance)",
            "positive(gap.mean + self.tolerance)",
        ),
        ("a bound is kept in one split alone", "not above(curves, bounds).any()", "not above(curves, bounds).all()"),
        (
            "a metric that pools queries is taken as a mean over them",
            'return bool(metric.couples_queries or getattr(metric, "pooled", False))',
            "return False",
        ),
        (
            "what is kept is used for a learner that has changed",
            "told = (data, study.rounds, study.measures, study.traces, job.learner)",
            "told = (data, study.rounds, study.measures, study.traces)",
        ),
        (
            "two tasks are taken for one",
            "_mean(table, axis=1) if len(self.tasks) > 1",
            "_mean(table, axis=1) if len(self.tasks) > 2",
        ),
    ),
    *_in(
        "studies",
        ("studies/speed/test_bench.py",),
        ("a share is not per document", "taken / queries.n_rows / self._unit", "taken / self._unit"),
        (
            "a call that compiles is measured",
            "            call()\n            for _ in range(-(-number",
            "            for _ in range(-(-number",
        ),
        ("what takes too long is measured all the same", "if expected > longest:", "if not expected:"),
        ("a quick look is held to targets", "yield row if scale >= 1 else replace(row, targets={})", "yield row"),
        ("a replay computes", "framework.rounds(loss.replay)", "framework.rounds(loss)"),
        ("a median of runs is their last", "document[column.key] = median(found)", "document[column.key] = found[-1]"),
    ),
    *_in(
        "comparison",
        ("comparison/test_significance.py",),
        (
            "an interval ignores the skewness of the differences",
            "acceleration = float((influences**3)",
            "acceleration = 0.0 * float((influences**3)",
        ),
        ("a weight of NaN makes p 0", 'refuse_where("weight", ', 'refuse_where("weight", False & '),
        ("a stratum loses its share of an interval", "means += share * _resampled_means", "means += _resampled_means"),
        (
            "every query counts the same where every set should",
            "(v.sum() if of_sets else 1.0)",
            "(1.0 if of_sets else v.sum())",
        ),
    ),
    *_in(
        "comparison",
        ("comparison/test_jobs.py",),
        (
            "the table of several processes is in the order in which they finish",
            "plan.seeds.index(cell.seed), place[id(cell.method)]",
            "0, 0",
        ),
        (
            "what another process finishes is not kept",
            "                kept.add(cell)\n            yield",
            "                pass\n            yield",
        ),
    ),
    *_in(
        "comparison",
        ("comparison/test_tuning.py",),
        (
            "a resumed tuning prunes by what it trains itself alone",
            "for number, value in enumerate(values[self._done :], self._done + 1):",
            "for number, value in enumerate([], self._done + 1):",
        ),
        (
            "the smallest errors are pruned",
            "self._best = max(self._best, self._sign * value)",
            "self._best = max(self._best, value)",
        ),
    ),
    *_in(
        "comparison",
        ("comparison/test_page.py",),
        (
            "a page takes names of the data for markup",
            "return Markup(escape(visible(child), quote=False))",
            "return Markup(child)",
        ),
        (
            "the forest of an error has the worst on top",
            "of_one.sort(key=lambda m: -view.sign * m.summary",
            "of_one.sort(key=lambda m: -m.summary",
        ),
        (
            "a run that has stopped leaves the mean curve",
            "run[min(i, len(run) - 1)] for run in runs]",
            "run[i] for run in runs if i < len(run)]",
        ),
    ),
    *_in(
        "comparison",
        ("comparison/test_recommendation.py",),
        (
            "the test part has a say in what is recommended",
            "[self._done(method)[run].validation for run in runs]",
            "[self._done(method)[run].test[self._metric.name] for run in runs]",
        ),
        (
            "the greatest error is recommended",
            "ahead = BestRound(greater_is_better=self._metric.greater_is_better)",
            "ahead = BestRound(greater_is_better=True)",
        ),
        (
            "the best estimator has defaults beside the parameters of the comparison",
            "words[next((other for other in group if other in own), name)] = value",
            "words[name] = value",
        ),
        (
            "the best estimator forgets the parameters that tuning chose",
            'objective, parameters = tuned_objective(objective, tuned["drawn"]), tuned["parameters"]',
            'objective, parameters = tuned_objective(objective, tuned["drawn"]), {}',
        ),
    ),
    *_in(
        "comparison",
        ("comparison/test_compare.py",),
        (
            "labels below 1 refuse the whole comparison, for MAP that nobody asked for",
            "if metric == main or not shown_by_default:",
            "if True:",
        ),
        (
            "the greatest error is shown as the best",
            '(min if name in settings["lower_is_better"] else max)(others)',
            "max(others)",
        ),
        (
            "Holm's correction is over both frameworks",
            'if row["framework"] == framework and row["p"] is not None]',
            'if row["p"] is not None]',
        ),
    ),
    *_in(
        "comparison",
        ("comparison",),
        (
            "Holm's p-values may fall",
            "np.minimum(np.maximum.accumulate(factor * values[order]), 1.0)",
            "np.minimum(factor * values[order], 1.0)",
        ),
        (
            "a random test leaves out the observed pattern",
            "return (1 + reached) / (1 + flips)",
            "return reached / flips",
        ),
        (
            "a damaged result is taken up",
            "if found != _digest_of_line(text):",
            "if len(found) != _DIGEST:",
        ),
        (
            "results of another version of a framework are taken up",
            "counted = (*_COUNT, *frameworks, *",
            "counted = (*_COUNT, *",
        ),
        (
            "a comparison goes on without being asked to",
            "if self.store.done and not resume:",
            "if self.store.done and resume is None:",
        ),
        (
            "a loss is known by its parameters alone",
            "sorted((name, str(found)) for name, found in versions_of.items())",
            "[]",
        ),
        (
            "a user's loss without a version is kept",
            "    if None in versions_of.values():\n        return None\n",
            "",
        ),
        (
            "a file that a parameter names is known by its name",
            "joblib.hash(file.read_bytes())}",
            "str(file)}",
        ),
        (
            "the order of categories is no part of the data",
            "yield (name, column.dtype.ordered, categories.tolist(), codes)",
            "yield (name, column.dtype.ordered, sorted(categories.tolist()), codes)",
        ),
        (
            "a kept mean need not be that of its values",
            "expected.append(_mean(per_query[metric.name], queries))",
            "expected.append(found['test'][metric.name])",
        ),
    ),
    *_in(
        "core",
        ("test_files.py",),
        (
            "a failed write leaves a half of the file",
            "yield from _replacing_file(path.resolve())",
            'with path.open("wb") as file:\n            yield file',
        ),
    ),
    *_in(
        "core",
        ("test_text.py",),
        (
            "characters that turn the direction of a text stay",
            '_HIDDEN = {"Cc", "Cf", ',
            '_HIDDEN = {"Cc", ',
        ),
    ),
    *_in(
        "core",
        ("test_queries.py",),
        (
            "columns in another order go by position",
            "if _is_reordered(index, other):",
            "if False:",
        ),
        (
            "the first id that its type rounds is taken",
            "np.abs(ids) >= 2.0**digits",
            "np.abs(ids) > 2.0**digits",
        ),
    ),
    *_in(
        "core",
        ("test_naming.py",),
        (
            "no cut-off goes by the default's name",
            'if part is None and is_default else f"@{part}"',
            'if part is None else f"@{part}"',
        ),
    ),
    *_in(
        "core",
        ("test_values.py",),
        (
            "a part is set before its own parameters are",
            "        part = changes.get(name, known[name])\n",
            "        part = known[name]\n",
        ),
        (
            "ranges of bases are forgotten",
            "    for kind in reversed(type(value).__mro__):\n",
            "    for kind in (type(value),):\n",
        ),
        (
            "a new value forgets what a constructor keeps under another name",
            "    _refuse_to_forget(value, known)\n    return",
            "    return",
        ),
        (
            "what a constructor hands on to its bases is no parameter",
            "            if not any(p.kind is p.VAR_KEYWORD for p in taken):\n                break\n",
            "            break\n",
        ),
        (
            "a clone of a value is none",
            "        return self\n\n    @property\n    def search_space",
            "        return self.with_params(**{})\n\n    @property\n    def search_space",
        ),
    ),
    *_in(
        "estimators",
        ("estimators/test_continued.py", "estimators/test_labels.py"),
        (
            "the base score of a continued model may be another",
            "(np.float32(given) != np.float32(own)).any()",
            "False",
        ),
        (
            "labels that are made equal across queries bring the warning",
            "(query[first] == query[second]) & (labels[first] != labels[second])",
            "(labels[first] != labels[second])",
        ),
    ),
    *_in(
        "estimators",
        ("estimators/test_parameters.py",),
        (
            "an illegal parameter leaves what was set beside it",
            "            clone(part).set_params(**inner)\n",
            "            part.set_params(**inner)\n",
        ),
        (
            "a subclass's constructor takes no parameters of losses",
            "    if any_name:  # by attribute",
            "    if False:  # by attribute",
        ),
        (
            "LightGBM is told the parameters of losses",
            "params = without_nested(super()._process_params(stage))",
            "params = super()._process_params(stage)",
        ),
        (
            "XGBoost is told the parameters of losses",
            "return without_nested(super().get_xgb_params())",
            "return super().get_xgb_params()",
        ),
        (
            "LightGBM trains an objective that was set before",
            "self._objective = objective  # the parent's",
            "pass  # the parent's",
        ),
    ),
    *_in(
        "adapters",
        ("estimators/test_parameters.py",),
        (
            "a framework's own ranker trains with the parameters of losses",
            'if caller is None or caller.f_code.co_name != "get_params":',
            "if caller is None or True:",
        ),
        (
            "LightGBM's own ranker ignores the parameters of losses",
            'nested = next((name for name in _given(dataset, training) if "__" in name), None)',
            "nested = None",
        ),
    ),
    *_in(
        "selection",
        ("selection/test_search.py",),
        ("names in a study are no parameters", "trial, prefix + name, space", "trial, name, space"),
        ("what is no trial is asked for a number", "    if not callable(method):\n", "    if False:\n"),
    ),
    *_in(
        "buffers",
        ("test_buffers.py", "adapters/test_call.py"),
        ("an array that somebody keeps is taken again", "references == _ALONE and ", ""),
        ("zeros are what the last round left", "    array.fill(0.0)\n", ""),
        ("a round's arrays are kept without end", "+ array.size <= self._most", "+ array.size <= math.inf"),
    ),
    *_in(
        "core",
        ("test_threads.py",),
        ("errors of helping threads are lost", "            helper.result()", "            helper.exception()"),
        ("a forked child does without helping threads", "_pool[0] != os.getpid() or ", ""),
        (
            "the last query is nobody's",
            "cuts[0], cuts[-1] = 0, n_queries",
            "cuts[0], cuts[-1] = 0, n_queries - (chunks > 4)",
        ),
        ("a framework's threads stay after it", "        _of_framework.reset(token)", "        pass"),
        ("a framework's own threads stay after it", "        _team.reset(token_of_team)", "        pass"),
        ("a forked child waits for its parent's team", "return os.getpid() == _IMPORTED_BY", "return True"),
        ("errors of a framework's threads are lost", "            raise errors[0]", "            pass"),
        (
            "Ctrl-C before a team works is lost",
            "            errors.append(unraisable.exc_value)",
            "            pass",
        ),
        ("what a small team leaves is left", "        worker()\n        return", "        return"),
        ("all of a team take part, however little there is", "worker() if next(place) < threads else None", "worker()"),
    ),
    *_in(
        "datasets",
        ("datasets/test_letor.py",),
        ("a comment swallows form feeds", "c == 0 or c == 11 or c == 12 or 28 <= c <= 30", "c == 0"),
        ("a comment swallows U+2028", "0xA8 <= c <= 0xA9 and before == 0x80", "0xA9 <= c <= 0xA9 and before == 0x80"),
        ("CR LF cut by a block is two line ends", "if not last and buffer[stop - 1] == 13:", "if last:"),
        ("a line may be of any length", "if kept > _LONGEST_LINE:", "if kept > 100 * _LONGEST_LINE:"),
        ("a dense matrix may be of any width", "cells <= _SPARSEST * parsed.n_entries", "cells >= 0"),
        ("a long document id widens all", "return longest > 64 + 4 * mean_length", "return longest < 0"),
    ),
    *_in(
        "datasets",
        ("datasets/test_movielens.py",),
        (
            "a film's rating goes to another user",
            "X[chosen.col, chosen.row] = chosen.data",
            "X[chosen.col, 0] = chosen.data",
        ),
    ),
    *_in(
        "studies",
        ("studies/replication/test_mpboost.py",),
        ("a set in fifths keeps the scale of its judgements", "else self.scale * data.y", "else data.y"),
        ("MPBoost's lead passes for a lag", "tolerance=0.004", "tolerance=0.01"),
        ("BINARY overfits by round 100 or not at all", "by=marks(rounds)[-2]", "by=100"),
    ),
    *_in(
        "studies",
        (
            "studies/replication/test_adarank.py",
            "studies/replication/test_groups.py",
            "studies/replication/test_claims.py",
        ),
        (
            "AdaRank counts grades of 1 as relevant on OHSUMED",
            "learners=_learners(2, BM25)",
            "learners=_learners(1, BM25)",
        ),
        (
            "errors on pairs of two grades are pooled over all pairs",
            "super().sum_and_count(*self._of_kind(np.asarray(scores, dtype=np.float64), queries))",
            "super().sum_and_count(scores, queries)",
        ),
        (
            "what falls to a limit falls exponentially",
            "~above(0.5 * early, late)",
            "~above(0.05 * early, late)",
        ),
        (
            "the best at some cut-offs need not be ahead of all at once",
            "first &= [positive(",
            "first |= [positive(",
        ),
    ),
    *_in(
        "studies",
        ("studies/replication/test_machine.py",),
        (
            "a fall after the highest point makes a climb unsteady",
            "(fallen[highest] == 0)",
            "(fallen == 0)",
        ),
    ),
    *_in(
        "studies",
        ("studies/replication/test_qbrank.py", "studies/replication/test_claims.py"),
        (
            "a curve that moves on by half of its gain has converged",
            "~above(moved, 0.1 * gained)",
            "~above(moved, 0.5 * gained)",
        ),
        ("a bound that was broken once is forgiven", "min(self._room, bound - gap)", "bound - gap"),
        ("one percent is not asked of QBRank's lead in DCG", "least=0.01,", "least=0.0,"),
    ),
    *_in(
        "studies",
        ("studies/replication/test_rankboost_plus.py",),
        ("Rb-d takes the stump that makes it halt", "if undefined and last is not None:", "if False:"),
    ),
    *_in(
        "studies",
        ("studies/replication/test_claims.py",),
        ("of blocks it is forgotten how many queries there are", "sums * (len(sums) / defined.sum())", "sums"),
        (
            "trainings that do not halt count among those that do",
            "(halted & above(own, other)).sum()",
            "above(own, other).sum()",
        ),
    ),
    *_in(
        "studies",
        ("studies/replication/test_sources.py",),
        ("a set is read plain and compressed", 'and text.with_suffix("") not in plain', ""),
    ),
    *_in(
        "model",
        ("model",),
        (
            "a threshold sends equal values right in LightGBM",
            "np.maximum(tree.threshold[inner], _LOWEST)",
            "np.nextafter(np.maximum(tree.threshold[inner], _LOWEST), -np.inf)",
        ),
        (
            "missing values go the other way in XGBoost",
            "(tree.missing_left != swapped)[order]",
            "(tree.missing_left == swapped)[order]",
        ),
        (
            "XGBoost's last tree forgets the constant",
            "shifts[order[-1]] += np.sum(centres)",
            "shifts[order[-1]] += np.sum(centres[1:])",
        ),
        (
            "the importance of a stump ignores its weight",
            "moved[weak.feature] += abs(weight * weak.above - weight * weak.below)",
            "moved[weak.feature] += abs(weak.above - weak.below)",
        ),
        ("a model may have any number of features", "if n_features > _MOST_FEATURES:", "if False:"),
        ("a long number of a model gets Python's own message", "if len(digits) > _LONGEST_INTEGER:", "if False:"),
        (
            "a model of LightGBM's names no objective that converters know",
            'head.replace("\\nfeature_names=", "\\nobjective=lambdarank\\nfeature_names=", 1)',
            "head",
        ),
        (
            "linear trees get an objective under which converters drop their slopes",
            'misread = "\\nis_linear=1\\n" in rest or ',
            "misread = ",
        ),
        (
            "an exported booster of XGBoost's is taken for a classifier",
            'learner["objective"]["name"].startswith("rank:")',
            'learner["objective"]["name"].startswith("binary:")',
        ),
        (
            "an exported booster of XGBoost's goes past its best round",
            "booster[: int(best) + 1] if stopped",
            "booster[: int(best) + 2] if stopped",
        ),
        (
            "dart's weights are lost in an export",
            'np.where(np.equal(tree["left_children"], -1), weight, 1.0)',
            'np.where(np.equal(tree["left_children"], -1), 1.0, 1.0)',
        ),
    ),
    *_in(
        "estimators",
        ("estimators/test_export.py", "estimators/test_refit.py"),
        (
            "an exported ranker keeps the loss under an alias",
            'given = [params.pop(alias) for alias in ALIASES["objective"] if alias in params]',
            'given = [params[alias] for alias in ALIASES["objective"] if alias in params]',
        ),
        (
            "an exported ranker keeps our metrics",
            "names = [metric for metric in metrics_of(self.eval_metric) if isinstance(metric, str)]",
            "names = metrics_of(self.eval_metric)",
        ),
    ),
    *_in(
        "model",
        ("estimators/test_refit.py",),
        (
            "refitted leaves are as if nothing had gone before",
            "        scores = scores + values[leaf]\n",
            "        scores = (scores if at else 0.0) + values[leaf]\n",
        ),
        (
            "refitted leaves are of the first scores alone",
            "scores = scores + values[leaf]",
            "scores = scores + 0.0 * values[leaf]",
        ),
        (
            "refitted leaves forget the learning rate",
            '(1.0 - decay) * tree["shrinkage"] * step',
            "(1.0 - decay) * step",
        ),
    ),
    *_in(
        "kernels",
        ("model",),
        (
            "a tree sends what equals its threshold right",
            "goes_left = x <= threshold[node] or",
            "goes_left = x < threshold[node] or",
        ),
    ),
    *_in(
        "kernels",
        ("kernels/test_cache.py",),
        (
            "what another version left is read and complained of",
            "= numba.__version__, __version__, self._impl.locator.get_source_stamp()",
            "= numba.__version__",
        ),
        (
            "code from another text runs",
            "return super().rebuild(target_context, payload) if origin == self._origin else None",
            "return super().rebuild(target_context, payload)",
        ),
        (
            "a damaged index of compiled code stays",
            "self.flush()  # what was damaged is written anew",
            "pass",
        ),
    ),
    *_in(
        "weak_rankers",
        ("weak_rankers",),
        (
            "a double at a rounding edge falls on the other side",
            "return np.where(edge.astype(np.float32) > below, np.nextafter(edge, -np.inf), edge)",
            "return edge",
        ),
    ),
    *_in(
        "data",
        ("test_queries.py", "losses", "metrics"),
        (
            "an unlabelled row is judged by its weight",
            "return frozen(self.labelled_rows & (self.row_weight > 0))",
            "return frozen(self.row_weight > 0)",
        ),
        (
            "a query's weight is its rows' sum",
            "np.divide(sums, sizes, out=np.zeros(self.n_queries), where=sizes > 0)",
            "sums * (sizes > 0)",
        ),
    ),
    *_in(
        "data",
        ("test_bad_input.py",),
        (
            "group alone may say any number of rows",
            "if total > _MOST_ROWS:",
            "if False:",
        ),
    ),
    *_in(
        "core",
        ("test_checks.py", "losses/test_loss.py", "model/test_ensemble.py"),
        (
            "integers beyond floats among features are NumPy's matter",
            "except (OverflowError, ValueError) as error:",
            "except ValueError as error:",
        ),
        (
            "a user's function may return another number of values",
            'if array.shape != shape or (array.dtype.kind not in "biuf" and array.size):',
            'if array.dtype.kind not in "biuf" and array.size:',
        ),
        (
            "NumPy warns within a user's function",
            'with np.errstate(all="ignore"):\n        out = function(',
            'with np.errstate(all="warn"):\n        out = function(',
        ),
    ),
    *_in(
        "core",
        ("test_checks.py",),
        (
            "weights may be so small that products vanish",
            "within = (weights >= 1.0 / LARGEST_WEIGHT)",
            "within = (weights >= 0.0)",
        ),
        (
            "long values are shown in full",
            "return text if len(text) <= _LONGEST_SHOWN else",
            "return text if len(text) else",
        ),
        (
            "integers may be more than kernels take",
            "if number > _LARGEST_INTEGER:",
            "if False:",
        ),
    ),
    *_in(
        "selection",
        ("selection",),
        (
            "folds are not balanced in documents",
            'to = np.argsort(load, kind="stable") if random is None',
            "to = np.arange(n_splits) if random is None",
        ),
        (
            "the scorer praises errors",
            "return value if self.metric.greater_is_better else -value",
            "return value",
        ),
    ),
    *_in(
        "estimators",
        ("estimators", "adapters/test_conformance.py"),
        ("a loaded model takes the loss along", "            self.__dict__.update(kept)", "            pass"),
        (
            "what LightGBM refuses is no wrong value",
            "Error(lgb.basic.LightGBMError, ValueError):",
            "Error(lgb.basic.LightGBMError):",
        ),
        (
            "a metric may stand twice",
            'items() if times > 1), None)\n    if again is not None:\n        raise ValueError(f"{argument}',
            'items() if times > 9), None)\n    if again is not None:\n        raise ValueError(f"{argument}',
        ),
        ("class weights are left out", "if loss is not None and self.class_weight is not None:", "if False:"),
        (
            "an objective set as an attribute is not trained",
            "            self._objective = objective  #",
            "            pass  #",
        ),
        (
            "what starts from infinity is trained",
            "~(np.abs(scores) < _INFINITE)",
            "np.isnan(scores)",
        ),
    ),
    *_in(
        "data",
        ("adapters/test_call.py",),
        (
            "pairs without weight are taken for missing grades",
            "    if pairs is not None:\n        if not len(pairs):",
            "    if pairs is not None and pairs.weight is None:\n        if not len(pairs):",
        ),
    ),
    *_in(
        "core",
        ("rankers", "estimators", "test_one_ulp.py"),
        (
            "the last of equal rounds is the best",
            "self._sign * value > self._sign * self.value",
            "self._sign * value >= self._sign * self.value",
        ),
        (
            "a round that rounding alone makes better is the best",
            "return max(self.tolerance, rounding(value, self.value))",
            "return self.tolerance",
        ),
        (
            "training goes on a round too long",
            "self.n_rounds - self.number >= self.patience",
            "self.n_rounds - self.number > self.patience",
        ),
    ),
    *_in(
        "kernels",
        ("kernels/test_compiling.py",),
        (
            "inner functions are optimised and made machine code of by themselves too",
            "state.library = _PartOfCallers(state.targetctx.codegen(), state.func_id.func_qualname)",
            "pass",
        ),
        ("Python collects garbage as seldom after compiling", "gc.set_threshold(*before)", "pass"),
        (
            "inner functions are compiled for each constant",
            "super().compile(_without_literals(signature))",
            "super().compile(signature)",
        ),
    ),
    *_in(
        "kernels",
        ("metrics/test_dcg.py", "metrics/test_precision.py"),
        (
            "what has left the best rows ties with none of them",
            "tied = tied + 1 if full and keys[k - 1] == last else 0",
            "tied = 0",
        ),
        (
            "rows that tie with the last of the best are counted for good",
            "tied = tied + 1 if full and keys[k - 1] == last else 0",
            "tied = tied",
        ),
        (
            "the first rows of all count as one that has left",
            "tied = tied + 1 if full and keys[k - 1] == last else 0",
            "tied = tied + 1 if keys[k - 1] == last else 0",
        ),
    ),
    *_in(
        "losses",
        ("losses/test_sums.py",),
        (
            "a sum adds its parts without their weights",
            "g, h = times(outputs, weight / largest * np.exp(own - shift), queries)",
            "g, h = times(outputs, np.exp(own - shift), queries)",
        ),
        (
            "the value of a sum lacks the scales of its parts",
            "out += weight * (part.scale(queries) * part.value(scores, queries))",
            "out += weight * part.value(scores, queries)",
        ),
        (
            "the first part's scale is that of all parts of a sum",
            "answered(scales[own], told[:, also])",
            "answered(scales[:1], told[:, also])",
        ),
        (
            "an exact diagonal beside a bound is a bound",
            'return "bound" if kinds == {"bound", "global"} else "model"',
            'return "bound" if "model" not in kinds else "model"',
        ),
        (
            "parts far out are added as if they had one exponent",
            "shift = np.maximum.reduce([np.zeros(queries.n_queries), *shifts])",
            "shift = np.minimum.reduce([np.zeros(queries.n_queries), *shifts])",
        ),
    ),
    *_in(
        "losses",
        ("losses/test_adarank.py",),
        (
            "AdaRank multiplies arrays that its base keeps",
            "return array if array.flags.carray else array.copy()",
            "return array.copy() if array.flags.carray else array",
        ),
        ("AdaRank multiplies one array twice", "if np.may_share_memory(gradient, hessian):", "if False:"),
    ),
    *_in(
        "warm_up",
        ("test_warm_up.py",),
        (
            "the warm-up calls losses as they are by default alone",
            "yield replace(as_dataclass, **{name: value})",
            "pass",
        ),
        (
            "the warm-up calls losses with scores near each other alone",
            "_SPREADS = (0.1, 3.0, 1000.0)",
            "_SPREADS = (0.1,)",
        ),
        ("the warm-up calls metrics with small cut-offs alone", "yield kind(k=200)", "yield kind(k=6)"),
        ("a warm-up that keeps nothing ends well", "        if after.lost:", "        if False:"),
    ),
    *_in(
        "kernels",
        ("kernels/test_cache.py",),
        (
            "what a folder holds that cannot be written to is compiled anew",
            "            return shelf\n        cache.shelf = shelf",
            "            return None",
        ),
        (
            "what a folder holds that cannot be written to is compiled anew where another can",
            "        cache.shelf = shelf",
            "        pass",
        ),
    ),
    *_in(
        "studies",
        ("studies/speed/test_bench_arithmetic.py",),
        (
            "a tree's histograms count for every document",
            "max(least, peak * _FEATURES - of_histograms)",
            "max(least, peak * _FEATURES)",
        ),
        (
            "a gradient is that of all machines on one",
            "gradient, trees = seconds * costs.gradient_ns, ",
            "gradient, trees = seconds * cluster.workers * costs.gradient_ns, ",
        ),
        (
            "batches of a benchmark end within a query",
            "rows = slice(queries.boundaries[self.start], queries.boundaries[stop])",
            "rows = slice(queries.boundaries[self.start] - (self.start > 0), queries.boundaries[stop])",
        ),
        (
            "time in a loss counts as the trees'",
            "whole - call for whole, call in zip",
            "whole + 0.0 * call for whole, call in zip",
        ),
    ),
    *_in(
        "datasets",
        ("datasets/test_batches.py",),
        (
            "a batch takes fewer queries than fit",
            'np.searchsorted(ends, most, "right")',
            'np.searchsorted(ends, most, "left")',
        ),
        ("queries that appear again are let pass", "            _refuse_repeats(self._pieces, ", "            print("),
        ("different ids of one hash are one query", "                if id_ in begun:", "                if begun:"),
        (
            "files of a folder go by the alphabet",
            'if entry.name[0] not in "._"), key=natural)',
            'if entry.name[0] not in "._"))',
        ),
        (
            "a wider line than before is written beyond its matrix",
            "                    self._refuse_changes(parsed)",
            "                    pass",
        ),
        (
            "a file that has changed is read on",
            "            if not np.array_equal(np.diff([*starts, n_rows]), group):",
            "            if False:",
        ),
        ("a number beyond float32 becomes infinite", "                if beyond.any():", "                if False:"),
    ),
    *_in(
        "datasets",
        ("datasets/test_batches_in_frameworks.py",),
        (
            "a query's weight is that of another's row",
            "firsts = np.cumsum(batch.group) - batch.group",
            "firsts = np.arange(len(batch.group))",
        ),
        ("weights that change from query to query are refused", "differs[begins] = False", "differs[:1] = False"),
        (
            "weights that change where a file ends are let pass",
            "prepend=last_weight) != 0.0",
            "prepend=piece.weight[0]) != 0.0",
        ),
        (
            "a row that has passed is another",
            "        if row < self._start or self._stop == 0:",
            "        if self._stop == 0:",
        ),
    ),
    *_in(
        "dask",
        ("dask/test_xgboost.py", "dask/test_collections.py"),
        (
            "XGBoost gets weights relative to one worker's mean",
            "relative_weight(weight, float(total / n_queries))",
            "relative_weight(weight)",
        ),
        (
            "a training that goes on counts its rounds from the beginning",
            "first = checkpoint.n_rounds",
            "first = 0",
        ),
        (
            "rounds after each checkpoint draw the same columns",
            'params.setdefault("seed_per_iteration", True)',
            'params.setdefault("seed_per_iteration", False)',
        ),
        (
            "a booster draws on where a training that goes on begins anew",
            "if job.draws:  # as",
            "if False:  # as",
        ),
        (
            "an error of a loss counts as a loss of a worker",
            "if isinstance(error, LostError):",
            "if isinstance(error, Exception):",
        ),
        (
            "of the copies of a partition the first worker's is taken",
            "key=lambda a: (rows[a], a))",
            "key=str)",
        ),
    ),
    *_in(
        "dask",
        ("dask/test_partitions.py", "dask/test_collections.py"),
        ("queries that lie in several partitions pass", "        if (times > 1).any():", "        if False:"),
        ("columns of strings are sent to the workers as features", "    if strange:", "    if not strange:"),
        (
            "rows of a query come in the order in which a shuffle delivers them",
            "    ordered = part.sort_values(_PLACE).drop(",
            "    ordered = part.sample(frac=1.0, random_state=0).drop(",
        ),
    ),
    *_in(
        "dask",
        ("dask/test_lightgbm.py",),
        (
            "each of LightGBM's workers scales a loss by its own rows",
            "        return self.sums[np.newaxis]",
            "        return values[np.newaxis]",
        ),
        (
            "a model from several workers keeps their addresses",
            "    booster.model_from_string(text)",
            "    booster.model_from_string(booster.model_to_string())",
        ),
        (
            "an error that no other process can make again hides behind that one",
            "        job.fault = _sendable(job.fault)",
            "        pass",
        ),
    ),
    *_in(
        "comparison",
        ("studies/quality/test_quality.py",),
        (
            "explicit pairs do not reach the dataset of an experiment",
            "    assign(dataset.construct(), queries)",
            "    dataset.construct()",
        ),
    ),
    *_in(
        "studies",
        ("studies/quality/test_quality.py",),
        (
            "a pair error counts as a gain in the study",
            "            sign = 1.0 if metric.greater_is_better else -1.0\n            means",
            "            sign = 1.0\n            means",
        ),
        (
            "a candidate that is behind a peer may become the default",
            "    left = [candidate for candidate in found if len(candidate.behind) == least]",
            "    left = [candidate for candidate in found if len(candidate.behind) >= least]",
        ),
        (
            "candidates that noise alone tells apart are told apart",
            "        if best.overall.difference - candidate.overall.difference < candidate.overall.standard_error",
            "        if best.overall.difference - candidate.overall.difference <= 0.0",
        ),
        (
            "a user's own ratings are among their features",
            "        of_films[:, features == u] = np.nan",
            "        of_films[:, features == u] += 0.0",
        ),
    ),
    *_in(
        "datasets",
        ("datasets/test_trec.py",),
        (
            "judged documents that a run lacks are forgotten",
            "    if not missed:\n        return rows or",
            "    if rows or not missed:\n        return rows or",
        ),
        (
            "documents that a run lacks stand right below those that it has",
            "    filled = max(depth, len(grades)) - len(rows)",
            "    filled = 0",
        ),
    ),
    *_in(
        "adapters",
        ("dask/test_lightgbm.py",),
        ("LightGBM over several machines trains with local scales", "        if n < 2:", "        if n < 3:"),
    ),
    *_in(
        "data",
        ("estimators", "adapters/test_conformance.py"),
        (
            "categories go by their places",
            "        if table.categories[place] == known:\n",
            "        if True:\n",
        ),
        (
            "sparse features may stand beside dense ones",
            "table.sparse is None or fitted.sparse is None or table.sparse == fitted.sparse",
            "True",
        ),
        (
            "columns may stand in any order",
            "    if here and there and here != there:",
            "    if here and there and sorted(here) != sorted(there):",
        ),
    ),
    *_in(
        "datasets",
        ("datasets/test_ranking_data.py",),
        (
            "ids and sizes of queries may disagree",
            "    if not np.array_equal(np.diff(starts), sizes[sizes > 0]):",
            "    if len(starts) < 1:",
        ),
    ),
    *_in(
        "comparison",
        ("comparison/test_compare_data.py",),
        (
            "weights of rows do not reach losses in XGBoost",
            "        assign(self.train_set, queries)  # XGBoost",
            "        pass  # XGBoost",
        ),
        (
            "kept results of other weights are gone on from",
            '"weights": queries.row_weight,',
            '"weights": None,',
        ),
    ),
    *_in(
        "comparison",
        ("comparison/test_honest.py",),
        (
            "weights have a unit for LightGBM's own objectives",
            "weight=relative_weight(queries.row_weight),\n        params",
            "weight=queries.row_weight,\n        params",
        ),
        (
            "compare trains on labels that a ranker does not see",
            "    queries = with_float32_labels(queries, warn=False)  #",
            "    pass  #",
        ),
        (
            "dropout goes with early stopping",
            "if early_stopping_rounds is not None and is_dart(given):",
            "if False:",
        ),
    ),
    *_in(
        "comparison",
        ("comparison/test_shared_data.py",),
        (
            "a query counts in each of its folds",
            "    if times.max(initial=1) == 1:",
            "    if True:",
        ),
        (
            "folds that share queries are independent samples",
            "component[first[order]]",
            "strata[first[order]]",
        ),
        (
            "a query is known by its id",
            "zip(content.ids.tolist(), content.queries.tolist(), strict=True)",
            "zip(content.ids.tolist(), content.ids.tolist(), strict=True)",
        ),
        (
            "the order of documents makes another query",
            "np.add.reduceat(rows, starts[there])",
            "rows[starts[there]]",
        ),
        (
            "documents that say nothing are shared",
            "values[counts == 1]",
            "values",
        ),
    ),
    *_in(
        "comparison",
        ("comparison/test_budget.py",),
        (
            "a training begins that cannot end in time",
            "        return left > 0.0 and sum(map(self._expected, kinds)) <= left",
            "        return left > 0.0",
        ),
        (
            "within a budget the methods have different seeds",
            "        begins = whole and not (budget.knows(due.values()) and not budget.fits(due.values()))",
            "        begins = whole",
        ),
    ),
    *_in(
        "comparison",
        ("comparison/test_details.py",),
        (
            "importances are of rounds after the best one too",
            'watch.gains = booster.feature_importance("gain", iteration=watch.best_round)',
            'watch.gains = booster.feature_importance("gain")',
        ),
        (
            "of errors the greater counts as the better on a query",
            "    d = sign * (a.values - b.values)",
            "    d = a.values - b.values",
        ),
        (
            "what a store keeps of a run lacks its importances",
            '_ARRAYS = ("validation_per_query", "curve", "gains", "cutoffs")',
            '_ARRAYS = ("validation_per_query", "curve", "cutoffs")',
        ),
    ),
    *_in(
        "comparison",
        ("comparison/test_live.py",),
        (
            "in a short terminal the growing table is cut off",
            "            rows = self._shown(console.height - _AROUND)",
            "            rows = self._shown(console.height)",
        ),
        (
            "the table fills the terminal, so that its heads stay in the scrollback",
            "_AROUND = 5",
            "_AROUND = 4",
        ),
    ),
    *_in(
        "losses",
        ("test_site.py",),
        (
            "a docstring has what Sphinx takes for something else",
            ":math:`|r - F|` is cut at 1e150. Centred, labels",
            "|r - F| is cut at 1e150. Centred, labels",
        ),
    ),
    *_in(
        "comparison",
        ("comparison/test_budget.py",),
        (
            "tuning goes on after time is up",
            "            late = self.is_late()\n            return late or",
            "            return late or",
        ),
    ),
    *_in(
        "core",
        ("test_extras.py",),
        (
            "a library that lacks a part of its own is called missing",
            'isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] == library',
            "isinstance(error, ModuleNotFoundError)",
        ),
    ),
    *_in(
        "doctor",
        ("test_doctor.py",),
        ("after an import that ends its process nothing is tried", "        left = undone[1:]", "        left = []"),
        (
            "the user's home is told to all",
            'return value.replace(home, "~") if isinstance(value, str) and len(home) > 1 else value',
            "return value",
        ),
    ),
    *_in(
        "studies",
        ("studies/speed/test_bench_page.py",),
        (
            "names of lines lie on each other",
            "        while clusters and middle - clusters[-1][0] < gap * ",
            "        while clusters and middle - clusters[-1][0] < 0.0 * ",
        ),
    ),
]
