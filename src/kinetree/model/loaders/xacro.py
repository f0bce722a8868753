"""xacro, the macro language of URDF, by ROS's own package, with packages found as for meshes.

A xacro file is a program: it evaluates expressions, reads files and the environment. It runs in a child process, where
the time and memory it can take are bounded; what it can do with the rights of the user is not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kinetree.errors import ArgumentTypeError, ModelError, known, short
from kinetree.model.loaders import xacro_child
from kinetree.model.loaders.limited_process import Child, Limits, folder_of, started
from kinetree.model.loaders.resources import Resources
from kinetree.model.loaders.xml import MOST_BYTES, Element, parse

MEMORY = 2**30
"""What the child may have [bytes]."""
SECONDS = 60
"""How long it may compute, and be waited for [s]."""
MOST_PACKAGES = 10_000
"""How many times it may ask for one."""
UNDEFINED = re.compile(r"[Uu]ndefined substitution argument (\w+)")
NOT_READ = ("gazebo", "transmission")
"""Elements of a robot whose content does not matter."""
LONGEST_ANSWER = 12 * MOST_BYTES
"""A character takes up to twelve bytes in JSON."""


def expand(
    text: bytes | str, source: str, path: Path | None, arguments: Mapping[str, object], resources: Resources
) -> tuple[str, list[str]]:
    """The URDF that a xacro document stands for, and what the package had to say about it.

    Its lines are those that the command `xacro` prints.
    """
    given = _checked(arguments)
    root = parse(text, source)  # refuses document types, and knows lines
    packages = _packages(source)
    document = b"" if path is not None else text if isinstance(text, bytes) else text.encode("utf-8", "replace")
    order = {
        "path": None if path is None else str(path.absolute()),
        "arguments": given,
        "length": len(document),
        "size": MOST_BYTES,
    }
    with started(xacro_child, source, Limits(MEMORY, SECONDS), packages) as child:
        child.send(json.dumps(order).encode() + b"\n", document)
        answer = _answer(child, resources)
        problem = child.end() if answer is None else None
    if answer is None:
        raise ModelError(f"{source}: xacro {problem or 'says nothing of use'} to expand it")
    if "error" in answer:
        inner = answer["file"]
        where = f", in {inner}" if inner and path is not None and Path(inner) != path.absolute() else ""
        raise ModelError(f"{source}{where}: xacro: {answer['error']}{_hint(answer, root)}")
    for name in given:
        known("xacro argument", name, answer["declared"])
    return answer["text"], answer["remarks"]


def uses_macros(text: bytes | str, source: str) -> bool:
    """Whether the root of a document declares xacro's namespace, and there are tags of it in what is read."""
    if not _has(text, "<xacro:"):
        return False
    waiting = [parse(text, source)]
    if "xmlns:xacro" not in waiting[0].attributes:
        return False
    while waiting:
        element = waiting.pop()
        if element.tag.startswith("xacro:"):
            return True
        waiting += [child for child in element.children if child.tag not in NOT_READ]
    return False


def defines_macros(text: bytes | str) -> bool:
    """Whether there is a macro in the document."""
    return _has(text, "<xacro:macro")


def _has(text: bytes | str, tag: str) -> bool:
    return tag in text if isinstance(text, str) else tag.encode() in text


def _hint(answer: Mapping[str, Any], root: Element) -> str:
    """How to give an argument that is missing, and which there are, in the file and in what it has included before."""
    missing = UNDEFINED.search(answer["error"])
    if missing is None:
        return ""
    names, waiting = {name for name in answer["declared"] if name != missing[1]}, [root]
    while waiting:
        element = waiting.pop()
        names |= {element.attributes["name"]} if element.tag == "xacro:arg" and "name" in element.attributes else set()
        waiting += element.children
    declared = ", ".join(map(repr, sorted(names))) or "none"
    return f"; give it by xacro_args={{{missing[1]!r}: …}} (the file declares {declared})"


def _answer(child: Child, resources: Resources) -> dict[str, Any] | None:
    """The last line of the child, after it was told where the packages are that it asked for; None if it ends."""
    for _ in range(MOST_PACKAGES):
        try:
            said = json.loads(child.stdout.readline(LONGEST_ANSWER))
        except ValueError:
            return None
        if "find" not in said:
            return dict(said)
        child.send(json.dumps(resources.package(said["find"])).encode() + b"\n")
    child.stop()
    return None


def _checked(arguments: Mapping[str, object]) -> dict[str, str]:
    if not isinstance(arguments, Mapping):
        raise ArgumentTypeError(f"xacro_args is {short(arguments)}; expected strings by name")
    for name, value in arguments.items():
        if not isinstance(name, str) or not isinstance(value, (str, int, float)):
            raise ArgumentTypeError(f"xacro_args has {short(name)}: {short(value)}; expected strings by name")
    return {name: str(value) for name, value in arguments.items()}


def _packages(source: str) -> list[str]:
    """Where the package and the one that it needs lie."""
    folder = folder_of("xacro")
    if folder is None:
        raise ModelError(f"{source} is xacro, which needs a package: pip install 'kinetree[xacro]'")
    return [place for place in (folder, folder_of("yaml")) if place is not None]
