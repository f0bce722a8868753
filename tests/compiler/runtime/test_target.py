"""Code for every CPU that this machine can run: the same bits wherever multiply-add is fused, and right elsewhere."""

import ctypes
import hashlib
import re
import sys

import llvmlite.binding as llvm
import numpy as np
import pytest

import kinetree as kt
from kinetree import ops
from kinetree.algorithms import aba, crba, jacobian, rnea
from kinetree.compiler.codegen.elementary import LIBRARY
from kinetree.compiler.codegen.entry.assembly import entry_assembly
from kinetree.compiler.program import build
from kinetree.compiler.runtime import jit
from kinetree.compiler.runtime.call import Kernel
from kinetree.compiler.runtime.jit import LoadedCode, compile_object, host
from kinetree.compiler.runtime.target import ARM, NAMED, X86, Target, architecture, named_target, native_target
from natively import native_only
from processes import finish, run, start
from targets import FUSING, RUNNABLE

STATES = 21
"""Blocks of all widths, and a rest."""


def dynamics(name, target):
    """The kernel of inverse dynamics, mass matrix, forward dynamics and Jacobians of a bundled robot, and states."""
    model = kt.load(name).model

    def function(q, v, a):
        tau = rnea.inverse_dynamics(model, q, v, a)
        return (
            tau,
            crba.mass_matrix(model, q),
            aba.forward_dynamics(model, q, v, a),
            jacobian.body_jacobians(model, q, "world", "origin"),
        )

    program = build(function, [(model.nq,), (model.nv,), (model.nv,)], host(target))
    return Kernel(program), program.output_shapes


def states(name):
    """The same numbers on every machine: no function of the C library has a part in them."""
    robot, rng = kt.load(name), np.random.default_rng(5)
    v, a = rng.uniform(-1.0, 1.0, (2, STATES, robot.nv))
    q = rng.uniform(-1.0, 1.0, (STATES, robot.nq))
    if robot.nq != robot.nv:
        q[:, 3:7] = [0.5, -0.5, 0.5, 0.5]
    return q, v, a


def results(name, target):
    kernel, shapes = dynamics(name, target)
    sizes = [int(np.prod(shape)) for shape in shapes]
    inputs = states(name)
    batch = [np.empty((STATES, size)) for size in sizes]
    kernel.batch(inputs, batch)
    for k in (0, STATES - 1):
        single = [np.empty(size) for size in sizes]
        kernel.single([array[k] for array in inputs], single)
        assert all(np.array_equal(one, all_[k]) for one, all_ in zip(single, batch, strict=True))
    return batch


@pytest.mark.parametrize("name", ["arm7", "quadruped"])
def test_all_widths_with_fused_multiply_add_give_the_same_bits(name):
    if not FUSING:
        pytest.skip("this CPU has no fused multiply-add")
    first, *others = [results(name, target) for target in FUSING]
    for other in others:
        assert all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))


def mixed(x):
    """All operations but those of the C library."""
    c, s, angle = ops.cos(x), ops.sin(x), ops.atan2(x[0], x[1] - x[2])
    turned = np.array([c[0] * x[1] - s[0] * x[2], s[1] * x[0] + c[1] * x[2], c[2] * angle - x[0]])
    size = ops.sqrt(turned @ turned + 1.0)
    return np.array(
        [*turned / size, ops.where(ops.less(x[0], x[1]), size, angle), ops.minimum(s[0], ops.absolute(x[1]))]
    )


@pytest.mark.parametrize("target", FUSING)
def test_other_architectures_give_the_same_bits(target):
    x = np.random.default_rng(7).uniform(-4.0, 4.0, (500, 3)) * np.array([1.0, 100.0, 1e-3])
    out = np.empty((500, 5))
    Kernel(build(mixed, [(3,)], host(target))).batch([x], [out])
    assert hashlib.sha256((out + 0.0).astype("<f8").tobytes()).hexdigest() == BITS


BITS = "ae789dabd1d8d0d26663ff1651cb2b73cd39bf76e43e5d290de9727ae1b26ae0"
"""The hash of the results on x86-64 and on AArch64. New rules of the compiler may change it, on all alike."""


@pytest.mark.parametrize("name", ["arm7", "quadruped"])
def test_right_without_fused_multiply_add(name):
    reference = results(name, "")
    for target in RUNNABLE:
        if target not in FUSING:
            for got, expected in zip(results(name, target), reference, strict=True):
                np.testing.assert_allclose(got, expected, rtol=1e-11, atol=1e-11)


