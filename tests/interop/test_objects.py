"""kt.to_object: machine code for other machines, run where a linker and an emulator are there.

Covers: compiler/codegen/caller.py, compiler/runtime/cross.py.
"""

import platform
import re
import shutil
import struct

import numpy as np
import pytest

import kinetree as kt
from c_libraries import needs_gcc, run, symbols
from kinetree import tasks
from kinetree.compiler.runtime import cross
from kinetree.control import ComputedTorque, WholeBody
from kinetree.interop.c import c_files
from kinetree.interop.objects import _modules
from kinetree.ops import require

ARM = kt.load("arm6")
ELF_MACHINES = {
    "x86_64-linux-gnu": (2, 62), "aarch64-linux-gnu": (2, 183), "riscv64-linux-gnu": (2, 243),
    "thumbv7em-none-eabihf": (1, 40),
}  # fmt: skip


def several():
    """A formula, a refusal, minimum and maximum, defaults, and solvers."""

    @kt.compile(shapes={"x": (3,)})
    def law(robot, q, x):
        require(kt.less(x[0], 9.0), "x is too large")
        return kt.minimum(kt.maximum(x, q[:3]), 0.7), kt.exp(x[0]) * kt.tanh(q[1])

    body = WholeBody(ARM, [tasks.Pose("tool0"), tasks.Posture(weight=0.1)])
    return [ARM.inverse_dynamics, ARM.forward_dynamics, law.bind(ARM), ComputedTorque(ARM, 50.0), body]


@pytest.mark.parametrize("target", cross.MACHINES)
def test_object_files_are_of_their_machine(target, tmp_path):
    path = kt.to_object([ARM.frame("tool0").jacobian, ARM.forward_dynamics], tmp_path / "new" / "arm.o", target=target)
    data, header = path.read_bytes(), (tmp_path / "new" / "arm6.h").read_text()
    assert "int arm6_tool0_jacobian(const double *q, double *result);" in header and "joint_names" not in header
    if target == "wasm32":
        assert data[:4] == b"\0asm"
        return
    bits, machine = ELF_MACHINES[target]
    assert data[:5] == b"\x7fELF" + bytes([bits]) and struct.unpack_from("<H", data, 18) == (machine,)


@needs_gcc
@pytest.mark.skipif(platform.machine() != "x86_64", reason="its code is of another machine")
@pytest.mark.sweep
def test_the_self_test_of_c_passes_with_the_object(tmp_path):
    functions = several()
    kt.to_c(functions, tmp_path, name="arm")
    (tmp_path / "arm.c").unlink()
    kt.to_object(functions, tmp_path / "arm.o", name="arm", target="x86_64-linux-gnu")
    assert symbols(tmp_path / "arm.o") <= {"sin", "cos", "exp", "tanh"}
    run("gcc", "arm_test.c", "arm.o", "-lm", "-o", "selftest", folder=tmp_path)
    assert run(tmp_path / "selftest") == "arm: 0 failures\n"
    (tmp_path / "more.c").write_text("""#include "arm.h"
#include <stdio.h>
int main(void) {
    double q[6] = {0.1, 0.2, 0.3}, x[3] = {10.0, 0.0, 0.0}, r[3], s[1], t[6], u[6];
    const double k[6] = {50.0, 50.0, 50.0, 50.0, 50.0, 50.0};
    int i, same = 1;
    printf("%d ", arm_law(q, x, r, s) == ARM_X_TOO_LARGE);
    x[0] = 0.15;
    printf("%d ", arm_law(q, x, r, s));
    printf("%g %g %g ", r[0], r[1], r[2]);
    arm_computed_torque(q, q, q, 0, 0, 0, 0, t);
    arm_computed_torque(q, q, q, 0, 0, k, 0, u);
    for (i = 0; i < 6; i++)
        same &= t[i] == u[i];
    printf("%d\\n", same);
    return 0;
}
""")
    run("gcc", "more.c", "arm.o", "-lm", "-o", "more", folder=tmp_path)
    assert run(tmp_path / "more") == "1 0 0.15 0.2 0.3 1\n"


@needs_gcc
@pytest.mark.skipif(platform.machine() != "x86_64", reason="its code is of another machine")
def test_float32(tmp_path):
    kt.to_c(ARM.inverse_dynamics, tmp_path, name="arm", dtype="float32")
    kt.to_object(ARM.inverse_dynamics, tmp_path / "arm.o", name="arm", target="x86_64-linux-gnu", dtype="float32")
    run("gcc", "arm_test.c", "arm.o", "-lm", "-o", "selftest", folder=tmp_path)
    assert run(tmp_path / "selftest") == "arm: 0 failures\n"


@pytest.mark.skipif(
    not (shutil.which("aarch64-linux-gnu-gcc") and shutil.which("qemu-aarch64-static")), reason="there is no AArch64"
)
def test_aarch64_under_an_emulator(tmp_path):
    functions = several()
    kt.to_c(functions, tmp_path, name="arm")
    kt.to_object(functions, tmp_path / "arm.o", name="arm", target="aarch64-linux-gnu")
    run("aarch64-linux-gnu-gcc", "-static", "arm_test.c", "arm.o", "-lm", "-o", "selftest", folder=tmp_path)
    assert run("qemu-aarch64-static", tmp_path / "selftest") == "arm: 0 failures\n"


