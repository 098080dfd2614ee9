"""Properties that are computed once, at the first read, without a lock."""

import functools
from typing import TYPE_CHECKING, Any, TypeVar

_T = TypeVar("_T")


class cached_property(functools.cached_property[_T]):  # noqa: N801 (named as the one that it replaces)
    """Property that is computed at the first read and then kept in the object's ``__dict__``.

    Before Python 3.12, the one of functools holds one lock for all objects of a class while it computes. Threads that
    prepare different queries then wait for each other. A process forked meanwhile inherits the lock and hangs. Here,
    two threads may compute a value at the same time. Both get the one that is kept first.
    """

    if not TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            return instance.__dict__.setdefault(self.attrname, self.func(instance))
