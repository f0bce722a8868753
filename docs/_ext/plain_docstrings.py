"""Docstrings are plain text: paragraphs, and indented lines that stand as they are. This turns them into markup.

And signatures are those that a caller sees: of a class whose metaclass takes anything, that of its `__init__`.
"""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx
from sphinx.util.inspect import signature as signature_of
from sphinx.util.inspect import stringify_signature

SPECIAL = re.compile(r"([\\*|_<>])")
EMPHASIS = re.compile(r"(?<!\S)\\\*([A-Za-z][\w ]*\w)\\\*(?=[\s.,;:)]|$)")
"""*words*, after special characters were escaped."""
FORWARD = re.compile(r"TypeAliasForwardRef\('(\w+)'\)")


def _inline(text: str) -> str:
    """`names` in backticks become code; nothing else is markup."""
    parts = re.split(r"``?([^`]+)``?", text)
    for k, part in enumerate(parts):
        parts[k] = f"\\ ``{part.strip()}``\\ " if k % 2 else EMPHASIS.sub(r"*\1*", SPECIAL.sub(r"\\\1", part))
    return "".join(parts)


def _is_table(block: list[str]) -> bool:
    """Names with explanations in columns."""
    return any(re.match(r"\S+( or \S+)?(, \S+)*  +\S", line) for line in block)


def markup(lines: list[str]) -> list[str]:
    """The docstring in reStructuredText."""
    blocks: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            blocks[-1].append(line)
        elif blocks[-1]:
            blocks.append([])
    result: list[str] = []
    for block in filter(None, blocks):
        literal = _is_table(block) or all(line.startswith("    ") for line in block)
        flat = [line for line in block if not line.startswith(" ")]
        if literal or len(flat) < len(block):
            result += ["::", "", *(f"   {line}" for line in block), ""]
        else:
            result += [_inline(" ".join(block)), ""]
    return result


def _process(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    lines[:] = markup(lines)


def _sign(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str | None, str | None] | None:
    if what == "class" and signature and signature.startswith("(*args"):
        signature = stringify_signature(signature_of(obj.__init__, bound_method=True), show_return_annotation=False)
    shown = (FORWARD.sub(r"\1", text) if text else text for text in (signature, returns))
    return next(shown), next(shown)


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", _process)
    app.connect("autodoc-process-signature", _sign)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
