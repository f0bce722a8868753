"""Names of robots, joints, arguments and reasons as identifiers of C."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kinetree.errors import ArgumentError, ArgumentTypeError, printable, short

_KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        """auto break case char const continue default do double else enum extern float for goto if inline int long
        register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
        and bool catch class delete explicit export false friend mutable namespace new not operator or private
        protected public template this throw true try typename using virtual xor""",
    )
)
"""Of C99, and of C++, which reads the header."""
_HEADERS = frozenset(("math", "stdint", "stdio"))
"""Of the C library: an own file of such a name may be taken for them."""
_OWN = re.compile(
    r"w|k|sum|NAN|INFINITY|FMA|REDUCED|REDUCIBLE|LOOPS|REASSOCIATE|VECTORIZE|STRAIGHT|([tb]|angles|sines|cosines|refused_)\d+|"
    r"(default|between|numbers|scratch)_\w+|(fma|sqrt|fabs|copysign)f?|sin|cos|exp|log|tanh|signbit|i"
)
"""Names of locals, macros and functions in the code."""
_SMALL_WORDS = frozenset(("the", "a", "an", "is", "are", "of", "that", "this", "its"))


def identifier(name: object) -> str:
    """The name of a file and the prefix of its functions; raises if C cannot have it."""
    if not isinstance(name, str):
        raise ArgumentTypeError(f"name is {short(name)}; expected a name such as 'ur5'")
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) or name in _KEYWORDS | _HEADERS:
        raise ArgumentError(f"name is {short(name)}; expected an identifier of C, such as {as_word(name)!r}")
    return name


def word(text: str) -> str:
    """Any text as part of an identifier."""
    return re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_") or "_"


def as_word(text: str) -> str:
    """The identifier that is nearest to a name."""
    found = word(text)
    return f"robot_{found}".rstrip("_") if not found[:1].isalpha() or found in _KEYWORDS | _HEADERS else found


def parameters(names: Iterable[str]) -> list[str]:
    """Names of parameters, all different, none of which means something else in the code."""
    found: list[str] = []
    for name in names:
        chosen = word(name)
        if not chosen[:1].isalpha():
            chosen = f"x{chosen}"
        if chosen in _KEYWORDS or _OWN.fullmatch(chosen):
            chosen = f"x_{chosen}"
        while chosen in found:
            chosen += "_"
        found.append(chosen)
    return found


def unique(names: Iterable[str]) -> list[str]:
    """The names, with a number behind those that came before."""
    found: list[str] = []
    for name in names:
        chosen, count = name, 2
        while chosen in found:
            chosen, count = f"{name}_{count}", count + 1
        found.append(chosen)
    return found


def code_name(reason: str) -> str:
    """The words of a sentence that name a code: MASS_MATRIX_SINGULAR."""
    first = re.split(r" at this | at the |[,;:(]", reason)[0]
    words = [part for part in word(first).split("_") if part and part.lower() not in _SMALL_WORDS]
    return "_".join(words[:6]).upper() or "REFUSED"


def comment(text: str) -> str:
    """A text that ends no comment."""
    return printable(" ".join(text.split())).replace("*/", "* /").replace("/*", "/ *").replace("\\", "/")


def string(text: str) -> str:
    """A literal of these characters in UTF-8."""
    escaped = "".join(
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}" for byte in text.encode()
    )
    return f'"{escaped}"'
