"""Which files `pytest -m quick` runs, beside the doctests of the package: a minute on two cores, all rooms."""

__all__ = ["QUICK", "QUICK_OF_ROOM"]

# Where the tests of a room are not in a folder or file of its name.
QUICK_OF_ROOM = {
    "core": "core/test_checks.py",
    "data": "data/test_queries.py",
    "testing": "losses/test_laws.py",
    "version": "test_ci.py",
}

QUICK = frozenset(
    {
        "dask/test_partitions.py",
        "datasets/test_synthetic.py",
        "estimators/test_lightgbm.py",
        "comparison/test_console.py",
        "comparison/test_document.py",
        "comparison/test_significance.py",
        "comparison/test_store.py",
        "kernels/test_smooth_pairs.py",
        "losses/test_adarank.py",
        "losses/test_laws.py",
        "losses/test_lists.py",
        "losses/test_loss.py",
        "losses/test_mpboost.py",
        "losses/test_totals.py",
        "metrics/test_average_precision.py",
        "metrics/test_correlation.py",
        "metrics/test_dcg.py",
        "metrics/test_precision.py",
        "metrics/test_reciprocal_rank.py",
        "model/test_ensemble.py",
        "adapters/test_aliases.py",
        "adapters/test_call.py",
        "rankers/test_adarank.py",
        "rankers/test_rankboost_numbers.py",
        "studies/replication/test_claims.py",
        "studies/replication/test_order.py",
        "studies/replication/test_outcome.py",
        "selection/test_folds.py",
        "test_bad_input.py",
        "test_buffers.py",
        "core/test_checks.py",
        "test_ci.py",
        "test_cli.py",
        "test_doctor.py",
        "core/test_extras.py",
        "core/test_files.py",
        "test_layers.py",
        "core/test_naming.py",
        "data/test_pairs.py",
        "data/test_queries.py",
        "data/test_tables.py",
        "core/test_text.py",
        "core/test_threads.py",
        "core/test_values.py",
        "test_warm_up.py",
        "weak_rankers/test_stump.py",
        "weak_rankers/test_tree.py",
    }
)