def test_names_and_lanes():
    lanes = {name: (host(name).lanes, host(name).fuses) for name in NAMED[architecture()]}
    expected = {
        X86: {"x86-64": (2, False), "x86-64-v2": (2, False), "x86-64-v3": (4, True), "x86-64-v4": (8, True)},
        ARM: {"armv8-a": (2, True)},
    }
    assert lanes == expected[architecture()]


def test_every_aarch64_has_neon_whether_it_is_listed_or_not(monkeypatch):
    monkeypatch.setattr("platform.machine", lambda: "arm64")
    assert native_target("apple-m1", {}, "") == Target("apple-m1", "", 2, True)


@pytest.mark.parametrize(
    ("features", "lanes", "fuses"),
    [({"avx512f", "avx", "fma"}, 8, True), ({"avx", "fma"}, 4, True), ({"avx"}, 4, False), (set(), 2, False)],
    ids=["avx512", "avx2", "avx", "sse2"],
)
def test_a_cpu_by_its_features(features, lanes, fuses, monkeypatch):
    monkeypatch.setattr("platform.machine", lambda: "AMD64")
    assert native_target("cpu", dict.fromkeys(features, True), "") == Target("cpu", "", lanes, fuses)


def test_code_for_a_greater_cpu_is_made_and_not_run(monkeypatch):
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    target = named_target("x86-64-v4", dict.fromkeys(("avx", "avx2", "fma"), True))
    assert "avx512f" in target.lacking and "avx2" not in target.lacking
    assert target == named_target("x86-64-v4", {}), "entries of the disk cache have the same names everywhere"
    assert repr(target) == repr(named_target("x86-64-v4", {}))
    with pytest.raises(kt.PlatformError, match=r"this CPU cannot run code for x86-64-v4: it lacks .*avx512f"):
        LoadedCode(b"", target)


def test_code_that_could_not_reach_its_constants_is_not_loaded(monkeypatch):
    text = "define void @f() { ret void }"
    code = compile_object(text, host())
    LoadedCode(code, host(), library=False)
    monkeypatch.setattr(jit, "LARGEST", len(code) - 1)
    with pytest.raises(kt.PlatformError, match="bytes of machine code are too many"):
        LoadedCode(code, host(), library=False)


SYSTEMS = {
    X86: ("x86_64-unknown-linux-gnu", "x86_64-apple-macosx13", "x86_64-pc-windows-msvc"),
    ARM: ("aarch64-unknown-linux-gnu", "arm64-apple-macosx14", "aarch64-pc-windows-msvc"),
}


@pytest.mark.parametrize("system", SYSTEMS[architecture()])
@pytest.mark.sampled(3)
def test_code_for_other_systems_needs_nothing_from_outside_but_the_stack_probe_of_windows(system):
    """Neither macOS nor Windows is at hand; their code is, and what it calls. Nor does it have unwind tables."""
    kernel, _ = dynamics("humanoid", RUNNABLE[-1])
    target = kernel.source.target
    made = llvm.Target.from_triple(jit.object_triple(system))
    machine = made.create_target_machine(target.cpu, target.features, 2, "pic", "small")
    for text in (kernel.source.single_assembly(), kernel.source.batch_assembly(), entry_assembly()):
        assembly = machine.emit_assembly(llvm.parse_assembly(text))
        defined = set(re.findall(r"^(\S+):", assembly, re.MULTILINE))
        called = set(re.findall(r"\t(?:callq?|bl)\s+([\w.$]+)", assembly)) - defined
        assert called <= ({jit.STACK_PROBE} if "windows" in system else set())
        assert ".seh_proc" not in assembly and ".cfi_startproc" not in assembly
        is_elf = machine.emit_object(llvm.parse_assembly(text)).startswith(b"\x7fELF")
        assert is_elf == ("apple" not in system), "other formats are loaded with less care"


OF_MACOS = """
import sys
import numpy as np
from kinetree.compiler.runtime import jit, native
jit.object_triple = lambda system: sys.argv[1]
import kinetree as kt
robot, q = kt.load("arm7"), np.linspace(-1.0, 1.0, 7)
states = np.linspace(-1.0, 1.0, 21 * 7).reshape(21, 7)
solution = robot.ik("tool0", robot.frame("tool0").pose(q))
for value in (robot.inverse_dynamics(q, q, q), robot.forward_dynamics(states, q, q), solution.q):
    print(value.tobytes().hex())
assert native.available() and type(robot.inverse_dynamics) is type(len)
"""


