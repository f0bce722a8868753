"""Random Python objects as arguments of native calls, each beside the same call of the method written in Python.

    python tests/fuzz_native.py COUNT [SEED]

Both must have the same outcome: results equal to the bit, or the same exception with the same words, and only of kinds
that a user may expect. Prints how many calls there were of which outcome; whatever else happens is a failure.
"""

from __future__ import annotations

import array
import datetime
import decimal
import fractions
import math
import random
import re
import sys
from collections import Counter, UserDict, deque

import numpy as np

import kinetree as kt
from natively import python_calls

REFERENCES = ("world-aligned", "local", "world")
KINDS = ("classical", "spatial")


class HostileError(Exception):
    """Raised by arguments themselves."""


class Raises:
    """Fails whatever it is asked."""

    def _fail(self, *args, **named):
        raise HostileError("do not touch")

    __array__ = __float__ = __int__ = __index__ = __len__ = __getitem__ = __iter__ = __bool__ = _fail
    __eq__ = __hash__ = __repr__ = __contains__ = __lt__ = _fail


class Returns:
    """Gives something as its array."""

    def __init__(self, value):
        self.value = value

    def __array__(self, dtype=None, copy=None):
        return self.value


class Sequence:
    """Claims a length, and fails beyond an index."""

    def __init__(self, length, good):
        self.length, self.good = length, good

    def __len__(self):
        return self.length

    def __getitem__(self, k):
        if k >= self.good:
            raise IndexError(k)
        return 0.5


class Liar:
    """Not an array, whatever it says."""

    @property
    def __class__(self):
        return np.ndarray

    def __repr__(self):
        return "Liar"


class Word(str):
    """A string with a will of its own."""

    def __eq__(self, other):
        raise HostileError("do not compare")

    def __hash__(self):
        return str.__hash__(self)


class Key:
    """Has the hash of a frame's name, and may equal it."""

    def __init__(self, name, equal):
        self.name, self.equal = name, equal

    def __hash__(self):
        return hash(self.name)

    def __eq__(self, other):
        return self.equal and other == self.name

    def __repr__(self):
        return "Key"


class Subclass(np.ndarray):
    """Nearly an array."""


class Dictionary(dict):
    """Nearly a dict."""


def made(word):
    return "".join(list(word))


JUNK = [
    lambda r: None,
    lambda r: r.choice([0, 1, -1, 10**400, -(2**63), True, False]),
    lambda r: r.choice([0.0, float("nan"), float("inf"), 1e308, 1j]),
    lambda r: r.choice(["", "q", "local", "zeros", "\ud800", "x" * 5000, "tool0", made("world")]),
    lambda r: r.choice([b"", b"123456", bytearray(48), memoryview(bytes(48))]),
    lambda r: [0.0] * r.randrange(9),
    lambda r: tuple(range(6)),
    lambda r: [[0.0] * 6, [0.0] * r.randrange(5, 7)],
    lambda r: [None, "a", object],
    lambda r: r.choice([set(), frozenset(range(6)), {}, {"q": 1}, range(6), slice(6), ..., NotImplemented]),
    lambda r: (k for k in range(6)),
    lambda r: r.choice([object, np.ndarray, np.zeros, len, random, Raises.__array__, np.float64]),
    lambda r: array.array(r.choice("dfiB"), [1] * 6),
    lambda r: memoryview(array.array("d", [0.0] * 6)),
    lambda r: r.choice(
        [np.float64(1), np.int8(1), np.str_("local"), np.bool_(True), np.void(b"1234"), np.complex64(1)]
    ),
    lambda r: r.choice([datetime.date(2000, 1, 1), decimal.Decimal(1), fractions.Fraction(1, 3)]),
    lambda r: [decimal.Decimal(1)] * 6,
    lambda r: [fractions.Fraction(k, 3) for k in range(6)],
    lambda r: [10**400] * 6,
    lambda r: Raises(),
    lambda r: [Raises()] * 6,
    lambda r: Returns(r.choice([np.zeros(6), np.zeros(5), None, "a", [0.0] * 6, np.zeros(6, "f4"), Ellipsis])),
    lambda r: Sequence(r.choice([6, 0, 7]), r.choice([6, 3, 0])),
    lambda r: Liar(),
    lambda r: Word(r.choice(["local", "q", "tool0"])),
    lambda r: kt.Wrench(np.zeros(6), r.choice(REFERENCES)),
    lambda r: kt.Force.zero(),
    lambda r: r.choice([np.dtype("f8"), np.zeros(6).flags, np.zeros(6).flat, np.nditer(np.zeros(6))]),
]

