"""Handlers by which XLA calls kernels (`codegen.xla`), each a function of its own in memory."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from math import prod
from typing import Any, Literal

from kinetree.compiler.codegen import xla
from kinetree.compiler.runtime.call import Kernel, Shape
from kinetree.compiler.runtime.jit import LoadedCode, compile_object, host, once
from kinetree.compiler.runtime.loop_code import loop_function
from kinetree.errors import ArgumentError, PlatformError

_ENTRY = "kinetree_xla"


class Handler:
    """The handler of a kernel for one state or for a batch. It must live as long as XLA knows its address."""

    def __init__(
        self, kernel: Kernel, kind: Literal["single", "batch"], inputs: Sequence[Shape], outputs: Sequence[Shape],
        version: tuple[int, int],
    ) -> None:  # fmt: skip
        """`outputs` are the results of one state, without that for refused states; `version` is that of the interface
        by which XLA calls it."""
        if version[0] != xla.MAJOR:
            raise PlatformError(
                f"XLA has version {version[0]} of its foreign function interface; expected version {xla.MAJOR}"
            )
        layout = kernel.source.layout
        refuses = len(layout.outputs) - len(outputs)
        if max(len(layout.inputs), len(layout.outputs)) > xla.MOST:
            raise ArgumentError(
                f"the function has {len(layout.inputs)} arguments and {len(outputs)} results; a call by XLA has at "
                f"most {xla.MOST} and {xla.MOST - 1}"
            )
        shapes = [*inputs, *outputs, *((),) * refuses]
        self._loaded = kernel.load(kind)
        self._ranks = _integers([len(shape) for shape in shapes])
        self._counts = _integers([prod(shape) for shape in shapes])
        self._form = xla.Form(
            self._loaded.address, len(inputs), len(layout.outputs), refuses, kernel.dtype.itemsize, version[1],
            self._ranks, self._counts,
        )  # fmt: skip
        text = _text(_code(kind)[1], ctypes.addressof(self._form))
        self._memory = LoadedCode(compile_object(text, host()), host(), library=False)
        self.address = self._memory.address(_ENTRY)
        self.workspace = self._loaded.workspace + 64
        """Bytes of the last result."""


@once
def _code(kind: Literal["single", "batch"]) -> tuple[LoadedCode, int]:
    """The code that all handlers of this kind run, and its address."""
    name = f"{_ENTRY}_{kind}"
    function = {"single": xla.single, "batch": xla.batch}[kind]
    code, _ = loop_function(name, function, ctypes.CFUNCTYPE(*[ctypes.c_void_p] * 3), vectorize=False)
    return code, code.address(name)


def _text(function: int, form: int) -> str:
    """A function of a frame alone, which calls a function of a frame and this form."""
    call = f"call ptr inttoptr (i64 {function} to ptr)(ptr %frame, ptr inttoptr (i64 {form} to ptr))"
    return f"define ptr @{_ENTRY}(ptr %frame) nounwind {{\n  %error = {call}\n  ret ptr %error\n}}\n"


def _integers(values: Sequence[int]) -> Any:
    return (ctypes.c_int64 * len(values))(*values)
