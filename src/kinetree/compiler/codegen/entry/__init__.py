"""The way from Python into a kernel, as LLVM functions: checks, result, call, and nothing in between.

A native entry is a function of the kind METH_FASTCALL | METH_KEYWORDS, behind a built-in function of Python's. Its
record says what the call takes and returns, and has a list of *variants*: kernels for different options of the same
call. Calls that an entry does not understand go to a Python function with the same arguments.

`records` and `interpreter` give the numbers that the text and its user (`compiler.runtime.native`) share; `assembly`
puts the text together: `arrays`, `conversion`, `matching`, `references`, `results`, `single`, `enter`, `batch`.

No Python code can run between the last check of an argument and the last use of its memory: the results are allocated
before the checks, and reading a dict of strings runs no code of the user's.
"""
