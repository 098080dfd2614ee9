"""Deliberate defects, as data. `python tests/mutants/run.py` applies them one at a time and runs the tests."""

from dataclasses import dataclass

__all__ = ["MUTANTS", "Mutant"]


@dataclass(frozen=True)
class Mutant:
    """One defect: a small change of one function, class or module.

    Attributes
    ----------
    name : str
        What the changed code does wrong.
    place : str
        Dotted name of the function, class or module in the package.
    old, new : str
        An expression or statement that occurs once there, and what replaces it. Formatting and comments do not matter.
    tests : tuple of str
        Files or folders in tests/; one of their tests must fail.
    """

    name: str
    place: str
    old: str
    new: str
    tests: tuple[str, ...]


def _caught_by(tests, *mutants):
    return [Mutant(*mutant, tests=tuple(tests)) for mutant in mutants]


MUTANTS = [
    *_caught_by(
        ["losses"],
        (
            "pair normalization divides by one pair too many",
            "losses.base.pair_loss.factor_of",
            "runs.n_judged / runs.n_pairs",
            "runs.n_judged / (runs.n_pairs + 1.0)",
        ),
        (
            "QBRank's scale ignores row weights",
            "losses.qbrank.QBRank.scale_terms",
            "number if queries.row_weight is None else np.array([queries.row_weight[judged].sum()])",
            "number",
        ),
        (
            "MPBoost's scale ignores the weights of explicit pairs",
            "losses.mpboost.MPBoost._pair_squares.build",
            "runs.weight * self._pair_distances(queries, runs) ** 2",
            "self._pair_distances(queries, runs) ** 2",
        ),
        (
            "the AdaRank loss favours queries that rank well already",
            "losses.adarank.AdaRank._weights",
            "-self.metric._per_query(scores, queries)",
            "self.metric._per_query(scores, queries)",
        ),
        (
            "each worker takes AdaRank's mean over its own queries",
            "losses.adarank.AdaRank._derivatives",
            "sums[-2:], sums[:-2]",
            "_terms(weight, defined), sums[:-2]",
        ),
        (
            "the gradient of an explicit pair is doubled at its loser",
            "losses.base.smooth_pair_loss.derivatives_of_listed",
            "np.bincount(loser, g, n)",
            "2.0 * np.bincount(loser, g, n)",
        ),
        (
            "ListNet weights a query by the mean weight of its documents",
            "losses.list_net._weights.compute",
            "square / total",
            "total / np.diff(runs.start)",
        ),
        (
            "LambdaRank's ideal DCG ignores the cut-off",
            "losses.base.gains.ideal_dcg",
            "discount[len(discount) if k is None else k:] = 0.0",
            "discount[len(discount):] = 0.0",
        ),
        (
            "NDCGBoost loses the digits of the difference of two near gains",
            "losses.ndcg_boost._gaps_of_gains",
            "level[runs.query_run[:-1]][query_of_run]",
            "0.0",
        ),
        (
            "a sum of losses ignores the weights of its losses",
            "losses.base.sums.CombinedLoss._derivatives",
            "g *= weight",
            "pass",
        ),
        (
            "the value of a sum of losses ignores their scales",
            "losses.base.sums.CombinedLoss.compute_value",
            "weight * (part.scale(queries) * part.value(scores, queries))",
            "weight * part.value(scores, queries)",
        ),
        (
            "a sum of an exact Hessian and a bound is called a bound",
            "losses.base.sums.CombinedLoss.hessian_kind",
            "kinds == {'bound', 'global'}",
            "'model' not in kinds",
        ),
    ),
    *_caught_by(
        ["metrics/test_calibration.py"],
        (
            "LogLoss is the mean of the queries' means",
            "metrics.calibration.LogLoss.sum_and_count",
            "(float(total.sum()), float(weight.sum()))",
            "(float((total[weight > 0] / weight[weight > 0]).sum()), float((weight > 0).sum()))",
        ),
        (
            "ECE lets gaps of bins cancel",
            "metrics.calibration.ECE.__call__",
            "np.abs(predicted - observed).sum() / total",
            "np.abs((predicted - observed).sum()) / total",
        ),
        (
            "rows that are not labelled count in calibration",
            "metrics.calibration._labels_and_weight",
            "np.where(judged, weight, 0.0)",
            "weight",
        ),
    ),
    *_caught_by(
        ["test_several_labels.py"],
        (
            "labels of a dataset do not follow its subsets",
            "adapters.record.Attached.of_part",
            "y[rows]",
            "y",
        ),
        (
            "missing labels of a name count as 0",
            "data.queries.Queries._on",
            "~missing",
            "None",
        ),
        (
            "explicit pairs stay beside bound labels",
            "data.queries.Queries._on",
            "self.replaced(labels=np.where(missing, 0.0, y), labelled=~missing, pairs=None)",
            "self.replaced(labels=np.where(missing, 0.0, y), labelled=~missing)",
        ),
    ),
    *_caught_by(
        ["losses/test_totals.py", "losses/test_ndcg_boost.py"],
        (
            "the scale of a loss on pairs ignores its normalization",
            "losses.base.pair_loss.PairLoss.scale_terms",
            "(self.factors(queries) * of_query).sum",
            "of_query.sum",
        ),
        (
            "the bound of a SmoothPairLoss is half of the bound",
            "losses.base.smooth_pair_loss.SmoothPairLoss.compute_gradient_hessian",
            "2.0 * s if choice == 'bound' else s",
            "s",
        ),
    ),
    *_caught_by(
        ["losses/test_totals.py", "losses/test_pairwise.py"],
        (
            "global Hessians count pairs of equal grades",
            "losses.base.smooth_pair_loss.SmoothPairLoss._weight_of_rows",
            "of_queries[runs.query_of_run] - runs.mass",
            "of_queries[runs.query_of_run]",
        ),
        (
            "global Hessians keep the scale of an earlier call",
            "losses.base.smooth_pair_loss.SmoothPairLoss._weight_of_rows",
            "(SmoothPairLoss, self, scale)",
            "(SmoothPairLoss, self)",
        ),
    ),
    *_caught_by(
        ["metrics"],
        (
            "NDCG@k of a query with fewer than k documents is not 0 in the LETOR convention",
            "metrics.dcg.NDCG._ideal",
            "ideal[(np.diff(queries.boundaries) < self.k) & (ideal > 0)] = np.inf",
            "pass",
        ),
        (
            "Kendall's tau-b is not corrected for tied scores",
            "metrics.correlation.KendallTau.compute_per_query",
            "same_score",
            "0.0 * same_score",
        ),
        (
            "queries without relevant documents count 0 for any `empty`",
            "metrics.by_rank.ByRank.filled",
            "values[np.isnan(values)] = empty",
            "values[np.isnan(values)] = 0",
        ),
        (
            "an unlabelled row with a high label is relevant",
            "metrics.by_rank.relevance",
            "queries.labelled_rows & (queries.labels >= least)",
            "queries.labels >= least",
        ),
    ),
    *_caught_by(
        ["rankers/test_units.py", "losses/test_ndcg_boost.py"],
        (
            "the gains of tiny grades lose their digits",
            "metrics.grades.exp2_less_one",
            "out[small] = np.expm1(_LN2 * grades[small])",
            "pass",
        ),
    ),
    *_caught_by(
        ["rankers"],
        (
            "AdaRank weights queries by the last round only",
            "rankers.adarank.AdaRankRanker._rounds",
            "initial * losses",
            "P * losses",
        ),
        (
            "AdaRank ignores the metric that the user chose for the best round",
            "rankers.base.ReferenceRanker._finish",
            "watch.best.number and (keep is None or watch.asked_for)",
            "watch.best.number and keep is None",
        ),
        (
            "a validation set chooses the best round only with early stopping",
            "rankers.base._Watch.stops_after",
            "self.best.add(value)",
            "self.best.add(value if self.patience is not None else np.nan)",
        ),
        (
            "continuous RankBoost ignores the pairs that it ties",
            "rankers.rankboost.RankBoostRanker._classic",
            "tied / 2 if self.variant == 'continuous' else 0.0",
            "0.0",
        ),
        (
            "RankBoost+ ignores the weights of pairs that no threshold separates",
            "rankers.rankboost._Descent.deltas",
            "np.tanh(self.eta)",
            "self.eta",
        ),
        (
            "directed distances between grades lose their sign",
            "rankers.mpboost._distances_of_cells",
            "-distances",
            "distances",
        ),
    ),
    *_caught_by(
        ["adapters", "data/test_pairs.py", "estimators"],
        (
            "new labels of a dataset are not read",
            "adapters.adapter.Fields.same_as",
            "zip(self, other, strict=True)",
            "zip(self[1:], other[1:], strict=True)",
        ),
        (
            "the best round of the last training remains",
            "adapters.xgboost.XGBoost.training",
            "given.get('i') == 0",
            "False",
        ),
        (
            "the zeros that LightGBM puts for missing labels count as labels",
            "adapters.call._built",
            "labels.any()",
            "len(labels)",
        ),
        (
            "a subset may hold a row twice",
            "adapters.lightgbm._partial_queries",
            "times.max(initial=0) > 1",
            "times.max(initial=0) > 99",
        ),
        (
            "an option of the frameworks' own losses is accepted and ignored",
            "adapters.options.fault_of_options",
            "parameters[name] is not None",
            "parameters[name] is True",
        ),
        (
            "an objective that sets leaves by labels is accepted as base",
            "adapters.xgboost.XGBoost.fault_of_parameters",
            "parameters.get('objective') in _ADAPTIVE",
            "False",
        ),
        (
            "the last of several aliases of LightGBM wins",
            "adapters.lightgbm._parameter",
            "ALIASES[name]",
            "ALIASES[name][::-1]",
        ),
        (
            "each worker scales a loss by its own rows",
            "adapters.call.objective",
            "{} if sums is None else {'sums': sums}",
            "{}",
        ),
        (
            "an error on one worker does not reach the others",
            "adapters.workers.in_step",
            "sums.fail(error)",
            "raise",
        ),
        (
            "the first step is checked for the first training only",
            "adapters.record.Record.begins",
            "queries if booster is None else booster",
            "queries",
        ),
        (
            "Hessians too small for LightGBM's leaves bring no warning",
            "adapters.call._fault_of_first_step",
            "_SMALL",
            "0.0",
        ),
        (
            "gains beyond XGBoost's float32 bring no error",
            "adapters.xgboost.XGBoost.fault_of_step",
            "gain > _LARGEST_GAIN",
            "gain > 1e+300",
        ),
        (
            "unweighted pairs are taken for missing grades",
            "data.queries.why_nothing_is_learnt",
            "pairs is not None",
            "pairs is not None and pairs.weight is None",
        ),
    ),
    *_caught_by(
        ["estimators", "adapters/test_conformance.py"],
        (
            "a continued training may change the base score",
            "estimators.xgboost._refuse_other_base_score",
            "(np.float32(given) != np.float32(own)).any()",
            "False",
        ),
        (
            "equal labels of two queries bring the warning on merged labels",
            "estimators.inputs.with_float32_labels",
            "runs.query_run[1:-1] - 1",
            "runs.query_run[:0]",
        ),
        (
            "LightGBM receives the parameters of losses",
            "estimators.lightgbm.LGBMRanker._process_params",
            "without_nested(super()._process_params(stage))",
            "super()._process_params(stage)",
        ),
        (
            "an exported ranker keeps the loss under an alias of `objective`",
            "estimators.lightgbm.LGBMRanker.export",
            "params.pop(alias)",
            "params[alias]",
        ),
        (
            "categories in another order are matched by position",
            "data.tables.align",
            "here == known",
            "True",
        ),
    ),
    *_caught_by(
        ["core/test_best_round.py", "rankers", "estimators", "test_one_ulp.py"],
        (
            "the last of equal rounds is the best one",
            "core.best_round.BestRound.add",
            "self._sign * value > self._sign * self.value + self._slack(value)",
            "self._sign * value >= self._sign * self.value + self._slack(value)",
        ),
        (
            "a round that is better by rounding only is the best one",
            "core.best_round.BestRound._slack",
            "max(self.tolerance, rounding(value, self.value))",
            "self.tolerance",
        ),
    ),
    *_caught_by(
        ["core", "test_bad_input.py"],
        (
            "a user's function may return an array of another length",
            "core.checks.returned",
            "array.shape != shape or (array.dtype.kind not in 'biuf' and array.size)",
            "array.dtype.kind not in 'biuf' and array.size",
        ),
        (
            "a failed write leaves half a file",
            "core.files.replacing",
            "yield from _replacing_file(path.resolve())",
            "with path.open('wb') as file:\n    yield file",
        ),
        (
            "characters that reverse the direction of a text are printed",
            "core.text",
            "{'Cc', 'Cf', 'Cs', 'Zl', 'Zp'}",
            "{'Cc', 'Cs', 'Zl', 'Zp'}",
        ),
        (
            "nested parameters are set on the old value",
            "core.values._replaced",
            "changes.get(name, known[name])",
            "known[name]",
        ),
        ("errors of helper threads are lost", "core.threads.run_over_queries", "helper.result", "helper.exception"),
    ),
    *_caught_by(
        ["data", "losses", "metrics", "test_bad_input.py"],
        (
            "Series whose index is in another order are read by position",
            "core.checks.refuse_other_order",
            "_is_reordered(one, other)",
            "False",
        ),
        (
            "the first query id that float rounds is accepted",
            "core.checks.refuse_rounded_ids",
            "np.abs(ids) >= 2.0 ** digits",
            "np.abs(ids) > 2.0 ** digits",
        ),
        (
            "an unlabelled row with a weight counts as labelled",
            "data.queries.Queries.judged",
            "self.labelled_rows & (self.row_weight > 0)",
            "self.row_weight > 0",
        ),
        (
            "a query's weight is the sum of its rows' weights",
            "data.queries.Queries.query_weight",
            "np.divide(sums, sizes, out=np.zeros(self.n_queries), where=sizes > 0)",
            "sums * (sizes > 0)",
        ),
        (
            "the weights of explicit pairs are left out of the scale",
            "data.grade_groups.PairRuns.weight_of_pairs",
            "self.sums(self.weight)",
            "self.n_pairs",
        ),
    ),
    *_caught_by(
        ["selection"],
        (
            "folds are not balanced in their number of documents",
            "selection.folds._fold_of",
            "np.argsort(load, kind='stable')",
            "np.arange(n_splits)",
        ),
    ),
    *_caught_by(
        ["model"],
        (
            "a value equal to a threshold goes right in LightGBM",
            "model.lightgbm._tree",
            "np.maximum(tree.threshold[inner], _LOWEST)",
            "np.nextafter(np.maximum(tree.threshold[inner], _LOWEST), -np.inf)",
        ),
        (
            "missing values go the other way in XGBoost",
            "model.xgboost._tree",
            "tree.missing_left != swapped",
            "tree.missing_left == swapped",
        ),
        (
            "an exported LightGBM model names no objective that converters know",
            "model.lightgbm.named",
            "head.replace('\\nfeature_names=', '\\nobjective=lambdarank\\nfeature_names=', 1)",
            "head",
        ),
        ("an exported booster loses DART's tree weights", "model.export._without_weights", "weight", "1.0"),
    ),
    *_caught_by(
        ["estimators/test_refit.py"],
        (
            "refitted leaves ignore the trees before them",
            "model.lightgbm.refitted",
            "values[leaf]",
            "0.0 * values[leaf]",
        ),
    ),
    *_caught_by(
        ["weak_rankers"],
        (
            "a float64 next to a float32 threshold goes to the other side",
            "weak_rankers.stump.rounding_edges",
            "np.where(edge.astype(np.float32) > below, np.nextafter(edge, -np.inf), edge)",
            "edge",
        ),
        ("a rounding error decides between two features", "weak_rankers.tree_growth._settle", "top + tie", "top"),
        ("missing values always go right", "weak_rankers.tree_growth._search_part", "1 + missing", "1"),
    ),
    *_caught_by(
        ["datasets"],
        (
            "a query that appears again is accepted",
            "datasets.parquet.ParquetTable.queries",
            "len(again)",
            "len(again) < 0",
        ),
        (
            "batches give a query the weight of another query",
            "datasets.xgboost_batches.BatchIter.next",
            "np.cumsum(batch.group) - batch.group",
            "np.arange(len(batch.group))",
        ),
        (
            "judged documents that a TREC run lacks are ignored",
            "datasets.trec._judged_list",
            "not missed",
            "rows or not missed",
        ),
    ),
    *_caught_by(
        ["dask"],
        (
            "a query split over partitions is accepted",
            "dask.partitions.refuse_split_queries",
            "(times > 1).any()",
            "False",
        ),
        (
            "a shuffle changes the order of rows in a query",
            "dask.partitions._in_order",
            "part.sort_values(_PLACE)",
            "part.sample(frac=1.0, random_state=0)",
        ),
        (
            "each LightGBM worker scales a loss by its own rows",
            "dask.lightgbm._Objective.__call__",
            "sums=self.sums",
            "sums=None",
        ),
    ),
    *_caught_by(
        ["comparison"],
        (
            "Holm's adjusted p-values may fall",
            "comparison.significance.holm",
            "np.maximum.accumulate(factor * values[order])",
            "factor * values[order]",
        ),
        (
            "the permutation test leaves out the observed permutation",
            "comparison.significance.randomisation_test",
            "(1 + reached) / (1 + flips)",
            "reached / flips",
        ),
        (
            "compare trains on labels that the rankers would merge",
            "comparison.training.frameworks.lightgbm_dataset",
            "queries = with_float32_labels(queries, warn=False)",
            "pass",
        ),
    ),
    *_caught_by(
        ["replication/test_movielens.py"],
        ("a MovieLens rating goes to another user", "replication.movielens.user_tasks", "chosen.row", "0"),
    ),
    *_caught_by(
        ["replication"],
        (
            "the learner that overfits more is taken for the one that overfits less",
            "replication.judging.curve_claims.overfits_less",
            "falls - own",
            "own - falls",
        ),
        (
            "a claim holds within noise",
            "replication.judging.verdicts.Difference.holds",
            "self.low",
            "self.mean",
        ),
    ),
    *_caught_by(
        ["test_warm_up.py"],
        ("the warm-up fits no ranker on explicit pairs", "warm_up", "Pairs([0, 1, 20], [2, 3, 21])", "None"),
    ),
    *_caught_by(
        ["comparison/test_store.py"],
        (
            "a damaged result on disk is accepted",
            "comparison.training.store._results",
            "_digest_of_row(*row) != found",
            "False",
        ),
    ),
    *_caught_by(
        ["comparison/test_recommendation.py"],
        (
            "the test part influences the recommendation",
            "comparison.outcomes.Runs.best",
            "self.finished(method)[run].validation",
            "self.finished(method)[run].test[self.plan.metric.name]",
        ),
    ),
    *_caught_by(
        ["comparison/test_verdicts.py"],
        (
            "frameworks are compared beside the cap of rounds",
            "comparison.result.CompareResult._between_frameworks",
            "self.runs.has_verdict(other, best[0])",
            "True",
        ),
    ),
    *_caught_by(
        ["comparison/test_shared_data.py"],
        (
            "folds that share queries count as independent samples",
            "comparison.significance.merge_repeated",
            "component",
            "strata",
        ),
    ),
    # Kernels, caught through the losses, metrics and adapters that call them.
    *_caught_by(
        ["losses/test_lambda_rank.py"],
        (
            "both halves of a LambdaRank list see each other from above",
            "kernels.lists.lambda_halves._sum_other_half",
            "up == upper",
            "up",
        ),
        ("LambdaRank weighs distant pairs more than the frameworks", "kernels.lists.lambdas", "0.01", "0.02"),
    ),
    *_caught_by(
        ["losses/test_list_net.py"],
        (
            "ListNet loses probabilities that vanish beside the largest",
            "kernels.lists.softmax.derivatives",
            "_VANISHED",
            "-_VANISHED",
        ),
        ("ListNet's noise is the same for all rows", "kernels.lists.softmax._noise", "row", "unsigned(0)"),
    ),
    *_caught_by(
        ["losses/test_squared_error.py"],
        (
            "centred SquaredError loses digits to a common offset",
            "kernels.lists.centred._error",
            "labels[row] - labels[other] - (scores[row] - scores[other])",
            "labels[row] - scores[row]",
        ),
    ),
    *_caught_by(
        ["losses/test_qbrank.py"],
        (
            "QBRank's value on long lists lacks a cross term",
            "kernels.pairs.hinge._between",
            "2.0 * total + step * weight",
            "2.0 * total",
        ),
    ),
    *_caught_by(
        ["kernels/test_smooth_pairs.py", "losses/test_double_loops.py", "losses/test_extremes.py"],
        (
            "distant scores are summed by products of exponentials",
            "kernels.pairs.pair_by_pair._over_parts",
            "not high - low <= SAFE_RANGE",
            "False",
        ),
        (
            "pairs push both documents in one direction",
            "kernels.pairs.pair_loop.pair_loop",
            "p[i] - own",
            "p[i] + own",
        ),
    ),
    *_caught_by(
        ["losses/test_pair_weights.py"],
        (
            "winners of long lists weigh what they weigh as losers",
            "kernels.pairs.hinge._between",
            "winner[order[i]]",
            "loser[order[i]]",
        ),
    ),
    *_caught_by(
        ["losses/test_mpboost.py"],
        (
            "sums of distant scores are carried on without their decay",
            "kernels.pairs.exponential_loss.far._sum_beside",
            "total *= math.exp(d * (before - f[i]))",
            "total *= 1.0",
        ),
    ),
    *_caught_by(
        ["losses/test_extremes.py"],
        (
            "a Hessian underflows beside its gradient",
            "kernels.base.single_precision.positive_beside",
            "max(_LEAST_HESSIAN * size, _LEAST) if size > 0.0 else 0.0",
            "_LEAST_HESSIAN * size",
        ),
    ),
    *_caught_by(
        ["metrics/test_average_precision.py"],
        (
            "average precision treats tied relevant documents as independent",
            "kernels.metrics.dcg_ap._average_precision",
            "(inside - 1) / max(b - a - 1, 1)",
            "inside / max(b - a, 1)",
        ),
    ),
    *_caught_by(
        ["metrics/test_reciprocal_rank.py"],
        (
            "reciprocal rank of ties draws with replacement",
            "kernels.metrics.dcg_ap._reciprocal_rank",
            "(tied - t - hits + 1) / max(tied - t, 1)",
            "1.0 - hits / tied",
        ),
    ),
    *_caught_by(
        ["metrics/test_correlation.py"],
        (
            "Kendall's tau counts pairs tied in score and grade twice",
            "kernels.metrics.ranks._discordance",
            "b - a - inside[of_grade]",
            "b - a",
        ),
    ),
    *_caught_by(
        ["metrics/test_dcg.py", "metrics/test_properties.py"],
        (
            "long lists are sorted without regard to file order",
            "kernels.base.sorting.merge",
            "spare_keys[i] >= keys[j]",
            "spare_keys[i] > keys[j]",
        ),
    ),
    *_caught_by(
        ["metrics/test_pairwise.py"],
        (
            "PrecisionAtPercent counts each pair as far apart as the last one completely",
            "kernels.metrics.precision_at_percent.precision_at_percent",
            "np.divide(wanted - beyond.n, n - beyond.n, out=np.ones(len(total)), where=n > beyond.n)",
            "np.ones(len(total))",
        ),
    ),
    *_caught_by(
        ["adapters"],
        (
            "the first step is not measured from the mean",
            "kernels.base.single_precision.first_step",
            "step - gradient.sum() / h.sum()",
            "step + 0.0",
        ),
    ),
    *_caught_by(
        ["kernels/test_cache.py"],
        (
            "a kernel keeps its compiled code when a helper in another file changes",
            "kernels.base.compiling.source_stamp",
            "_digest(folder)",
            "''",
        ),
        (
            "a kernel of another folder keeps its compiled code when a kernel changes",
            "kernels.base.compiling.source_stamp",
            "_digest(KERNELS)",
            "''",
        ),
    ),
    *_caught_by(
        ["data/test_pairs_from_clicks.py"],
        (
            "documents of equal click rates make pairs",
            "kernels.pairs.clicks.listing._beats",
            "rate[j] < rate[i]",
            "(rate[j] <= rate[i]) & (i != j)",
        ),
        (
            "negatives are drawn with replacement",
            "kernels.pairs.clicks.listing.list_drawn",
            "others[t], others[u] = others[u], others[t]",
            "others[t] = others[u]",
        ),
        (
            "skip_above prefers to the document below too",
            "data.click_pairs",
            "(-_ANY, -1)",
            "(-_ANY, 1)",
        ),
        (
            "weights by propensity have no limit",
            "data.click_pairs._factor",
            "np.maximum(theta, 1.0 / max_weight)",
            "theta",
        ),
        (
            "a position twice on a page is only found in neighbouring rows",
            "data.click_pairs._refuse_positions",
            "np.argsort(place, kind='stable')",
            "np.arange(n_rows)",
        ),
    ),
    *_caught_by(
        ["test_positions.py"],
        (
            "a subset has the positions of the first rows",
            "adapters.record.Attached.of_part",
            "positions_of(self.position, part.n_rows)[rows]",
            "positions_of(self.position, part.n_rows)[: len(rows)]",
        ),
        (
            "LightGBM's categories count as ranks",
            "adapters.call._built",
            "queries.with_positions(fields.position + 1, is_rank=False)",
            "queries.with_positions(fields.position + 1)",
        ),
    ),
    *_caught_by(
        ["losses/test_unbiased.py"],
        (
            "pairs weigh by the loser's ratio of clicks",
            "losses.unbiased.Unbiased._corrected",
            "_weighted(runs, 1.0 / bias[0], 1.0 / bias[1], places)",
            "_weighted(runs, 1.0 / bias[1], 1.0 / bias[0], places)",
        ),
        (
            "documents of a middle grade win only, or lose only",
            "losses.unbiased._places_in_pairs",
            "(runs.n_grades > 2).any()",
            "False",
        ),
        (
            "two clicked documents weigh as if one was certainly seen",
            "losses.base.clicked_pairs.clicked_pairs",
            "of_winner * (of_loser - 1.0)",
            "of_loser - 1.0",
        ),
        (
            "clicked pairs do not have the factor of their page",
            "losses.base.clicked_pairs._relative_factor",
            "others / own",
            "np.ones_like(own)",
        ),
        (
            "what is subtracted lowers the Hessian",
            "kernels.base.rows._subtract_rows",
            "hessian[i] += more[k]",
            "hessian[i] -= more[k]",
        ),
        (
            "a position without clicks has the ratio of the first",
            "losses.base.position_bias._ratios",
            "np.where(last < 0, there[0], last)",
            "np.where(sums > 0.0, last, there[0])",
        ),
        (
            "the ratio is not raised to 1/(p + 1)",
            "losses.base.position_bias._ratios",
            "1.0 / (p + 1.0)",
            "1.0",
        ),
        (
            "the added bias is the other way round",
            "losses.base.position_bias._bias_derivatives",
            "slope.sum(axis=1) - slope.sum(axis=0)",
            "slope.sum(axis=0) - slope.sum(axis=1)",
        ),
        (
            "relevance that small scores show is taken for bias",
            "losses.base.position_bias.additive_bias",
            "np.clip(at[-1], 1.0, _LARGEST_SCALE)",
            "1.0",
        ),
    ),
]
