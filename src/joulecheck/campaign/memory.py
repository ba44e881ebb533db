"""Memory between batches."""

from __future__ import annotations

from typing import Final

import numpy as np

HINT_BYTES: Final = 16 << 20


def keep_freed_memory() -> None:
    """Have the C library keep the arrays of a batch for the next one.

    glibc gives the end of its heap back to the system when more than twice the size
    of the largest block freed so far is unused. The columns of a batch are more than
    that, so each batch would fault all its pages in anew, which took half of the time
    of screening. Freeing one larger block, which is never touched, raises the limit;
    elsewhere it does nothing.
    """
    np.empty(HINT_BYTES, dtype=np.uint8)
