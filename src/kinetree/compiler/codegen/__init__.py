"""Graphs as LLVM assembly: kernels for one state and for batches, loops, the native entry."""
