"""LLVM assembly."""
