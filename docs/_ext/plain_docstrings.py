"""Docstrings are plain text: paragraphs, and indented lines that stand as they are. This turns them into markup."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

SPECIAL = re.compile(r"([\\*|_<>])")


def _inline(text: str) -> str:
    """`names` in backticks become code; nothing else is markup."""
    parts = re.split(r"``?([^`]+)``?", text)
    for k, part in enumerate(parts):
        parts[k] = f"\\ ``{part.strip()}``\\ " if k % 2 else SPECIAL.sub(r"\\\1", part)
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


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", _process)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
