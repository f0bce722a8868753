"""Long modules in pieces: the same functions, the same bits, and one piece where no process can help.

Covers: compiler/runtime/object_worker.py
"""

import re
import subprocess
import sys

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.runtime import jit, side_by_side
from kinetree.compiler.runtime.call import Loaded
from kinetree.compiler.runtime.code import Code
from kinetree.compiler.runtime.side_by_side import Workers, joined, pieces_of, processes_for, separated
from kinetree.robot.quantity import program_of


@pytest.fixture(scope="module")
def program():
    return program_of(kt.load("humanoid", base="floating"), "inverse_mass_matrix")


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr(side_by_side, "LONG_PIECE", 10_000)


def run(program, object_file):
    """What the kernel for one state makes of a neutral state."""
    code = Loaded("single", Code(object_file, program.operations, program.single_workspace()), program.target)
    q = kt.load("humanoid", base="floating").neutral() + 0.0
    (size,) = program.layout.outputs[:1]
    results = [np.full(n, np.nan) for n in program.layout.outputs]
    workspace = np.zeros(program.single_workspace() // 8 + 16)
    start = (-workspace.ctypes.data // 8) % 8
    tables = [np.array([array.ctypes.data for array in arrays], np.uintp) for arrays in ([q], results)]
    code.function(tables[0].ctypes.data, tables[1].ctypes.data, workspace[start:].ctypes.data)
    assert np.isfinite(results[0]).all() and size == len(results[0])
    return results[0]


@pytest.mark.parametrize("count", [2, 3, 7])
@pytest.mark.sampled(3)
def test_pieces_compute_the_same_bits(program, count):
    text = program.single_assembly()
    pieces = pieces_of(text, count)
    assert len(pieces) == count
    assert all(len(piece) < len(text) for piece in pieces)
    whole = jit.compile_object(text, program.target)
    together = joined([jit.compile_object(piece, program.target) for piece in pieces])
    assert np.array_equal(run(program, whole), run(program, together))


@pytest.mark.parametrize("parts", [400, 1600])
def test_modules_of_any_number_of_parts_can_be_loaded(program, parts):
    """LLVM would end the process for the second if it came in two pieces."""
    part = "define internal fastcc void @kinetree_single.part{}(ptr %x) nounwind noinline {{\n  ret void\n}}"
    calls = "\n".join(f"  call fastcc void @kinetree_single.part{k}(ptr %x)" for k in range(parts))
    entry = f"define void @kinetree_single(ptr %x) nounwind {{\n{calls}\n  ret void\n}}"
    data = "@data = global [64 x i8] zeroinitializer"
    pieces = pieces_of("\n\n".join([data, *(part.format(k) for k in range(parts)), entry]), 2)
    assert len(pieces) == (2 if parts == 400 else 1)
    objects = joined([jit.compile_object(piece, program.target) for piece in pieces])
    assert jit.LoadedCode(objects, program.target, library=False).address("kinetree_single")


def test_every_part_is_defined_once(program):
    text = program.batch_assembly()
    parts = re.findall(r"define internal (.*@\S+\.part\d+\()", text)
    assert len(parts) == len(program.parts) > 3
    pieces = pieces_of(text, 3)
    for part in parts:
        assert sum(f"define {part}" in piece for piece in pieces) == 1
        assert any(f"declare {part}" in piece or f"define {part}" in piece for piece in pieces[:1])


def test_one_piece_is_the_module(program):
    text = program.single_assembly()
    (piece,) = pieces_of(text, 1)
    assert np.array_equal(*(run(program, jit.compile_object(each, program.target)) for each in (text, piece)))


def test_several_processes(program, small_pieces):
    text = program.single_assembly()
    found = jit.compile_object(text, program.target, 2)
    assert len(separated(found)) == 2
    assert np.array_equal(run(program, found), run(program, jit.compile_object(text, program.target)))


def test_a_process_that_fails_is_not_missed(program, small_pieces, monkeypatch, tmp_path):
    broken = tmp_path / "broken.py"
    broken.write_text("raise SystemExit(3)")
    monkeypatch.setattr(side_by_side, "WORKER", broken)
    text = program.single_assembly()
    found = jit.compile_object(text, program.target, 2)
    assert separated(found) == [found], "it was compiled here, whole"


def test_processes_end_with_the_context(monkeypatch, tmp_path):
    slow = tmp_path / "slow.py"
    slow.write_text("import sys, time\nsys.stdin.read()\ntime.sleep(600)")
    monkeypatch.setattr(side_by_side, "WORKER", slow)
    with pytest.raises(KeyboardInterrupt), Workers(["", ""], {}) as workers:
        raise KeyboardInterrupt
    assert [process.poll() is not None for process in workers._processes] == [True, True]


def test_how_many(monkeypatch):
    text = "x" * (5 * side_by_side.LONG_PIECE)
    assert [processes_for(text, cores) for cores in (1, 2, 4, 64)] == [1, 2, 4, 5]
    assert processes_for(text[: side_by_side.LONG_PIECE], 8) == 1
    monkeypatch.setattr(sys, "executable", "/opt/blender/blender")
    assert processes_for(text, 8) == 1, "another program is not started"


@pytest.mark.parametrize("objects", [[b"one"], [b"one", b""], [b"", b"two", b"three"]])
def test_joined_and_separated(objects):
    assert separated(joined(objects)) == objects


def test_the_worker_needs_nothing_of_this_library():
    text = side_by_side.WORKER.read_text()
    assert "kinetree" not in text
    told_nothing = [sys.executable, "-I", side_by_side.WORKER]
    assert subprocess.run(told_nothing, input=b"", capture_output=True, check=False).returncode
