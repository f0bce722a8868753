"""A program of its own: compiles modules of LLVM assembly, given on its standard input, to an object file on its
standard output, or writes a word to stderr. LLVM uses one core, and ends the process where it cannot go on.

The input is a JSON object: where llvmlite is, a triple and the options of its machine, modules and whether each has
loops, and the names of functions that others see. Without such names, the one module is compiled as it is.
"""

import json
import sys


def made(request: dict) -> bytes:  # type: ignore[type-arg]
    """The object file."""
    import llvmlite.binding as llvm  # noqa: PLC0415 - found where the request says

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    try:
        target = llvm.Target.from_triple(request["triple"])
    except RuntimeError:
        sys.exit("unknown")
    machine = target.create_target_machine(**request["machine"])
    whole, *others = [llvm.parse_assembly(text) for text, _ in request["modules"]]
    if request["exported"] is None:
        return bytes(machine.emit_object(whole))
    for module, (_, has_loops) in zip([whole, *others], request["modules"], strict=True):
        module.triple, module.data_layout = machine.triple, str(machine.target_data)
        if has_loops:
            options = llvm.create_pipeline_tuning_options(speed_level=3)
            options.loop_vectorization = options.slp_vectorization = True
            builder = llvm.create_pass_builder(machine, options)
            builder.getModulePassManager().run(module, builder)
    for module in others:
        whole.link_in(module)
    for function in whole.functions:
        if not function.is_declaration and function.name not in request["exported"]:
            function.linkage = "internal"
    return bytes(machine.emit_object(whole))


if __name__ == "__main__":
    given = json.load(sys.stdin.buffer)  # all at once: whoever sends it waits
    sys.path.insert(0, given["llvmlite"])
    sys.stdout.buffer.write(made(given))