@native_only
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere, code of Linux is the strange one")
@pytest.mark.sweep
def test_code_of_macos_runs_here():
    """LLVM loads object files of its format on Linux too, and the calling convention is the same: kernels for one state
    and batches, loops, native calls."""
    own, apple = (run(OF_MACOS, system) for system in SYSTEMS[architecture()][:2])
    assert own == apple and len(own.split()) == 3


def test_libraries_of_windows(monkeypatch):
    """The C library has another name, and the stack probe is a function of the system."""
    asked, added, real = [], [], ctypes.CDLL(None)

    class Library:
        def __init__(self, name):
            asked.append(name)

        def __getattr__(self, name):
            return real.abs if name == jit.STACK_PROBE else getattr(real, name)

    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(ctypes, "CDLL", Library)
    monkeypatch.setattr(llvm, "add_symbol", lambda name, address: added.append(name))
    assert len(jit._library_addresses.__wrapped__()) == len(LIBRARY)
    assert asked == ["ucrtbase", "ntdll"] and added == ["__chkstk"]


CHOSEN = """
import numpy as np
import kinetree as kt

from kinetree.compiler.runtime.jit import host
robot = kt.load("arm6")
print(host().cpu, host().lanes, robot.mass_matrix(np.ones((50, 6))).sum(axis=(1, 2)).round(9).tolist()[0])
"""


@pytest.mark.parametrize("name", RUNNABLE[1:])
@pytest.mark.sampled(3)
def test_the_environment_chooses(name):
    right = kt.load("arm6").mass_matrix(np.ones(6)).sum().round(9)
    cpu, lanes, total = run(CHOSEN, KINETREE_CPU=name).split()
    assert (cpu, int(lanes), float(total)) == (host(name).cpu, host(name).lanes, right)


def test_a_name_that_the_environment_may_not_have():
    process = start(CHOSEN, KINETREE_CPU="pentium")
    with pytest.raises(AssertionError, match=r"KINETREE_CPU is 'pentium'; expected '(x86-64|armv8-a)'"):
        finish(process)


LESSER = """
import llvmlite.binding
features = llvmlite.binding.get_host_cpu_features()
features["avx512f"] = False
llvmlite.binding.get_host_cpu_features = lambda: features
import kinetree as kt
robot = kt.load("arm6")
try:
    robot.mass_matrix(robot.neutral())
except kt.PlatformError as error:
    print(error)
"""


@pytest.mark.skipif(architecture() != X86, reason="there is one AArch64")
def test_a_cpu_that_the_environment_chooses_and_this_machine_is_not():
    assert "x86-64-v4: it lacks" in run(LESSER, KINETREE_CPU="x86-64-v4")


WITHOUT_MACHINE_CODE = {
    "this machine is riscv64 with 64-bit addresses; kinetree makes machine code for x86-64 and AArch64": """
import platform
platform.machine = lambda: "riscv64"
""",
    "this process may not run machine code that it makes: [Errno 13] no": """
import llvmlite.binding

def refuse():
    raise OSError(13, "no")

llvmlite.binding.check_jit_execution = refuse
""",
}
"""What the errors say, and the program of such a machine."""
FORMULAS = """
import warnings
import numpy as np
import kinetree as kt

robot = kt.load("arm6")
q = np.ones(6)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    M = robot.mass_matrix(q)
    batch = robot.inverse_dynamics(np.ones((3, 6)), q, q)
    law = kt.compile(lambda robot, q: robot.gravity_forces(q) @ q)
    law(robot, q)
print([str(warning.message) for warning in caught if issubclass(warning.category, kt.PlatformWarning)])
assert np.array_equal(M, robot.eager.mass_matrix(q))
for call in (lambda: robot.ik("tool0", robot.frame("tool0").pose(q)), lambda: robot.rollout(q, q, q, 0.01, 3)):
    try:
        call()
    except kt.PlatformError as error:
        print(error)
"""


@pytest.mark.parametrize("sentence", WITHOUT_MACHINE_CODE, ids=["architecture", "security"])
def test_a_machine_without_machine_code_runs_formulas_as_python(sentence):
    """It warns once, and what has no formula says why it is not there: no process is ended by LLVM."""
    warned, *errors = run(WITHOUT_MACHINE_CODE[sentence] + FORMULAS).splitlines()
    assert warned.count("Formulas run as Python") == 1 and sentence in warned
    assert errors == [sentence, sentence]
