"""Shared libraries for this machine, which other programs load: modules of LLVM assembly, compiled and linked here."""

from __future__ import annotations

import sys
from collections.abc import Callable

from kinetree.base.progress import announced
from kinetree.compiler.runtime.cross import Machine, object_for
from kinetree.compiler.runtime.jit import LONG, lock
from kinetree.compiler.runtime.shared_library import shared_library
from kinetree.compiler.runtime.stored import stored_library
from kinetree.compiler.runtime.target import Target, llvm
from kinetree.errors import PlatformError

SECONDS_PER_CHARACTER = 4e-7


def library_of(identity: str | None, modules: Callable[[], tuple[list[str], list[str]]], target: Target) -> bytes:
    """The shared library of modules, whose functions of these names others see; from disk if it was made before.

    `identity` is the same in every process for these modules and for no others, or None.
    """
    if sys.platform != "linux":
        raise PlatformError(f"shared libraries are made on Linux; this is {sys.platform}")
    if target.lacking:
        raise PlatformError(f"this CPU cannot run code for {target.cpu}: it lacks {', '.join(target.lacking)}")
    with lock:
        return stored_library(identity, modules, target, _linked)


def _linked(texts: list[str], exported: list[str], target: Target) -> bytes:
    size = sum(map(len, texts))
    machine = Machine(llvm.get_default_triple(), target.cpu, target.features)
    with announced(f"compiling {exported[0]}", SECONDS_PER_CHARACTER * size):
        return shared_library(object_for([(text, False) for text in texts], machine, exported, 1 if size > LONG else 2))
