"""Kernels in C: parts, slots, row programs, constants and booleans, to the bit of machine code."""

import platform
import re

import numpy as np
import pytest

import kinetree as kt
from c_libraries import LIBM, Library, assert_bits, needs_gcc, run
from kinetree.compiler.codegen.c import kernel
from kinetree.compiler.graph.passes import split

pytestmark = needs_gcc


def test_row_programs_in_tiles_and_in_long_loops(tmp_path, monkeypatch):
    robot = kt.load("quadruped", base="floating")
    library = Library(
        robot.inverse_mass_matrix, tmp_path / "tiles", flags=("-O1", "-march=native", "-ffp-contract=off")
    )
    assert library.symbols <= LIBM
    assert_bits(library, 2)
    text = (tmp_path / "tiles" / "robot.c").read_text()
    assert text.count("for (k = 0; k < 8; k++)") > 20, "there is no row program"
    monkeypatch.setattr(kernel, "SHORT", 0)
    library = Library(
        robot.inverse_mass_matrix, tmp_path / "loops", flags=("-O1", "-march=native", "-ffp-contract=off")
    )
    assert "for (k = 0; k < 8; k++)" not in (tmp_path / "loops" / "robot.c").read_text()
    assert_bits(library, 2)


@pytest.mark.parametrize("level", ["-O2", "-O3", "-Os"])
def test_loops_become_vectors_and_never_calls_of_the_c_library(tmp_path, level):
    legs = kt.load("quadruped", base="floating")
    functions = [legs.inverse_dynamics_derivatives, legs.frame("front_left_foot").jacobian]
    library = Library(functions, tmp_path, flags=(level, "-march=native", "-ffp-contract=off"))
    assert library.symbols <= LIBM
    assert_bits(library, 1)
    text = (tmp_path / "robot.c").read_text()
    loops = [body for body in text.split("\n}\n") if "for (k = 0;" in body]
    assert loops and all("VECTORIZE static void" in body for body in loops)
    if level == "-O2" and platform.machine() == "x86_64":
        machine_code = run("gcc", level, "-S", "robot.c", "-o", "-", folder=tmp_path)
        copy = machine_code.split("\nrobot_copy:")[1].split(".cfi_endproc")[0]
        assert re.search(r"mov[ua]ps", copy), "copies go number by number"


def test_short_parts_pass_numbers_and_booleans_through_the_workspace(tmp_path, monkeypatch):
    monkeypatch.setattr(split, "PART", 5)
    monkeypatch.setattr(split, "SHORT_PART", 5)

    def law(x, y):
        below, sines = kt.less(x, y), kt.sin(x)
        either = kt.where(kt.logical_or(below, kt.logical_not(kt.less_equal(y, 0.5 * x))), sines, y)
        return {
            "either": either,
            "x": x,
            "constants": np.array([0.0, 2.0, 0.0] + [0.0] * 20 + [-1.5]),
            "one": kt.cos(y[0]),
        }

    law = kt.compile(law, shapes={"x": (4,), "y": (4,)})
    library = Library({"law": law}, tmp_path)
    assert "!= 0;" in (tmp_path / "robot.c").read_text()
    rng = np.random.default_rng(0)
    for _ in range(20):
        x, y = rng.normal(size=(2, 4))
        code, results = library.call("law", x, y)
        assert code == 0
        for result, expected in zip(results, law(x, y).values(), strict=True):
            np.testing.assert_array_equal(result, expected)


def test_results_without_entries_and_arguments_without_use(tmp_path):
    law = kt.compile(lambda x, y: (x[:0], 2.0 * x), shapes={"x": (2,), "y": (0,)})
    library = Library({"law": law}, tmp_path)
    code, (nothing, twice) = library.call("law", [1.0, 2.0], [])
    assert code == 0 and nothing.shape == (0,) and twice.tolist() == [2.0, 4.0]


def test_an_operation_without_c_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(kernel.INFIX, "add", "+")
    monkeypatch.delitem(kernel.INFIX, "div")
    with pytest.raises(TypeError, match="has the operation 'div', which has no C"):
        kt.to_c({"law": kt.compile(lambda x: 1.0 / x, shapes={"x": ()})}, tmp_path / "new", name="p")
    assert not (tmp_path / "new").exists()
