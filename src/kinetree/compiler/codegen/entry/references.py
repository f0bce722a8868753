"""References that a call holds until it is over, since code of the user's may run meanwhile."""

from __future__ import annotations

from ctypes import Structure, c_int64, c_void_p

from kinetree.compiler.codegen.entry import interpreter as python
from kinetree.compiler.codegen.entry.records import MOST_HELD
from kinetree.compiler.codegen.loop_types import Address, Addresses


class Held(Structure):
    """Objects that are held."""

    _fields_ = (("count", c_int64), ("objects", c_void_p * MOST_HELD))


def hold(held: Held, item: Address) -> bool:
    """Take over a reference until the call is over; False if there is no room for it."""
    if held.count == MOST_HELD:
        python.Py_DecRef(item)
        return False
    held.objects[held.count] = item
    held.count += 1
    return True


def let_go(held: Held) -> None:
    """Give up all that is held."""
    count = held.count
    held.count = 0
    release(held.objects, count)


def attribute(item: Address, name: Address, held: Held) -> Address | None:
    """An attribute of an object, held; None if there is none or no room."""
    value = python.PyObject_GetAttr(item, name)
    if value is None:
        python.PyErr_Clear()
        return None
    return value if hold(held, value) else None


def release(items: Addresses, count: int) -> None:
    """Give up references, of which some may be None."""
    for k in range(count):
        python.Py_DecRef(items[k])
