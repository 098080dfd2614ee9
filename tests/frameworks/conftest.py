"""Every failure here means one thing: a framework no longer does what our adapters were written against."""

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item):
    """Head each failure with the trap (the test's docstring) and the page to update; the original is its cause."""
    try:
        return (yield)
    except (Exception, pytest.fail.Exception) as error:
        trap = (item.function.__doc__ or item.name).strip().splitlines()[0].rstrip(".")
        raise AssertionError(f"raw behaviour changed: {trap}, see docs/compatibility.md") from error
