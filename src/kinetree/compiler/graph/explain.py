"""NumPy's errors about traced values, reworded.

For NumPy, traced arrays are arrays of objects, and its errors name casting rules and missing methods. These sentences
name the function to use instead.
"""

from __future__ import annotations

import re

INSTEAD = {
    "solve": "use kt.linalg.solve",
    "inv": "use kt.linalg.inverse, or kt.linalg.solve",
    "det": "use kt.linalg.determinant",
    "lstsq": "use kt.linalg.pseudo_inverse",
    "svd": "use kt.linalg.pseudo_inverse if you need the pseudo-inverse",
    "cholesky": "use kt.linalg.solve(A, b, positive_definite=True)",
    "arctan2": "use kt.atan2",
    "isnan": "NaN appears in the result anyway",
}
"""Replacements of NumPy functions that do not work on traced values."""

_KERNEL = re.compile(r"Cannot cast ufunc '([a-z]+)\d*(?:_\w+)?' input")
_CONVERSION = re.compile(r"Cannot cast array data from dtype\('O'\)")
_IN_PLACE = re.compile(r"Cannot cast ufunc '\w+' output")
_METHOD = re.compile(r"of type Node which has no callable (\w+) method")
_UNSUPPORTED = re.compile(r"ufunc '(\w+)' not supported for the input types")
_ATTRIBUTE = re.compile(r"'(?:Node|float|int)' object has no attribute '(\w+)'")
_OPERANDS = re.compile(r"unsupported operand type\(s\) for (.+): .*'Node'")


def explained(error: Exception) -> str | None:
    """A sentence for an error that traced values caused; None if the function itself is wrong."""
    text = str(error)
    if _IN_PLACE.search(text):
        return (
            "+=, -=, … cannot put traced values into an array of floats: write x = x + y, or make x by kt.zeros(shape)"
        )
    if _CONVERSION.search(text):
        return (
            "a function of NumPy that needs numbers, such as np.interp, does not work on traced values: "
            "write its choices with kt.where and kt.clip"
        )
    for pattern, prefix in ((_KERNEL, "np.linalg."), (_METHOD, "np."), (_UNSUPPORTED, "np.")):
        found = pattern.search(text)
        if found:
            instead = INSTEAD.get(found[1], "see kt.linalg for what does" if "linalg" in prefix else "kt.sin, … do")
            return f"{prefix}{found[1]} does not work on traced values: {instead}"
    found = _ATTRIBUTE.search(text)
    if found and (found[1] in INSTEAD or "'Node'" in text):
        return f"a traced value has no .{found[1]}: {INSTEAD.get(found[1], 'it is one number, not known yet')}"
    found = _OPERANDS.search(text)
    return f"{found[1]} does not work on traced values" if found else None
