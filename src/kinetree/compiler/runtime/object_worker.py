"""A program of its own: compiles one module, given on its standard input, to an object file on its standard output.

The first line is a JSON object: where llvmlite is, and the target machine. The rest is LLVM assembly.
"""

import json
import sys


def main() -> None:
    """Read, compile, write."""
    head, assembly = sys.stdin.buffer.read().split(b"\n", 1)  # all at once: whoever sends it waits
    request = json.loads(head)
    sys.path.insert(0, request["llvmlite"])
    import llvmlite.binding as llvm  # noqa: PLC0415

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_triple(request["triple"]).create_target_machine(**request["machine"])
    sys.stdout.buffer.write(machine.emit_object(llvm.parse_assembly(assembly.decode())))


if __name__ == "__main__":
    main()
