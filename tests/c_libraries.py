"""Exported C, compiled by gcc and called through ctypes, beside what Python gives."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree.functions.result_tree import flatten
from kinetree.functions.specialization import is_result
from kinetree.interop.c import c_files
from kinetree.interop.c_functions import sample

STRICT = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror")
EXACT = ("-O2", "-march=native", "-ffp-contract=off")
SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
LIBM = {"sin", "cos", "sincos", "exp", "log", "tanh", "fma", "fmaf", "sqrt", "sqrtf"}
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc")


def run(*command, folder=None):
    """The output of a command that succeeds."""
    done = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def symbols(library):
    """Names that an object file or library does not define itself."""
    lines = run("nm", "-u", library).splitlines()
    names = {line.split()[-1].partition("@")[0] for line in lines if line.strip() and not line.endswith(":")}
    return {name for name in names if not name.startswith("_")}


class Library:
    """Functions exported to C and compiled, `without` some text of the file."""

    def __init__(self, functions, folder, name="robot", flags=EXACT, dtype=None, compiler="gcc", without=""):
        self.folder, self.name = Path(folder), name
        kt.to_c(functions, folder, name=name, dtype=dtype)
        source = self.folder / f"{name}.c"
        assert without in source.read_text()
        source.write_text(source.read_text().replace(without, ""))
        run(compiler, *STRICT, *flags, "-fPIC", "-c", f"{name}.c", folder=folder)
        run(compiler, "-shared", f"{name}.o", "-o", f"{name}.so", "-lm", folder=folder)
        self.symbols = symbols(self.folder / f"{name}.o")
        self.library = ctypes.CDLL(str(self.folder / f"{name}.so"))
        files = c_files(functions, name, dtype)
        self.functions = {function.name.removeprefix(f"{name}_"): function for function in files.functions}
        self.codes = {
            code.removeprefix(f"{name.upper()}_"): number for number, code in enumerate(files.codes.names.values(), 1)
        }
        self.dtype = np.float64 if files.unit.real.name == "double" else np.float32

    def call(self, function, *arguments):
        """The code and the results, in their shapes; None is a null pointer."""
        f = self.functions[function]
        given = [None if x is None else np.ascontiguousarray(x, dtype=self.dtype) for x in arguments]
        results = [np.full(shape, -7.0, dtype=self.dtype) for _, shape in f.results.values()]
        pointers = [None if x is None else x.ctypes.data_as(ctypes.c_void_p) for x in (*given, *results)]
        code = getattr(self.library, f.name)(*pointers)
        return code, results

    def draw(self, function, rng):
        """Arguments such as the function may be called with."""
        f = self.functions[function]
        defaults = {own: f.defaults[p] for p, (own, _) in f.arguments.items() if p in f.defaults}
        return [np.asarray(x, dtype=self.dtype) for x in sample(f.compiled, defaults, rng)]

    def expected(self, function, arguments):
        """What Python gives for the same arguments: a list of arrays."""
        f = self.functions[function]
        careful = f.compiled.careful(f.key.options) or f.compiled
        found = careful.evaluate(arguments, f.key.options)
        return [np.asarray(x) for x in flatten(found, is_result)[0]]

    def test(self, *flags, compiler="gcc"):
        """Compile and run the self-test."""
        sources = [f"{self.name}.c", f"{self.name}_test.c"]
        run(compiler, *STRICT, *flags, *sources, "-lm", "-o", "selftest", folder=self.folder)
        return run(self.folder / "selftest")


def assert_bits(library, states=4):
    """All functions of a library give the bits of Python's."""
    for name in library.functions:
        for seed in range(states):
            given = library.draw(name, np.random.default_rng(seed))
            code, results = library.call(name, *given)
            assert code == 0, (name, code)
            for result, expected in zip(results, library.expected(name, given), strict=True):
                np.testing.assert_array_equal(result, expected, err_msg=name)
