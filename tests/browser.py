"""Pages in headless Chromium, the system's own: tests that want one skip, visibly, where there is none."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

__all__ = ["chromium"]

NAMES = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def chromium() -> Iterator:
    """Yield a browser of playwright; skip the test without playwright, or without a Chromium of the system."""
    sync_api = pytest.importorskip("playwright.sync_api")
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip(f"no {', '.join(NAMES)} on the path")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found)
        try:
            yield browser
        finally:
            browser.close()
