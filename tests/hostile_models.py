"""Models that die, hang or lie: what a worker must survive.

Each is sound until it is asked about a workload of `LARGE` MACs or more, so that the
harness can probe it.
"""

from __future__ import annotations

import ctypes
import math
import os
import sys

from joulecheck import Case, Cases, Estimate, Precision, Unsupported

LARGE = 1 << 20


class Sound:
    """One picojoule an operation."""

    name = "sound"
    precisions = (Precision.FP32,)
    operators = ("gemm",)

    def estimate(self, case: Case, scale: object = None) -> Estimate:
        del scale
        if case.precision not in self.precisions:
            raise Unsupported
        if case.macs >= LARGE:
            self.misbehave()
        return Estimate(energy=1e-12 * case.ops)

    def misbehave(self) -> None:
        """Nothing, here."""


class Hang(Sound):
    """Sleeps in a loop that nothing ends."""

    def misbehave(self) -> None:
        while True:
            pass


class HardExit(Sound):
    """Leaves without a word."""

    def misbehave(self) -> None:
        os._exit(3)


class Segfault(Sound):
    """Reads address 0."""

    def misbehave(self) -> None:
        ctypes.string_at(0)


class Exit(Sound):
    """Raises SystemExit."""

    def misbehave(self) -> None:
        sys.exit(4)


class Odd(BaseException):
    """No Exception."""


class RaiseOdd(Sound):
    """Raises what few catch."""

    def misbehave(self) -> None:
        raise Odd("odd")  # noqa: EM101 - short


class Interrupt(Sound):
    """Pretends that the user has interrupted."""

    def misbehave(self) -> None:
        raise KeyboardInterrupt


class Print(Sound):
    """Writes to the standard output, also where Python does not see it."""

    def misbehave(self) -> None:
        print("noise from Python", flush=True)  # noqa: T201 - its fault
        os.write(1, b"noise from below\n")


class Nan(Sound):
    """Gives no number."""

    def estimate(self, case: Case, scale: object = None) -> Estimate:
        found = super().estimate(case, scale)
        return Estimate(energy=math.nan) if case.macs >= LARGE else found


class WrongType(Sound):
    """Gives text."""

    def estimate(self, case: Case, scale: object = None) -> Estimate:
        found = super().estimate(case, scale)
        return Estimate(energy="a lot") if case.macs >= LARGE else found


class HangInBatch(Sound):
    """Hangs on its batch path alone."""

    def estimate_batch(self, cases: Cases, scales: object = None) -> Estimate:
        del scales
        if (cases.macs >= LARGE).any():
            Hang().misbehave()
        return Estimate(energy=1e-12 * cases.ops)


class HangInBoth(Hang):
    """Hangs on both paths."""

    estimate_batch = HangInBatch.estimate_batch


class ExitInBatch(Sound):
    """Dies on its batch path alone."""

    def estimate_batch(self, cases: Cases, scales: object = None) -> Estimate:
        del scales
        if (cases.macs >= LARGE).any():
            os._exit(3)
        return Estimate(energy=1e-12 * cases.ops)


class ExitInBoth(ExitInBatch):
    """Dies on both paths."""

    def misbehave(self) -> None:
        os._exit(3)
