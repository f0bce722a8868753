"""Compiles one MJCF document by MuJoCo's library, in a process of its own that may take only so much time and memory.

The file is run as a script, by `limited_child`. It imports the standard library only and calls MuJoCo's C functions
by ctypes: the package mujoco would take half a second to import, this takes some hundredths. It reads one line of JSON
and the document from stdin, and writes one line of JSON and the compiled model to stdout.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from typing import Any, NoReturn

ERROR_SIZE = 4096
SAID = ctypes.CFUNCTYPE(None, ctypes.c_char_p)
DOCUMENT = b"model_.xml"
"""The name of a document that is no file."""


class Answer:
    """Where the result goes; what MuJoCo itself prints goes nowhere."""

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self.out = os.fdopen(os.dup(1), "wb")
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)

    def send(self, error: str | None, model: Any = b"") -> NoReturn:
        self.out.write(json.dumps({"error": error, "warnings": self.warnings[:100]}).encode() + b"\n")
        self.out.write(model)
        self.out.flush()
        os._exit(0)  # MuJoCo's threads and destructors are not waited for


def main() -> NoReturn:
    """Compile, answer, end."""
    order = json.loads(sys.stdin.buffer.readline())
    document = sys.stdin.buffer.read()
    answer = Answer()
    library = ctypes.CDLL(order["library"])
    kept = [ctypes.CDLL(plugin) for plugin in order["plugins"]]
    hear = SAID(lambda said: answer.warnings.append(said.decode("utf-8", "replace")))
    fail = SAID(lambda said: answer.send(said.decode("utf-8", "replace")))
    for name, function in (("mju_user_warning", hear), ("mju_user_error", fail)):
        ctypes.c_void_p.in_dll(library, name).value = ctypes.cast(function, ctypes.c_void_p).value
    error = ctypes.create_string_buffer(ERROR_SIZE)
    library.mj_loadXML.restype = ctypes.c_void_p
    library.mj_loadXML.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
    files = ctypes.create_string_buffer(2**16)  # mjVFS, which is a pointer
    path = os.fsencode(order["path"]) if order["path"] else DOCUMENT
    library.mj_defaultVFS(files)
    if not order["path"]:
        library.mj_addBufferVFS(files, DOCUMENT, document, len(document))
    model = library.mj_loadXML(path, files, error, ERROR_SIZE)
    if not model:
        answer.send(error.value.decode("utf-8", "replace") or "no reason given")
    library.mj_sizeModel.restype = ctypes.c_int64
    library.mj_sizeModel.argtypes = [ctypes.c_void_p]
    size = library.mj_sizeModel(model)
    if not 0 < size <= order["size"]:
        answer.send(f"its compiled model takes {size >> 20} MB; expected at most {order['size'] >> 20} MB")
    library.mj_saveModel.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int]
    buffer = (ctypes.c_char * size)()
    library.mj_saveModel(model, None, buffer, size)
    del kept
    answer.send(None, memoryview(buffer))


if __name__ == "__main__":
    main()
