"""Aliases of the frameworks' parameters that we read, set or refuse.

The main name comes first, then the aliases, shortest first. If a user gives several, LightGBM takes the first.
"""

LIGHTGBM: dict[str, tuple[str, ...]] = {
    own: (own, *sorted(others, key=lambda other: (len(other), other)))
    for own, others in {
        "bagging_by_query": (),
        "bagging_fraction": ("bagging", "sub_row", "subsample"),
        "bagging_freq": ("subsample_freq",),
        "bagging_seed": ("bagging_fraction_seed",),
        "boosting": ("boost", "boosting_type"),
        "categorical_feature": ("cat_column", "cat_feature", "categorical_column", "categorical_features"),
        "device_type": ("device",),
        "early_stopping_round": ("early_stopping", "early_stopping_rounds", "n_iter_no_change"),
        "eval_at": ("map_at", "map_eval_at", "ndcg_at", "ndcg_eval_at"),
        "feature_contri": ("fc", "feature_contrib", "feature_penalty", "fp"),
        "feature_fraction": ("colsample_bytree", "sub_feature"),
        "interaction_constraints": (),
        "lambda_l2": ("l2_regularization", "lambda", "reg_lambda"),
        "learning_rate": ("eta", "shrinkage_rate"),
        "machines": ("workers", "nodes"),
        "max_bin": ("max_bins",),
        "max_bin_by_feature": (),
        "metric": ("metric_types", "metrics"),
        "min_data_in_leaf": ("min_child_samples", "min_data", "min_data_per_leaf", "min_samples_leaf"),
        "min_sum_hessian_in_leaf": (
            *("min_child_weight", "min_hessian", "min_sum_hessian", "min_sum_hessian_per_leaf"),
        ),
        "monotone_constraints": ("mc", "monotone_constraint", "monotonic_cst"),
        "num_class": ("num_classes",),
        "num_iterations": (
            *("max_iter", "n_estimators", "n_iter", "nrounds", "num_boost_round", "num_iteration", "num_round"),
            *("num_rounds", "num_tree", "num_trees"),
        ),
        "num_leaves": ("max_leaf", "max_leaf_nodes", "max_leaves", "num_leaf"),
        "num_machines": ("num_machine",),
        "num_threads": ("n_jobs", "nthread", "nthreads", "num_thread"),
        "objective": ("app", "application", "loss", "objective_type"),
        "seed": ("random_seed", "random_state"),
        "tree_learner": ("tree", "tree_type", "tree_learner_type"),
        "verbosity": ("verbose",),
    }.items()
}
XGBOOST: dict[str, tuple[str, ...]] = {
    "learning_rate": ("learning_rate", "eta"),
    "nthread": ("nthread", "n_jobs"),
    "reg_lambda": ("reg_lambda", "lambda"),
    "seed": ("seed", "random_state"),
}
