"""Expands one xacro document by ROS's package, in a process of its own that may take only so much time and memory.

The file is run as a script, by `limited_child`. It reads one line of JSON and the document from stdin. It asks for each
package that the document looks for by a line on stdout, and is answered by one; the last line is the result.
"""

from __future__ import annotations

import ast
import builtins
import io
import json
import os
import sys
from importlib import import_module
from typing import Any, NoReturn

INNER = ("gi_", "cr_", "ag_", "tb_", "f_")
"""How attributes begin by which Python's own frames are reached."""
FRAMES = ("frame", "code", "back", "globals", "locals", "builtins", "await", "yieldfrom", "next", "trace")
PLAIN = (
    "abs", "all", "any", "bool", "dict", "divmod", "enumerate", "filter", "float", "int", "len", "list", "map", "max",
    "min", "pow", "range", "reversed", "round", "set", "sorted", "str", "sum", "tuple", "zip",
)  # fmt: skip
"""Functions of Python that $(eval …) may call."""
LONGEST = 500


class Conversation:
    """The pipes to the process that waits; what the package or an expression prints is kept, up to a length."""

    def __init__(self) -> None:
        self.input, self.out = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in (1, 2):
            os.dup2(nowhere, descriptor)
        sys.stdout = sys.stderr = self.remarks = io.StringIO()

    def say(self, **message: Any) -> None:
        self.out.write(json.dumps(message).encode() + b"\n")
        self.out.flush()

    def find(self, name: str) -> str | None:
        """The folder of a package."""
        self.say(find=name)
        folder: str | None = json.loads(self.input.readline())
        return folder

    def end(self, **message: Any) -> NoReturn:
        self.say(**message)
        os._exit(0)


class Arguments(dict[str, str]):
    """The arguments, and which of them the document declares or uses: it asks for each whether it was given."""

    declared: set[str]

    def __contains__(self, name: object) -> bool:
        self.declared.add(str(name))
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:
        self.declared.add(name)
        return super().__getitem__(name)


def checked(expression: str) -> str:
    """An expression, unless it names what leads from values to Python's inner life. This makes mischief harder, not
    impossible: whoever reads the result trusts the file."""
    for node in ast.walk(ast.parse(expression.strip(), mode="eval")):
        name = getattr(node, "attr", None) or (node.id if isinstance(node, ast.Name) else "")
        inner = isinstance(node, ast.Attribute) and name.startswith(INNER) and name.partition("_")[2] in FRAMES
        if name.startswith("__") or inner:
            raise NameError(f"expressions may not use {name[:50]!r}")
    return expression


def guard(package: Any, substitution: Any, conversation: Conversation) -> None:
    """The package with packages found by whoever waits, and with expressions checked first."""
    theirs = package.safe_eval

    def safe_eval(expr: str, globals: dict[str, Any], locals: Any = None) -> Any:
        return theirs(checked(expr), globals, locals)

    def find(name: str) -> str:
        folder = conversation.find(str(name))
        if folder is None:
            raise substitution.SubstitutionException(f"package {name!r} was not found; name its folder in package_dirs")
        return folder

    def evaluated(text: str, context: dict[str, Any]) -> str:
        arguments = context.setdefault("arg", {})
        functions: dict[str, Any] = {name: getattr(builtins, name) for name in PLAIN} | substitution._eval_dict
        functions["arg"] = lambda name: substitution.convert_value(substitution._eval_arg(name, arguments), "auto")
        functions["dirname"] = lambda: substitution._eval_dirname(context.get("filename"))
        names = substitution._DictWrapper(arguments, functions)
        return str(eval(checked(text), {"__builtins__": {}}, names))

    package.safe_eval = safe_eval
    substitution._eval_find = substitution._eval_dict["find"] = find
    substitution._eval = evaluated


def reason_of(problem: Exception) -> str:
    """What went wrong, by the first cause that says it."""
    cause: Any = problem
    while isinstance(getattr(cause, "exc", None), Exception):  # the package tells each cause after the next
        cause = cause.exc
    if isinstance(cause, MemoryError):
        os._exit(1)
    if isinstance(problem, RecursionError) or isinstance(cause, RecursionError):
        return "it includes or calls itself without end"
    if isinstance(cause, OSError):
        return f"{cause.strerror}: {cause.filename}"
    if type(cause).__name__ == "SubstitutionException":
        problem = cause
    return " ".join(str(problem)[: 4 * LONGEST].split())[:LONGEST] or type(problem).__name__


def main() -> NoReturn:
    """Expand, answer, end."""
    order = json.loads(sys.stdin.buffer.readline())
    document = sys.stdin.buffer.read(order["length"]).decode()
    conversation = Conversation()
    package: Any = import_module("xacro")  # after stderr has been turned round
    substitution: Any = import_module("xacro.substitution_args")
    guard(package, substitution, conversation)
    given = Arguments(order["arguments"])
    given.declared = set()
    try:
        if order["path"] is not None:
            tree = package.process_file(order["path"], mappings=given)
        else:
            package.init_stacks(None)
            tree = package.parse(document)
            package.process_doc(tree, mappings=given)
        text = tree.toprettyxml(indent="  ")
        if len(text) > order["size"]:
            raise ValueError(f"it expands to {len(text) >> 20} MB; expected at most {order['size'] >> 20} MB")
    except Exception as problem:  # whatever an expression in the file raises
        file = (package.filestack or [None])[-1]
        conversation.end(error=reason_of(problem), file=file, declared=sorted(given.declared))
    remarks = [line[:LONGEST] for line in conversation.remarks.getvalue().splitlines() if line.strip()]
    conversation.end(text=text, remarks=remarks[:100], declared=sorted(given.declared))


if __name__ == "__main__":
    main()
