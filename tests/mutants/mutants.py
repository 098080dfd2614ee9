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
            "groups.n_judged / groups.n_pairs",
            "groups.n_judged / (groups.n_pairs + 1.0)",
        ),
        (
            "QBRank's scale ignores row weights",
            "losses.qbrank.QBRank.scale_terms",
            "number if queries.row_weight is None else np.array([queries.row_weight[judged].sum()])",
            "number",
        ),
        (
            "MPBoost's scale ignores the weights of explicit pairs",
            "losses.mpboost.MPBoost.pair_weight_of_queries",
            "pairs.weight * self._pair_distances(queries, pairs) ** 2",
            "self._pair_distances(queries, pairs) ** 2",
        ),
        (
            "the AdaRank loss favours queries that rank well already",
            "losses.composite.adarank.AdaRank._weights",
            "-self.metric._per_query(scores, queries)",
            "self.metric._per_query(scores, queries)",
        ),
        (
            "each worker takes AdaRank's mean over its own queries",
            "losses.composite.adarank.AdaRank._derivatives",
            "sums[-2:], sums[:-2]",
            "_terms(weight, defined), sums[:-2]",
        ),
        (
            "what a pair adds to its loser goes to its winner",
            "losses.base.smooth_pair_loss._add",
            "(winner, loser)",
            "(winner, winner)",
        ),
        (
            "ListNet weights a query by the mean weight of its documents",
            "losses.list_net.ListNet._weights.compute",
            "np.add.reduceat(v**2, first)",
            "np.add.reduceat(v, first) ** 2 / np.diff(judged.start)",
        ),
        (
            "LambdaRank's ideal DCG ignores the cut-off",
            "losses.base.gains.ideal_dcg",
            "discount[len(discount) if k is None else k:] = 0.0",
            "discount[len(discount):] = 0.0",
        ),
        (
            "NDCGBoost loses the digits of the difference of two near gains",
            "losses.ndcg_boost._relative_gains",
            "level[groups.query_group[:-1]][query_of_group]",
            "0.0",
        ),
        (
            "a sum of losses ignores the weights of its losses",
            "losses.composite.sums.CombinedLoss._derivatives",
            "weight * g",
            "g",
        ),
        (
            "the value of a sum of losses ignores their scales",
            "losses.composite.sums.CombinedLoss.compute_value",
            "weight * (part.scale(queries) * part.value(scores, queries))",
            "weight * part.value(scores, queries)",
        ),
        (
            "a sum of an exact Hessian and a bound is called a bound",
            "losses.composite.sums.CombinedLoss.hessian_kind",
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
            "np.where(judged, row_weights(queries), 0.0)",
            "row_weights(queries)",
        ),
    ),
    *_caught_by(
        ["losses/test_totals.py", "losses/test_double_loops.py"],
        (
            "the scale of a loss on pairs ignores its normalization",
            "losses.base.pair_loss.PairLoss.scale_terms",
            "(self.normalization_factors(queries) * of_query).sum",
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
        ["losses/test_pairwise.py", "losses/test_double_loops.py"],
        (
            "global Hessians ignore the gaps of gains",
            "losses.base.smooth_pair_loss.SmoothPairLoss._pair_weight_of_rows.compute",
            "self.grade_gains(queries)",
            "None",
        ),
        (
            "global Hessians ignore the scale",
            "losses.base.smooth_pair_loss.SmoothPairLoss._pair_weight_of_rows",
            "of_rows * factor_of_row",
            "of_rows",
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
            "metrics.by_rank.RankMetric.filled",
            'values[np.isnan(values)] = 1.0 if empty == "unweighted" else empty',
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
        ["adapters", "data/test_pairs.py", "estimators", "test_bad_input.py"],
        (
            "new labels of a dataset are not read",
            "adapters.adapter.Fields.same_as",
            "zip(self, other, strict=True)",
            "zip(self[1:], other[1:], strict=True)",
        ),
        (
            "the zeros that LightGBM puts for missing labels count as labels",
            "adapters.reading._build_queries",
            "labels.any()",
            "len(labels)",
        ),
        (
            "a subset may hold a row twice",
            "adapters.lightgbm._refuse_partial_queries",
            "times.max(initial=0) > 1",
            "times.max(initial=0) > 99",
        ),
        (
            "each worker scales a loss by its own rows",
            "losses.base.loss.Loss._on_worker",
            "total[1:]",
            "own",
        ),
        (
            "a slice of a dataset loses its pairs silently",
            "adapters.xgboost.XGBoost.refuse_slices",
            "dataset.slice = _refuse_slice",
            "pass",
        ),
        (
            "a subset of a dataset loses its pairs silently",
            "adapters.reading.queries_of",
            "record_of(parent).has_attachments",
            "False",
        ),
        (
            "an option of the frameworks' own losses is accepted and ignored",
            "estimators.parameter_names.check_options",
            "value is None",
            "True",
        ),
        (
            "an error on one worker does not reach the others",
            "adapters.workers.in_step",
            "sums.fail(error)",
            "raise",
        ),
    ),
    # Kernels, caught through the losses, metrics and adapters that call them.
    *_caught_by(
        ["losses/test_lambda_rank.py", "losses/test_double_loops.py"],
        (
            "LambdaRank's tied documents weigh nothing",
            "kernels.lists.lambdas._sum_list",
            "broadcast(tied[i])",
            "broadcast(0.0)",
        ),
        ("LambdaRank weighs distant pairs more than the frameworks", "kernels.lists.lambdas", "0.01", "0.02"),
    ),
    *_caught_by(
        ["losses/test_list_net.py"],
        (
            "ListNet takes 1 - p of the largest share from the share itself",
            "kernels.lists.softmax.derivatives",
            "whole.others",
            "(1.0 - whole.share)",
        ),
    ),
    *_caught_by(
        ["losses/test_regression.py"],
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
            "the gap of gains of a pair lacks one document's share",
            "kernels.pairs.grid._collect",
            "sum_of(load(grid.field_of_gap, at) * share)",
            "0.0",
        ),
        (
            "the tail of blocks far away is a constant",
            "kernels.pairs.grid._add_tail",
            "tail[1] * (linear + d * total)",
            "0.0",
        ),
        (
            "distant scores are summed by products of exponentials",
            "kernels.pairs.pair_by_pair.sum_by_pair",
            "not high - low <= SAFE_RANGE",
            "False",
        ),
        (
            "pairs push both documents in one direction",
            "kernels.pairs.pair_by_pair._add_below",
            "-s * g",
            "s * g",
        ),
    ),
    *_caught_by(
        ["losses/test_weights.py"],
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
            "exponents in the wrong order are not cut at 60",
            "kernels.pairs.exponential._is_far",
            "query.distance[u] * (query.score[j] - lowest) > LARGEST_EXPONENT",
            "False",
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
        ["metrics/test_relevance.py"],
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
            "data.click_pairs.pairs_of_clicks",
            "rate[j] < rate[i]",
            "rate[j] <= rate[i]",
        ),
        (
            "the same negatives are drawn for every winner",
            "data.click_pairs.pairs_of_implicit",
            "np.lexsort((rng.random(len(i)), i))",
            "np.lexsort((j, i))",
        ),
    ),
    *_caught_by(
        ["test_positions.py"],
        (
            "LightGBM's categories count as ranks",
            "adapters.reading._build_queries",
            "queries.with_positions(fields.position + 1, is_rank=False)",
            "queries.with_positions(fields.position + 1)",
        ),
    ),
    *_caught_by(
        ["losses/test_click_log_loss.py"],
        (
            "a click that is not certain to be seen loses digits at large scores",
            "losses.click_log_loss.ClickLogLoss.compute_gradient_hessian",
            "expit(-(scores + log_unseen))",
            "rest / (1.0 - theta * sigma)",
        ),
        (
            "the Hessian is that of clicks that everybody sees",
            "losses.click_log_loss.ClickLogLoss.compute_gradient_hessian",
            "factor * slope * rest",
            "factor * sigma * rest",
        ),
    ),
    *_caught_by(
        ["losses/test_unbiased.py"],
        (
            "pairs weigh by the loser's ratio of clicks",
            "losses.composite.unbiased.Unbiased._corrected",
            "_weighted(groups, 1.0 / bias[0], 1.0 / bias[1], place)",
            "_weighted(groups, 1.0 / bias[1], 1.0 / bias[0], place)",
        ),
        (
            "a position without clicks has the ratio of the first",
            "losses.composite.position_bias._ratios",
            "np.where(last < 0, there[0], last)",
            "np.where(sums > 0.0, last, there[0])",
        ),
        (
            "the ratio is not raised to the power",
            "losses.composite.position_bias._ratios",
            "(filled / sums[there[0]]) ** power",
            "filled / sums[there[0]]",
        ),
        (
            "the added bias is the other way round",
            "losses.composite.position_bias._bias_derivatives",
            "slope.sum(axis=1) - slope.sum(axis=0)",
            "slope.sum(axis=0) - slope.sum(axis=1)",
        ),
        (
            "relevance that small scores show is taken for bias",
            "losses.composite.position_bias.additive_bias",
            "np.clip(at[-1], 1.0, _LARGEST_SCALE)",
            "1.0",
        ),
    ),
    *_caught_by(
        ["comparison/test_again.py"],
        (
            "the printed lines train on columns that were left out",
            "comparison.recommendation._arguments",
            '{} if features is None else {"features": features}',
            "{}",
        ),
        (
            "the printed lines weigh queries as rows",
            "comparison.recommendation._fitted",
            '"query" if ":" in objective else "row"',
            '"row"',
        ),
    ),
    *_caught_by(
        ["estimators/test_features.py"],
        (
            "predict takes features in the order of the table",
            "data.inputs.selected",
            "[name for name in features if name not in [*taken]]",
            "[name for name in column_names(X) if name in features]",
        ),
        (
            "places of columns are those of features",
            "estimators.columns.counting_features",
            "kept != [*range(len(columns))]",
            "False",
        ),
    ),
    *_caught_by(
        ["estimators/test_folds.py", "estimators/test_lightgbm.py", "selection/test_starting.py"],
        (
            "the linear part has the spread of its own labels",
            "estimators.folds._with_linear",
            "spread / own / 3.0 if own else 0.0",
            "1.0 / 3.0 if own else 0.0",
        ),
        (
            "the linear part saw the rows out of fold",
            "estimators.folds._with_linear",
            "fit(X[train], queries.of_rows(train, keep_empty=False))",
            "fit(X, queries)",
        ),
        (
            "rounds without a split count as trees",
            "estimators.lightgbm._AssignQueries.n_trees_after",
            "counted[booster.best_iteration - self.first_round]",
            "booster.best_iteration",
        ),
        (
            "queries without a pair count as judged",
            "selection.starting.n_with_pair",
            "(queries.grade_groups if queries.pairs is None else queries.listed_pairs).query",
            "range(queries.n_queries)",
        ),
        (
            "a list of two choices is one of one choice",
            "selection.starting.has_one_chosen",
            "n_chosen == 1.0",
            "n_chosen >= 1.0",
        ),
    ),
    *_caught_by(
        ["comparison/test_decision.py"],
        (
            "the incumbent is left for a method that is level",
            "comparison.decision.Decision.recommended",
            "self.outcome is Outcome.BETTER",
            "self.outcome is not Outcome.WORSE",
        ),
        (
            "a method behind the incumbent on validation may take its place",
            "comparison.decision._second",
            "outcomes.first({incumbent: means[incumbent], method: mean}) == method",
            "True",
        ),
    ),
    *_caught_by(
        ["comparison/test_choosing.py"],
        (
            "a fold has a say in what it tests",
            "comparison.choosing.choose_then_use",
            "v * (fold != f) * ~np.isin(code, code[fold == f])",
            "v",
        ),
        (
            "the test of what was chosen does not choose anew",
            "comparison.choosing.choose_then_use",
            "chosen(means_of(d, others, signs))",
            "(np.repeat(pair[0], count, axis=1), np.repeat(pair[1], count, axis=1))",
        ),
    ),
    *_caught_by(
        ["comparison/test_score_in_use.py"],
        (
            "test queries of several folds count several times against the score in use",
            "comparison.inputs.today._doubts",
            "data.codes",
            "None",
        ),
        (
            "a score in use worse than chance is named where lower is better only",
            "comparison.inputs.today._doubts",
            "(ours, chance) if metric.greater_is_better else (chance, ours)",
            "(chance, ours)",
        ),
        (
            "tied pairs are errors in a random order",
            "comparison.inputs.today.in_random_order",
            '"half" if isinstance(inner, PairError) else "average"',
            '"full" if isinstance(inner, PairError) else "average"',
        ),
    ),
    *_caught_by(
        ["comparison/test_leaks.py"],
        (
            "a column that the user keeps is a leak",
            "comparison.inputs.leaks.leaks",
            "name in columns.keep",
            "name in ()",
        ),
        (
            "an id marks the rows of the query in which it stands",
            "comparison.inputs.leaks._Labels.told_by",
            "len(kinds) <= _MOST_KINDS",
            "True",
        ),
        (
            "the highest step of a good feature is a part of the label",
            "comparison.inputs.leaks._Labels.told_by",
            "codes if texts else unusual",
            "codes",
        ),
        (
            "a column that is the same in all rows of a query marks them",
            "comparison.inputs.leaks._Labels.__init__",
            "(share > 0.0) & (share < 1.0)",
            "share >= 0.0",
        ),
    ),
    *_caught_by(
        ["comparison/test_counts.py"],
        (
            "ties are errors in the mean place",
            "comparison.counts._place",
            'PairError(ties="half")',
            'PairError(ties="full")',
        ),
        (
            "counts have the interval of a method that was not chosen",
            "comparison.counts.plain_counts",
            'tests["difference"].widened(decision.widening)',
            'tests["difference"]',
        ),
    ),
    *_caught_by(
        ["comparison/test_examples.py"],
        (
            "a query of several folds is several examples",
            "comparison.examples._most_changed",
            "codes[fold][q]",
            "(fold, q)",
        ),
        (
            "places below the tenth count in what changes most",
            "comparison.examples._most_changed",
            "of <= DEPTH",
            "of >= 1",
        ),
    ),
    *_caught_by(
        ["comparison/test_page.py"],
        (
            "the report shows the difference as p",
            "comparison.report.table.heads",
            "'p_holm'",
            "'difference'",
        ),
        (
            "the plot of differences has the worst error first",
            "comparison.report.page.differences_of",
            "-sign * m['difference']",
            "-m['difference']",
        ),
    ),
    *_caught_by(
        ["comparison/test_compare.py"],
        (
            "the largest error is the best",
            "comparison.report.table.styles",
            "'min' if name in document['settings']['lower_is_better'] else 'max'",
            "'max'",
        ),
    ),
    *_caught_by(
        ["model/test_engines.py"],
        (
            "thresholds in single precision are rounded to the nearest",
            "weak_rankers.stump.largest_single",
            "rounded > threshold",
            "rounded != rounded",
        ),
        (
            "numbers that LightGBM takes for 0 are split",
            "model.trees.beyond_zero",
            "(threshold >= -_ZERO) & (threshold < 0.0)",
            "threshold != threshold",
        ),
        (
            "missing values go where the model sends them in engines that fill with 0",
            "model.writers.all_trees",
            "replace(tree, missing_left=tree.threshold >= 0.0)",
            "tree",
        ),
        (
            "the constant of a model is lost",
            "model.writers.all_trees",
            "(offset, model.constant)",
            "(offset, 0.0)",
        ),
        (
            "Solr's slack is forgotten",
            "model.writers._less_slack",
            "bound - _SLACK",
            "bound",
        ),
        (
            "XGBoost's models are always taken for trained without missing values",
            "model.trees.TreeModel.from_xgboost",
            "len(directions) > 1",
            "len(directions) > 2",
        ),
    ),
    *_caught_by(
        ["clicks/test_correction.py"],
        (
            "documents differ as much as their clicks do by chance",
            "clicks.correction._spread",
            "clicks**2 - clicks",
            "clicks**2",
        ),
        (
            "what the order knows is not relative to the mean attraction",
            "clicks.correction.correction",
            "share * attraction / (share @ attraction)",
            "share * attraction",
        ),
        (
            "the scale of the prior forgets the unit of the scores",
            "clicks.correction._scale_of",
            "float(scale) / (unit or 1.0)",
            "float(scale)",
        ),
    ),
]
