"""The CPUs that machine code is made for: the one of this machine, or one that KINETREE_CPU names."""

from __future__ import annotations

import ctypes
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kinetree.base.precision import FLOAT32, FLOAT64
from kinetree.compiler.codegen.ir import Width
from kinetree.errors import PlatformError, one_of

try:
    import llvmlite as _llvmlite
    import llvmlite.binding as _llvm
except ImportError:  # as in a browser: `architecture` says so where machine code is asked for
    _llvmlite = _llvm = None

llvmlite: Any = _llvmlite
llvm: Any = _llvm

CPU = "KINETREE_CPU"
"""An environment variable: the name of a CPU of `NAMED`, for which code is made instead of this machine's own."""


@dataclass(frozen=True)
class Target:
    """A CPU: the count of numbers in a vector register (lanes), whether it has fused multiply-add, and the type of the
    numbers, double or float."""

    cpu: str
    features: str
    lanes: int
    fuses: bool
    element: str = "double"
    lacking: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """What this machine lacks of it: code for such a CPU can be made, and not be run."""

    @property
    def width(self) -> Width:
        return Width(self.lanes, llvm.llvm_version_info[0] < 22, self.element, self.fuses)

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's type of the numbers."""
        return FLOAT64 if self.element == "double" else FLOAT32

    def computing_in(self, dtype: np.dtype[Any]) -> Target:
        """The same CPU for numbers of this type, float64 or float32: a register holds twice as many of the latter."""
        lanes = self.lanes * self.dtype.itemsize // dtype.itemsize
        return replace(self, lanes=lanes, element="double" if dtype == FLOAT64 else "float")


_V2 = ("cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3")
_V3 = (*_V2, "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")
_V4 = (*_V3, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")
X86, ARM = "x86-64", "AArch64"
_ARCHITECTURES = {"x86_64": X86, "amd64": X86, "aarch64": ARM, "arm64": ARM}
NAMED: dict[str, dict[str, tuple[str, int, bool, tuple[str, ...]]]] = {
    X86: {
        "x86-64": ("x86-64", 2, False, ()),
        "x86-64-v2": ("x86-64-v2", 2, False, _V2),
        "x86-64-v3": ("x86-64-v3", 4, True, _V3),
        "x86-64-v4": ("x86-64-v4", 8, True, _V4),
    },
    ARM: {"armv8-a": ("generic", 2, True, ())},
}
"""For every architecture, CPUs by name: LLVM's name, lanes, fused multiply-add, and the features it must have. The
levels of x86-64 are those of the System V ABI."""


def architecture() -> str:
    """The architecture of this machine; raises for one that there is no machine code for, and without llvmlite."""
    machine = platform.machine().lower()
    if machine not in _ARCHITECTURES or sys.byteorder != "little" or ctypes.sizeof(ctypes.c_void_p) != 8:
        bits = 8 * ctypes.sizeof(ctypes.c_void_p)
        raise PlatformError(
            f"this machine is {machine or 'unknown'} with {bits}-bit addresses; kinetree makes machine code for "
            f"{X86} and {ARM}"
        )
    require_llvmlite()
    return _ARCHITECTURES[machine]


def require_llvmlite() -> None:
    """Raise if llvmlite is not installed."""
    if llvm is None:
        raise PlatformError("the package llvmlite, which makes machine code, is not installed")


def native_target(cpu: str, features: Mapping[str, bool], flattened: str) -> Target:
    """The CPU of this machine, as LLVM knows it. Every AArch64 has NEON and fused multiply-add, though some operating
    systems do not list them."""
    if architecture() == ARM:
        return Target(cpu, flattened, 2, True)
    lanes = next((lanes for name, lanes in (("avx512f", 8), ("avx", 4)) if features.get(name)), 2)
    return Target(cpu, flattened, lanes, bool(features.get("fma")))


def cpu_names() -> tuple[str, ...]:
    """The CPUs of this architecture that have a name."""
    return tuple(NAMED[architecture()])


def named_target(name: str, features: Mapping[str, bool]) -> Target:
    """The CPU of this name on a machine with these features."""
    known = NAMED[architecture()]
    cpu, lanes, fuses, needed = known[one_of(CPU, name, known)]
    return Target(cpu, "", lanes, fuses, lacking=tuple(feature for feature in needed if not features.get(feature)))
