"""The way from Python into a kernel, as LLVM functions: checks, result, call, and nothing in between.

A *door* is what a callable of Python's leads to: a native function of the kind METH_FASTCALL | METH_KEYWORDS with a
record of its own, which says what the call takes and returns. Behind a door are *variants*: kernels for different
options of the same call. Whatever a door does not know, it hands over to a Python function with the same arguments.

`records` and `interpreter` give the numbers that the text and its user (`compiler.runtime.native`) share; `assembly`
puts the text together: `arrays`, `matching`, `references`, `results`, `single`, `doors`, `batch`.

No Python code can run between the last check of an argument and the last use of its memory: the results are allocated
before the checks, and reading a dict of strings runs no code of the user's.
"""
