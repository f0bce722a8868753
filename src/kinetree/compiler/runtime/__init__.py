"""LLVM, machine code in memory and on disk, native calls, threads."""
