"""Makes an object file for another machine, in a process of its own: LLVM ends the process where it cannot.

The file is run as a script, by `cross`. Its stdin is JSON: the machine, modules of LLVM assembly and whether each has
loops, and the names of functions that others see. It writes the object file to stdout, or a word to stderr.
"""

from __future__ import annotations

import json
import sys


def made(order: dict) -> bytes:  # type: ignore[type-arg]
    """The object file."""
    import llvmlite.binding as llvm  # noqa: PLC0415 - found by the path that the order has

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    try:
        target = llvm.Target.from_triple(order["triple"])
    except RuntimeError:
        sys.exit("unknown")
    machine = target.create_target_machine(
        cpu=order["cpu"], features=order["features"], opt=2, reloc=order["relocation"], codemodel="default"
    )
    whole = None
    for text, has_loops in order["modules"]:
        module = llvm.parse_assembly(text)
        module.triple, module.data_layout = machine.triple, str(machine.target_data)
        if has_loops:
            options = llvm.create_pipeline_tuning_options(speed_level=3)
            options.loop_vectorization = options.slp_vectorization = True
            builder = llvm.create_pass_builder(machine, options)
            builder.getModulePassManager().run(module, builder)
        if whole is None:
            whole = module
        else:
            whole.link_in(module)
    assert whole is not None
    for function in whole.functions:
        if not function.is_declaration and function.name not in order["exported"]:
            function.linkage = "internal"
    return bytes(machine.emit_object(whole))


if __name__ == "__main__":
    given = json.load(sys.stdin.buffer)
    sys.path += given["path"]
    sys.stdout.buffer.write(made(given))
