"""From a Python function of scalars to machine code. Knows nothing of robots.

In the order of processing: expr (nodes), trace (run a function on them), passes (simplify, fuse, order, split), emit
(LLVM assembly), jit (machine code), program (all of these for one function), call (arrays in, arrays out).
"""
