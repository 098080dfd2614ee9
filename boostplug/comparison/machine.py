"""The machine of a measurement, in words."""

import os
import platform
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
        "memory_gib": _memory(),
        "system": platform.platform(),
        "load": _load(),
    }


def _processor() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


def _memory() -> float | None:
    with suppress(AttributeError, ValueError, OSError):  # not on Windows
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    return None


def _load() -> float | None:
    """Return the mean number of processes that needed a core in the last minute; above 0, others were running."""
    with suppress(AttributeError, OSError):
        return round(os.getloadavg()[0], 2)
    return None
