"""Shared libraries that are made without a linker: what dlopen, the C library and readelf say of them.

Covers: compiler/runtime/host_library.py
"""

import ctypes
import math
import shutil
import struct
import subprocess
import sys

import pytest

from kinetree.compiler import host, library_of, machine, object_for
from kinetree.compiler.runtime.shared_library import shared_library
from kinetree.errors import PlatformError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="shared libraries are made on Linux")

TEXT = """
declare double @sin(double)
@pointer = internal constant ptr @sin, align 8
@numbers = internal constant [3 x double] [double 1.0, double 2.0, double 4.0], align 32
@table = internal constant [2 x ptr] [ptr @numbers, ptr getelementptr (double, ptr @numbers, i64 2)], align 8
@count = internal global i64 0, align 8

define internal double @twice(double %x) noinline nounwind {
  %y = fmul double %x, 2.0
  ret double %y
}

define double @by_library(double %x) nounwind {
  %f = load volatile ptr, ptr @pointer
  %y = call double %f(double %x)
  %z = call double @twice(double %y)
  ret double %z
}

define double @entry(i64 %k) nounwind {
  %at = getelementptr ptr, ptr @table, i64 %k
  %p = load volatile ptr, ptr %at
  %x = load double, ptr %p
  ret double %x
}

define i64 @counted() nounwind {
  %old = load i64, ptr @count
  %new = add i64 %old, 1
  store i64 %new, ptr @count
  ret i64 %new
}
"""
NAMES = ["by_library", "entry", "counted"]


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "numbers.so"
    file.write_bytes(library_of(None, lambda: ([TEXT], NAMES), host()))
    return file


def test_code_constants_variables_and_the_c_library(path):
    library = ctypes.CDLL(str(path))
    library.by_library.restype = library.entry.restype = ctypes.c_double
    assert library.by_library(ctypes.c_double(0.7)) == 2.0 * math.sin(0.7)
    assert [library.entry(ctypes.c_int64(k)) for k in (0, 1)] == [1.0, 4.0]
    assert [library.counted() for _ in range(3)] == [1, 2, 3]
    assert not hasattr(library, "twice") and not hasattr(library, "numbers")


def test_nothing_is_both_written_and_executed_and_the_stack_is_not(path):
    data = path.read_bytes()
    count = struct.unpack_from("<H", data, 56)[0]
    segments = [struct.unpack_from("<II", data, 64 + 56 * k) for k in range(count)]
    assert [flags for kind, flags in segments if kind == 1] == [4, 5, 6]
    assert (0x6474E551, 6) in segments


@pytest.mark.skipif(shutil.which("readelf") is None, reason="readelf is not installed")
def test_readelf_finds_no_fault(path):
    found = subprocess.run(["readelf", "-lrdDW", path], capture_output=True, text=True, check=True)
    assert found.stderr == "" and "libm.so.6" in found.stdout and " sin + 0" in found.stdout


def test_the_second_library_of_an_identity_comes_from_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("KINETREE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("KINETREE_CACHE", raising=False)
    calls = []

    def modules():
        calls.append(1)
        return [TEXT], NAMES

    first = library_of("some numbers", modules, host())
    assert library_of("some numbers", modules, host()) == first and len(calls) == 1
    assert library_of(None, modules, host()) == first and len(calls) == 2


def test_what_it_cannot_link():
    direct = """
declare double @sin(double)
define double @f(double %x) {
  %y = call double @sin(double %x)
  ret double %y
}
"""
    given = object_for([(direct, False)], machine("x86_64-linux-gnu"), ["f"])
    with pytest.raises(PlatformError, match="refers to sin"):
        shared_library(given)
    with pytest.raises(PlatformError, match="x86-64 and AArch64"):
        shared_library(object_for([(TEXT, False)], machine("riscv64-linux-gnu"), NAMES))


def test_on_another_system(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(PlatformError, match="on Linux; this is darwin"):
        library_of(None, lambda: ([TEXT], NAMES), host())


PROGRAM = """
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **names) {
  void *library = dlopen(names[1], RTLD_NOW);
  if (!library) { puts(dlerror()); return 1; }
  double (*by_library)(double) = dlsym(library, "by_library"), (*entry)(long) = dlsym(library, "entry");
  long (*counted)(void) = dlsym(library, "counted");
  counted();
  printf("%a %g %g %ld", by_library(0.5), entry(0), entry(1), counted());
  return 0;
}
"""


@pytest.mark.skipif(
    not (shutil.which("aarch64-linux-gnu-gcc") and shutil.which("qemu-aarch64-static")), reason="there is no AArch64"
)
def test_on_aarch64(tmp_path):
    data = shared_library(object_for([(TEXT, False)], machine("aarch64-linux-gnu"), NAMES))
    (tmp_path / "numbers.so").write_bytes(data)
    (tmp_path / "program.c").write_text(PROGRAM)
    subprocess.run(["aarch64-linux-gnu-gcc", "program.c", "-o", "program", "-ldl"], cwd=tmp_path, check=True)
    command = ["qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu", "./program", "./numbers.so"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()
    assert float.fromhex(said[0]) == 2.0 * math.sin(0.5) and said[1:] == ["1", "4", "2"]
