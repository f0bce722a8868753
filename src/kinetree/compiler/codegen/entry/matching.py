"""What a call gave, beside what a variant takes: arguments by name, options, and the arrays of a mapping."""

from __future__ import annotations

from typing import cast

from kinetree.base.locks import FREE_THREADED
from kinetree.compiler.codegen.entry import interpreter as python
from kinetree.compiler.codegen.entry.interpreter import CriticalSection, Object
from kinetree.compiler.codegen.entry.records import Entry, Variant
from kinetree.compiler.codegen.entry.references import Held, attribute, hold
from kinetree.compiler.codegen.loop_types import Address, Addresses, Integers


def is_string(item: Object, string: Address) -> bool:
    """Whether an object is this string: the same object, as names written in a program are, or equal to it."""
    if cast(Address, item) is string:
        return True
    return item.type is python.str_type and python.PyUnicode_Compare(item, string) == 0


def by_name(entry: Entry, slots: Addresses, values: Addresses, names: Address) -> bool:
    """Put arguments given by name into their places; False if a name is unknown or given twice."""
    for k in range(python.PyTuple_Size(names)):
        name = python.PyTuple_GetItem(names, k)
        j = 0
        while j <= entry.positional and entry.parameters[j] is not name:
            j += 1
        if j > entry.positional or slots[j] is not None:
            return False
        slots[j] = values[k]
    return True


def has_options(entry: Entry, variant: Variant, slots: Addresses) -> bool:
    """Whether the strings between the arrays and `out` are those of this variant."""
    given = slots[entry.arrays :]
    for k in range(entry.positional - entry.arrays):
        option = variant.options[k]
        if given[k] is None:
            if not option.is_default:
                return False
        elif not is_string(given[k], option.value):
            return False
    return True


def has_places(entry: Entry, variant: Variant, mapping: Object, found: Addresses, held: Held) -> bool:
    """Whether all arrays of a mapping have a place in this variant; put them there, and None elsewhere.

    Every object taken from it is held, since to ask for an attribute may run code of the user's.
    """
    for k in range(variant.place_count):
        found[k] = None
    if mapping is None or cast(Address, mapping) is python.none:
        return variant.covers or variant.place_count == 0
    if mapping.type is not python.dict_type:
        return False
    return find(entry, variant, mapping, found, held)


def find_shared(entry: Entry, variant: Variant, mapping: Object, found: Addresses, held: Held) -> bool:
    """`find_all` in a dict that other threads may change."""
    section = CriticalSection()
    python.PyCriticalSection_Begin(section, mapping)
    all_found = find_all(entry, variant, mapping, found, held)
    python.PyCriticalSection_End(section)
    return all_found


def find_all(entry: Entry, variant: Variant, mapping: Object, found: Addresses, held: Held) -> bool:
    """Put all arrays of a dict into their places; False if one has none."""
    count = python.PyDict_Size(mapping)
    if count != variant.place_count and not (variant.covers and count < variant.place_count):
        return False
    position = Integers(1)
    key = Addresses(1)
    value = Addresses(1)
    position[0] = 0
    while python.PyDict_Next(mapping, position, key, value):
        python.Py_IncRef(key[0])
        python.Py_IncRef(value[0])
        key_held = hold(held, key[0])
        if not hold(held, value[0]) or not key_held or not place(entry, variant, key[0], value[0], found, held):
            return False
    return True


find = find_shared if FREE_THREADED else find_all


def place(entry: Entry, variant: Variant, key: Object, value: Object, found: Addresses, held: Held) -> bool:
    """Put an array of a mapping, plain or wrapped with a tag, into its place; False if it has none."""
    array: Address = value
    tag = entry.untagged
    if value.type is entry.wrapper:
        array = attribute(value, entry.value, held)
        tag = attribute(value, entry.tag, held)
        if array is None or tag is None:
            return False
    for k in range(variant.place_count):
        if is_string(key, variant.places[k].name) and is_string(tag, variant.places[k].tag):
            found[k] = array
            return True
    return False
