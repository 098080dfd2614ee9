"""`warn_user`: a warning that names the line of the user's code, however deep in this library it is raised."""

import inspect
import warnings


def warn_user(message: str) -> None:
    """Warn at the innermost line outside this library."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_globals.get("__name__", "").startswith("boostplug."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, UserWarning, stacklevel=level)