@pytest.mark.skipif(
    not (shutil.which("arm-linux-gnueabihf-gcc") and shutil.which("qemu-arm-static")), reason="there is no 32-bit ARM"
)
def test_code_of_a_cortex_m7_under_an_emulator(tmp_path):
    functions = several()
    kt.to_c(functions, tmp_path, name="arm")
    kt.to_object(functions, tmp_path / "arm.o", name="arm", target="thumbv7em-none-eabihf")
    run("arm-linux-gnueabihf-objcopy", "--remove-section", ".ARM.attributes", "arm.o", folder=tmp_path)  # not Linux's
    run(
        "arm-linux-gnueabihf-gcc", "-static", "-mthumb", "arm_test.c", "arm.o", "-lm", "-o", "selftest", folder=tmp_path
    )
    assert run("qemu-arm-static", tmp_path / "selftest") == "arm: 0 failures\n"


@pytest.mark.skipif(not (shutil.which("wasm-ld") and shutil.which("node")), reason="there is no wasm-ld or no node")
def test_wasm_in_node(tmp_path):
    kt.to_object(ARM.inverse_dynamics, tmp_path / "arm.o", name="arm", target="wasm32")
    run("wasm-ld", "--no-entry", "--export-all", "--allow-undefined", "arm.o", "-o", "arm.wasm", folder=tmp_path)
    (tmp_path / "run.mjs").write_text("""
import fs from "fs";
const wasm = await WebAssembly.instantiate(fs.readFileSync("arm.wasm"), {env: {sin: Math.sin, cos: Math.cos}});
const arm = wasm.instance.exports, memory = new Float64Array(arm.memory.buffer);
const at = Math.ceil(arm.__heap_base.value / 8);
for (let i = 0; i < 6; i++) { memory[at + i] = 0.1 * i; memory[at + 6 + i] = 0.2; memory[at + 12 + i] = -0.3; }
arm.arm_inverse_dynamics(8 * at, 8 * (at + 6), 8 * (at + 12), 8 * (at + 18));
console.log(JSON.stringify(Array.from(memory.slice(at + 18, at + 24))));
""")
    found = np.array(eval(run("node", "run.mjs", folder=tmp_path)))
    expected = ARM.inverse_dynamics(0.1 * np.arange(6), np.full(6, 0.2), np.full(6, -0.3))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("target", ["pdp11", "", "x y", "arm\n", None, 3, "aarch65-linux-gnu"])
def test_unknown_machines_are_refused_and_nothing_is_written(target, tmp_path):
    with pytest.raises(kt.ArgumentError, match="LLVM does not know; expected 'x86_64-linux-gnu'"):
        kt.to_object(ARM.mass_matrix, tmp_path / "new" / "arm.o", target=target)
    assert not (tmp_path / "new").exists()


def test_where_llvm_ends_a_sentence_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(cross, "WORKER", tmp_path / "child.py")
    (tmp_path / "child.py").write_text("import os; os.abort()")
    with pytest.raises(kt.PlatformError, match="LLVM makes no object file for 'wasm32'"):
        kt.to_object(ARM.mass_matrix, tmp_path / "arm.o", target="wasm32")
    monkeypatch.setattr(cross.spawn, "get_executable", lambda: str(tmp_path / "python"))
    with pytest.raises(kt.PlatformError, match="python cannot be started to make an object file: No such file"):
        kt.to_object(ARM.mass_matrix, tmp_path / "arm.o", target="wasm32")
    monkeypatch.setattr(cross.spawn, "get_executable", lambda: None)
    with pytest.raises(kt.PlatformError, match="there is no Python"):
        kt.to_object(ARM.mass_matrix, tmp_path / "arm.o", target="wasm32")
    assert not (tmp_path / "arm.o").exists()


def test_a_32_bit_arm_gives_numbers_to_the_c_library_in_registers_of_its_fpu():
    law = kt.compile(lambda x: 2.0 * kt.exp(x), shapes={"x": ()})
    files = c_files({"law": law}, "p")
    conventions = {}
    for target in ("thumbv7em-none-eabihf", "aarch64-linux-gnu"):
        text = "".join(text for text, _ in _modules(files, files.functions[0], cross.machine(target)))
        conventions[target] = set(re.findall(r"call (\S+ )?double %t\d+\(", text))
    assert conventions == {"thumbv7em-none-eabihf": {"arm_aapcs_vfpcc "}, "aarch64-linux-gnu": {""}}


def test_wrong_paths(tmp_path):
    with pytest.raises(kt.ArgumentTypeError, match="path is 3; expected the name of an object file"):
        kt.to_object(ARM.mass_matrix, 3)
    (tmp_path / "folder.o").mkdir()
    with pytest.raises(kt.ArgumentError, match="is a folder; expected the name of a file"):
        kt.to_object(ARM.mass_matrix, tmp_path / "folder.o", target="wasm32")
    with pytest.raises(kt.ArgumentError, match=r"path ends in 'arm\.h', the name of the header"):
        kt.to_object(ARM.mass_matrix, tmp_path / "arm.h", name="arm", target="wasm32")
    with pytest.raises(kt.ArgumentError, match="expected the name of a file"):
        kt.to_object(ARM.mass_matrix, tmp_path / "a\0.o", target="wasm32")
    assert [path.name for path in tmp_path.iterdir()] == ["folder.o"]
    with pytest.raises(kt.ArgumentTypeError, match="is not compiled"):
        kt.to_object(lambda q: q, tmp_path / "a.o", target="wasm32")
