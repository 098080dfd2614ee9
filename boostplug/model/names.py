"""Feature names as the frameworks take them."""

import re
from collections.abc import Sequence


def allowed_names(names: Sequence[str] | None, forbidden: str) -> list[str] | None:
    """Return feature names without the characters that match `forbidden`, or that UTF-8 has not, all different."""
    if names is None:
        return None
    out: dict[str, None] = {}
    for k, name in enumerate(names):
        allowed = re.sub(rf"{forbidden}|[\ud800-\udfff]", "_", name)
        while not allowed or allowed in out:
            allowed += f"_{k}"
        out[allowed] = None
    return list(out)
