"""Scripts for processes of their own are no modules of doctests: pytest could not import what they need."""

collect_ignore = ["data.py", "ray_job.py", "spark_job.py"]