DTYPES = [*"?bhilqBHILQefdgFDGO", ">f8", "<f8", ">f4", ">i4", "S8", "U3", "V8", "M8[s]", "m8[s]", "f8,i4", "(2,)f8"]


NUMBERS = np.random.default_rng(0).normal(size=5000)


def some_numbers(r, shape):
    start = r.randrange(2000)
    return NUMBERS[start : start + math.prod(shape)].reshape(shape).copy()


def odd_array(r, size):
    """Any dtype, shape, order, strides."""
    shapes = [(size,), (size,), (size,), (size, 1), (1, size), (3, size), (0, size), (size, 0), (), (size + 1,), (0,)]
    shape = r.choice([*shapes, (max(size - 1, 0),), (1, 1, size), (2, 1, size), (size, size), (1,) * 20 + (size,)])
    dtype = r.choice(DTYPES) if r.random() < 0.5 else "f8"
    with np.errstate(all="ignore"):
        base = some_numbers(r, shape)
        if np.dtype(dtype).kind in "fciuO" and np.dtype(dtype).shape == ():
            value = base.astype(dtype)
        else:
            value = np.zeros(shape, dtype)
    return laid_out(r, value)


def laid_out(r, value):
    """The same numbers in another place, order or class."""
    kind = r.randrange(12)
    if kind == 0:
        return np.asfortranarray(value)
    if kind == 1 and value.ndim:
        return value[::-1]
    if kind == 2 and value.ndim:
        wide = np.repeat(value, 2, axis=-1)
        return wide[..., ::2]
    if kind == 3:
        value = value.copy()
        value.setflags(write=False)
        return value
    if kind == 4 and value.dtype.kind == "f":
        raw = np.zeros(value.nbytes + 16, np.uint8)
        view = raw[r.randrange(1, 9) :][: value.nbytes].view(value.dtype).reshape(value.shape)
        view[...] = value
        return view
    if kind == 5:
        return value.view(r.choice([Subclass, np.matrix, np.recarray]) if value.ndim == 2 else Subclass)
    if kind == 6:
        return np.ma.array(value)
    if kind == 7 and value.ndim:
        return np.broadcast_to(value[:1], value.shape)
    if kind == 8 and value.ndim > 1:
        return value.T
    return value


