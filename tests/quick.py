"""Which files `pytest -m quick` runs beside the doctests of the package: a minute on two cores."""

__all__ = ["QUICK"]

QUICK = frozenset(
    {
        "dask/test_partitions.py",
        "datasets/test_synthetic.py",
        "estimators/test_lightgbm.py",
        "comparison/test_significance.py",
        "losses/test_adarank.py",
        "losses/test_properties.py",
        "losses/test_loss.py",
        "losses/test_totals.py",
        "metrics/test_relevance.py",
        "metrics/test_correlation.py",
        "metrics/test_dcg.py",
        "metrics/test_reciprocal_rank.py",
        "model/test_ensemble.py",
        "adapters/test_call.py",
        "rankers/test_adarank.py",
        "rankers/test_rankboost_numbers.py",
        "selection/test_folds.py",
        "test_bad_input.py",
        "core/test_checks.py",
        "cli/test_cli.py",
        "cli/test_doctor.py",
        "core/test_files.py",
        "test_layers.py",
        "core/test_naming.py",
        "data/test_pairs.py",
        "data/test_queries.py",
        "data/test_tables.py",
        "core/test_text.py",
        "core/test_threads.py",
        "core/test_values.py",
        "weak_rankers/test_stump.py",
        "weak_rankers/test_tree.py",
    }
)
