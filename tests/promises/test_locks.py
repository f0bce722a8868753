"""No thread waits for ever for another: properties hold no locks, and those that threads share have an order."""

import ast
from pathlib import Path

import kinetree

SOURCE = Path(kinetree.__file__).parent
OWN_LOCKS = {
    "base/locks.py": "the shared ones, in their order",
    "compiler/runtime/threads.py": "of the pool and of one batch, inside of which nothing else is taken",
    "compiler/runtime/deferred_signals.py": "of one call, for which nobody but its caller waits",
    "compiler/runtime/cache.py": "taken once, never waited for",
    "compiler/runtime/jit.py": "llvmlite's, if it had none",
    "simulation/progress.py": "of one bar, inside of which nothing else is taken",
}
"""Files that may make locks, and why no order is needed there."""
LOCKS = {"Lock", "RLock", "Condition", "Semaphore", "BoundedSemaphore", "Barrier"}


def files():
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        if not name.startswith("viewer/"):  # whose lock is outside of all others
            yield name, ast.parse(path.read_text())


def test_no_property_holds_a_lock_of_its_own():
    """functools.cached_property of Python 3.11 has one for all instances of a class."""
    for name, tree in files():
        for node in ast.walk(tree):
            said = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
            assert said != "cached_property", f"{name}, line {node.lineno}"


def test_locks_are_made_where_their_order_is_written_down():
    for name, tree in files():
        made = [
            node.lineno
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in LOCKS
        ]
        assert not made or name in OWN_LOCKS, f"{name}, line {made[0]}"


def test_locks_are_taken_by_with_or_without_waiting():
    """What is acquired otherwise is not given back by an interrupt."""
    for name, tree in files():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "acquire":
                waits = not any(word.arg in ("blocking", "timeout") for word in node.keywords)
                assert not waits or name == "compiler/runtime/deferred_signals.py", f"{name}, line {node.lineno}"
