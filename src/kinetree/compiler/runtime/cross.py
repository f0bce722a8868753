"""Object files for other machines: modules of LLVM assembly for a triple, linked into one."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Collection, Sequence
from multiprocessing import spawn
from typing import NamedTuple

from kinetree.compiler.runtime.jit import llvmlite_folder
from kinetree.compiler.runtime.side_by_side import WORKER
from kinetree.errors import ArgumentError, PlatformError, short


class Machine(NamedTuple):
    """A machine that object files are made for."""

    triple: str
    cpu: str
    features: str = ""
    fuses: bool = False
    """Whether it has fused multiply-add."""
    relocation: str = "pic"
    lanes: int = 2
    """Numbers of 8 bytes in a vector register; LLVM takes vectors apart where there are none."""

    @property
    def convention(self) -> str:
        """How numbers are given to functions of the C library, where LLVM has to be told: in registers of the FPU."""
        return "arm_aapcs_vfpcc" if re.match(r"(arm|thumb).*eabihf$", self.triple) else ""


MACHINES = {
    machine.triple: machine
    for machine in (
        Machine("x86_64-linux-gnu", "x86-64"),
        Machine("aarch64-linux-gnu", "generic", fuses=True),
        Machine("riscv64-linux-gnu", "generic-rv64", "+m,+a,+f,+d,+c", fuses=True),
        Machine("thumbv7em-none-eabihf", "cortex-m7", fuses=True, relocation="static"),
        Machine("wasm32", "generic", relocation="static"),
    )
}
"""By triple."""


def machine(triple: object) -> Machine:
    """The machine of a triple; nothing is known of one that is not in the table."""
    if not isinstance(triple, str) or not triple.isascii() or not triple.isprintable() or not triple:
        raise _unknown(triple)
    return MACHINES.get(triple) or Machine(triple, "")


def _unknown(triple: object) -> ArgumentError:
    known = ", ".join(map(repr, MACHINES))
    return ArgumentError(f"target is {short(triple)}, which LLVM does not know; expected {known}, or another triple")


def object_for(
    modules: Sequence[tuple[str, bool]], machine: Machine, exported: Collection[str], level: int = 2
) -> bytes:
    """The object file of modules of LLVM assembly; those marked have loops, and are optimized. Functions other than
    those exported are its own. `level` is that of LLVM's code generation."""
    executable = spawn.get_executable()  # an application that embeds Python sets it, as for multiprocessing
    if not executable:
        raise PlatformError("there is no Python to make an object file in a process of its own")
    options = {"cpu": machine.cpu, "features": machine.features, "opt": level, "reloc": machine.relocation}
    request = {
        "llvmlite": llvmlite_folder(), "triple": machine.triple, "machine": {**options, "codemodel": "default"},
        "modules": list(modules), "exported": list(exported),
    }  # fmt: skip
    command = [os.fsdecode(executable), "-I", str(WORKER)]
    try:
        done = subprocess.run(command, input=json.dumps(request).encode(), capture_output=True, check=False)
    except OSError as problem:
        raise PlatformError(f"{command[0]} cannot be started to make an object file: {problem.strerror}") from None
    if done.returncode == 0:
        return done.stdout
    said = done.stderr.decode(errors="replace").strip().splitlines()
    if said and said[-1] == "unknown":
        raise _unknown(machine.triple)
    raise PlatformError(
        f"LLVM makes no object file for {machine.triple!r}: {short(said[-1] if said else done.returncode)}"
    )
