"""The entry itself: the plain call goes straight to its kernel, any other to the variant it fits, or to Python."""

from __future__ import annotations

from kinetree.compiler.codegen.entry import interpreter as python
from kinetree.compiler.codegen.entry.interpreter import TUPLE, Object, Type
from kinetree.compiler.codegen.entry.matching import by_name, has_options, has_places
from kinetree.compiler.codegen.entry.records import MOST_INPUTS, MOST_PARAMETERS, TO_PYTHON, Entry
from kinetree.compiler.codegen.entry.references import Held, let_go
from kinetree.compiler.codegen.entry.single import call, call_into
from kinetree.compiler.codegen.loop_types import Address, Addresses, pointer


def enter(entry: Entry, instance: Address, args: Addresses, nargs: int, names: Address) -> Address | None:
    """A call of an entry, with the arguments of METH_FASTCALL | METH_KEYWORDS."""
    if names is None and nargs == entry.arrays and entry.plain is not None:
        result = call(entry, entry.plain, args, None, 0)
    else:
        result = choose(entry, args, nargs, names)
    if result is not pointer(TO_PYTHON):
        return result
    method = python.PyMethod_New(entry.fallback, instance)
    if method is None:
        return None
    result = python.PyObject_Vectorcall(method, args, nargs, names)
    python.Py_DecRef(method)
    return result


def choose(entry: Entry, args: Addresses, nargs: int, names: Address) -> Address | None:
    """Everything but the plain call: options, mapping, names, `out`, presets."""
    slots = Addresses(MOST_PARAMETERS)
    found = Addresses(MOST_INPUTS)
    held = Held()
    held.count = 0
    result = pointer(TO_PYTHON)
    variant = entry.first if fill(entry, args, nargs, names, slots) else None
    while variant is not None:
        places = variant.place_count if variant.place_count > 0 else 0
        if variant.place_count >= 0:
            is_right = has_places(entry, variant, slots[entry.arrays], found, held)
        else:
            is_right = has_options(entry, variant, slots)
        if is_right:
            out = slots[entry.positional]
            if out is None or out is python.none:
                result = call(entry, variant, slots, found, places)
            else:
                result = call_into(entry, variant, slots, found, places, out)
            break
        let_go(held)
        variant = variant.next
    let_go(held)
    return result


def fill(entry: Entry, args: Addresses, nargs: int, names: Address, slots: Addresses) -> bool:
    """Put every argument in its place, `out` last, and presets where arrays are missing; False if that fails."""
    count = spread(entry, args, nargs, slots)
    if count < 0:
        if nargs > entry.positional - entry.by_name:
            return False
        count = nargs
        for k in range(count):
            slots[k] = args[k]
    for k in range(count, entry.positional + 1):
        slots[k] = None
    if entry.by_name > 0:
        make_room(entry, count, slots)
    if names is not None and not by_name(entry, slots, args[nargs:], names):
        return False
    for k in range(entry.arrays):
        if slots[k] is None:
            if entry.presets is None or entry.presets[k] is None:
                return False
            slots[k] = entry.presets[k]
    return True


def make_room(entry: Entry, count: int, slots: Addresses) -> None:
    """Move what was given after the arrays behind those that are given by name only."""
    first = entry.arrays - entry.by_name
    for k in range(count - first):
        from_the_end = count - 1 - k
        slots[from_the_end + entry.by_name] = slots[from_the_end]
    for k in range(entry.by_name):
        slots[first + k] = None


def spread(entry: Entry, args: Addresses, nargs: int, slots: Addresses) -> int:
    """Arguments with the items of a tuple, if the last of them is one, in its place: how many there are; or -1."""
    if nargs == 0 or nargs != entry.spreads:
        return -1
    before = nargs - 1
    last: Object = args[before]
    kind: Type = last.type
    if not kind.flags & TUPLE:
        return -1
    items = python.PyTuple_Size(last)
    if before + items > entry.spread_to:
        return -1
    for k in range(before):
        slots[k] = args[k]
    for k in range(items):
        slots[before + k] = python.PyTuple_GetItem(last, k)
    return before + items
