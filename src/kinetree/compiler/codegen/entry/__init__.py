"""The way from Python into a kernel, written in the loop language: checks, result, call, and nothing in between.

A native entry is a function of the kind METH_FASTCALL | METH_KEYWORDS, behind a built-in function of Python's. Its
record says what the call takes and returns, and has a list of *variants*: kernels for different options of the same
call. Calls that an entry does not understand go to a Python function with the same arguments.

A call comes in by `enter`, which leaves what is not plain to `matching`, and goes to `single` or `batch`. `arrays` and
`conversion` read arguments, `results` makes arrays, `references` holds objects. `interpreter` declares what they need
of CPython and NumPy, `records` what `compiler.runtime.native` tells them; `assembly` puts it all together.

No Python code can run between the last check of an argument and the last use of its memory: the results are allocated
before the checks, and reading a dict of strings runs no code of the user's.
"""
