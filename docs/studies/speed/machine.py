"""The machine of a measurement, in words."""

import os
import platform
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from boostplug.core.threads import cores_of_process


def machine() -> dict[str, Any]:
    """Return the date, processor, cores of this process, memory, system, and load; None for unknown ones."""
    return {
        "date": datetime.now().astimezone().date().isoformat(),
        "processor": _processor(),
        "cores": cores_of_process(),
        "cores_of_machine": os.cpu_count(),
        "memory_gib": _known(lambda: round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)),
        "system": platform.platform(),
        "load": _known(lambda: round(os.getloadavg()[0], 2)),  # cores needed in the last minute: others ran if above 0
    }


def _processor() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


def _known(measure: Callable[[], float]) -> float | None:
    """Return a measurement; None where the system has none, as Windows."""
    with suppress(AttributeError, ValueError, OSError):
        return measure()
    return None
