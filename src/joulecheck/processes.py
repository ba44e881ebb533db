"""Processes that work for another one."""

from __future__ import annotations

import contextlib
import ctypes
import signal
import sys


def end_with_parent() -> None:
    """Have this process killed when its parent ends, where the system can do that."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