class Fuzzer:
    def __init__(self):
        arm, dog = kt.load("arm6"), kt.load("quadruped", base="floating")
        self.feet = [name for name in dog.frame_names if "foot" in name][:2]
        dog.prepare("inverse_dynamics", "bias_forces", wrenches=[(f, ref) for f in self.feet for ref in REFERENCES])
        tool, foot = arm.frame("tool0"), dog.frame(self.feet[0])
        self.calls = [
            (arm.mass_matrix, ("q",)),
            (arm.gravity_forces, ("q",)),
            (arm.kinetic_energy, ("q", "v")),
            (arm.integrate, ("q", "dv")),
            (arm.forward_dynamics, ("q", "v", "tau")),
            (arm.inverse_dynamics, ("q", "v", "a", "wrenches")),
            (dog.inverse_dynamics, ("q", "v", "a", "wrenches")),
            (dog.bias_forces, ("q", "v", "wrenches")),
            (dog.poses, ("q",)),
            (tool.pose, ("q",)),
            (tool.jacobian, ("q", "reference")),
            (tool.acceleration, ("q", "v", "a", "reference", "kind")),
            (foot.velocity, ("q", "v", "reference")),
        ]
        self.arm, self.dog = arm, dog
        self.states = {robot: robot.random(0, 200) for robot in (arm, dog)}
        self.kept = deque(maxlen=30)
        self.outcomes = Counter()

    def robot_of(self, call):
        owner = call.__self__
        return owner if isinstance(owner, kt.Robot) else owner.robot

    # -- arguments ---------------------------------------------------------------------------------------------

    def right(self, r, call, name):
        """An argument as it should be."""
        robot = self.robot_of(call)
        if name == "wrenches":
            names = self.feet if robot is self.dog else ["tool0"]
            chosen = r.sample(names, r.randrange(len(names) + 1))
            return r.choice([None, {}]) if not chosen else {r.choice([str, made])(n): self.wrench(r) for n in chosen}
        if name in ("reference", "kind"):
            word = r.choice(REFERENCES if name == "reference" else KINDS)
            return r.choice([word, made(word)])
        return r.choice(self.states[robot]).copy() if name == "q" else some_numbers(r, (robot.nv,))

    def wrench(self, r):
        six = some_numbers(r, (6,))
        return r.choice([six, kt.Wrench(six, r.choice(REFERENCES)), kt.Wrench(six.tolist()), six.tolist()])

    def wrong(self, r, call, name):
        """An argument as it should not be, or hardly ever is."""
        robot = self.robot_of(call)
        if name == "wrenches" and r.random() < 0.7:
            return self.odd_wrenches(r, self.feet[0] if robot is self.dog else "tool0")
        if name in ("reference", "kind") and r.random() < 0.5:
            return r.choice(["", "LOCAL", "wor" + "ld ", Word("local"), np.str_("local"), b"local", None, 0])
        if r.random() < 0.4:
            return r.choice(JUNK)(r)
        size = robot.nq if name == "q" else robot.nv
        if r.random() < 0.5:
            return laid_out(r, self.right(r, call, name if name in ("q", "v") else "v"))
        return odd_array(r, size)

    def odd_wrenches(self, r, name):
        keys = [name, made(name), name + "x", None, 0, b"tool0", ("tool0",), Key(name, True), Key(name, False)]
        keys += [Word(name), np.str_(name), "", "\ud800"]
        count = r.choice([0, 1, 1, 1, 2, 3, 60])
        items = {}
        for k in range(count):
            key = r.choice(keys) if k < 3 else f"key{k}"
            value = r.choice([self.wrench(r), self.wrench(r), odd_array(r, 6), r.choice(JUNK)(r)])
            try:
                items[key] = value
            except HostileError:
                continue
        return r.choice([dict, dict, dict, Dictionary, UserDict, list])(items)

    def out(self, r, call, args):
        shape = np.shape(self.shapes[call])
        batches = [array.shape[0] for array in args if type(array) is np.ndarray and array.ndim == 2]
        if batches and r.random() < 0.9:
            shape = (r.choice(batches), *shape)
        choice = r.randrange(10)
        if choice < 4:
            return np.full(shape, 7.0)
        arrays = [array for array in args if type(array) is np.ndarray and array.ndim]
        if choice == 4 and arrays:
            array = r.choice(arrays)
            return array if r.random() < 0.5 else array[:: r.choice([-1, 1])]
        if choice == 5:
            return laid_out(r, np.full(shape, 7.0))
        if choice == 6:
            return r.choice(JUNK)(r)
        if choice == 7:
            return np.full(shape, 7, r.choice(["f4", "i8", ">f8", "c16", "O"]))
        return odd_array(r, r.choice([6, 18]))

    def arguments(self, seed, call, names):
        """The same for the same seed; new objects each time."""
        r = random.Random(seed)
        trouble = r.random()
        args = [
            self.wrong(r, call, name) if trouble < 0.6 and r.random() < 0.5 else self.right(r, call, name)
            for name in names
        ]
        states = r.choice([0, 0, 0, 1, 3, 8, 17])
        for k, name in enumerate(names):
            if states and r.random() < 0.8 and type(args[k]) is np.ndarray and len(name) < 4:
                others = [self.right(r, call, name) for _ in range(states)]
                if args[k].shape == others[0].shape and args[k].dtype == float:
                    args[k] = np.stack([args[k], *others[1:]])
        if trouble > 0.7:
            args = args[: len(args) - sum(name in ("wrenches", "reference", "kind") for name in names) * r.randrange(2)]
        named = {}
        if r.random() < 0.3:
            for name in reversed(names[: len(args)]):
                if r.random() < 0.6:
                    named[r.choice([str, str, made])(name)] = args.pop()
                else:
                    break
        if r.random() < 0.3:
            named["out"] = None if r.random() < 0.1 else self.out(r, call, args)
        if r.random() < 0.04:
            named[r.choice(["", "x", "self", "q", "v", "out ", "wrenches", "reference"])] = r.choice(JUNK)(r)
        if r.random() < 0.03:
            args += [r.choice(JUNK)(r)] * r.choice([1, 2, 30, 2000])
        if r.random() < 0.03:
            args = args[:-1]
        return args, named

    # -- outcomes ----------------------------------------------------------------------------------------------

    def run(self, count, seed):
        r = random.Random(seed)
        self.shapes = {}
        for call, names in self.calls:
            known = {"reference", "kind", "wrenches"}
            self.shapes[call] = call(*[self.right(r, call, name) for name in names if name not in known])
        for k in range(count):
            call, names = r.choice(self.calls)
            self.compare(call, names, r.randrange(2**63), eager=k % 50 == 0)
        self.look_back()
        return self.outcomes

    def compare(self, call, names, seed, eager):
        owner = call.__self__
        with python_calls() as entered:
            found = self.outcome(call, *self.arguments(seed, call, names))
        args, named = self.arguments(seed, call, names)
        expected = self.outcome(getattr(type(owner), call.__name__), (owner, *args), named)
        assert same(found, expected), f"{call.__name__} of {owner}, seed {seed}: {found} but {expected}"
        kind = found[0]
        self.outcomes[kind if kind != "result" else ("python" if entered else "native")] += 1
        if kind != "result":
            return
        result, out = found[1], named.get("out")
        if eager and out is None:
            plain = self.robot_of(call).eager
            plain = plain if owner is self.robot_of(call) else plain.frame(owner.name)
            again, named = self.arguments(seed, call, names)
            right = getattr(plain, call.__name__)(*again, **named)
            usual = not np.abs(right).max(initial=0.0) > 1e9  # of huge arguments nothing but rounding is left
            assert not usual or np.allclose(result, right, rtol=1e-6, atol=1e-6, equal_nan=True), seed
        if isinstance(result, np.ndarray):
            if len(self.kept) == self.kept.maxlen:
                self.look_back(1)
            self.kept.append((result, result.copy()))

    def look_back(self, count=None):
        """At results that are still held: nobody may have changed them."""
        for _ in range(len(self.kept) if count is None else count):
            result, copy = self.kept.popleft()
            assert np.array_equal(result, copy, equal_nan=True), "a result changed while it was held"

    @staticmethod
    def outcome(function, args, named):
        try:
            result = function(*args, **named)
        except (kt.KinetreeError, TypeError, ValueError, MemoryError, HostileError) as error:
            return type(error).__name__, re.sub("0x[0-9a-f]+", "0x", str(error))
        out = named.get("out")
        assert out is None or result is out, "the result is not `out`"
        return "result", result


def same(found, expected):
    if found[0] != "result" or expected[0] != "result":
        return found == expected
    a, b = found[1], expected[1]
    return type(a) is type(b) and a.shape == b.shape and np.asarray(a).tobytes() == np.asarray(b).tobytes()


if __name__ == "__main__":
    arguments = list(map(int, sys.argv[1:]))
    print(dict(Fuzzer().run(arguments[0], *(arguments[1:] or [0]))))
