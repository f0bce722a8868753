"""What the native code reads of a call: the fields of its records, in numbers of 8 bytes, and how many there may be.

`kinetree.compiler.runtime.native` fills the records; the classes below give the positions of their fields.
"""

from enum import IntEnum

ENTRIES = 64
"""Native entries of one module."""
MOST_PARAMETERS = 20
"""Parameters of a call, `out` included."""
MOST_INPUTS = 48
"""Input arrays of a kernel, those given in a mapping included."""
MOST_OUTPUTS = 8
MOST_AXES = 16
MOST_DESCRIPTOR = 3 * MOST_PARAMETERS + 2 * MOST_OUTPUTS
MOST_HELD = 4 * MOST_INPUTS
"""References that a call may hold."""

CONNECT = "kinetree_connect"
"""void kinetree_connect(table): the addresses of PYTHON, in its order."""
RECORDS = "kinetree_records"
"""ptr kinetree_records(): the records of all entries, ENTRIES * FIELDS fields."""


def entry_name(k: int) -> str:
    """PyObject *entry(self, args, nargs, names), the k-th."""
    return f"kinetree_entry{k}"


class Entry(IntEnum):
    """Fields of an entry's record."""

    PLAIN = 0  # the variant for a call with nothing but arrays, or 0
    FIRST = 1  # the first of all variants, or 0
    FALLBACK = 2  # the Python function: fallback(self, *args, **kwargs)
    PARAMETERS = 3  # names of the parameters (interned), arrays first, `out` last
    POSITIONAL = 4  # how many may be given by position: all but `out`
    ARRAYS = 5  # how many are arrays
    INPUTS = 6  # the form of each array
    RESULTS = 7  # how many results
    BARE = 8  # 1: the one result itself is returned, and `out` may be given; 0: a tuple of results
    WRAPPER = 9  # type of the values in a mapping that carry a tag, or 0
    VALUE = 10  # its attribute for the array
    TAG = 11  # and for the tag
    UNTAGGED = 12  # the tag of an array that carries none
    MAPPED = 13  # the form of the arrays in a mapping
    LAST = 14  # the last result, and
    EARLIER = 15  # the one before, each with a reference of the entry's
    RECYCLES = 16  # 1: use them again
    PRESETS = 17  # per array, what it is where it is not given, or 0; or 0 if there are none
    SPREADS = 18  # of so many arguments by position the last may be a tuple, of that one and those after it; or 0
    SPREAD_TO = 19  # with the items of the tuple, so many at most
    DTYPE = 20  # the dtype of the kernels' numbers, float64 or float32; calls of one state are float64 only
    SHIFT = 21  # their size in bytes, as a power of two


FIELDS = 24
"""Fields from one entry's record to the next."""


class Form(IntEnum):
    """Fields that describe an array."""

    RANK = 0
    SHAPE = 1  # address of its lengths
    COUNT = 2  # how many numbers
    OFFSET = 3  # of a result: numbers before it in the variant's scratch memory


FORM = 4


class Variant(IntEnum):
    """Fields of a variant's record."""

    NEXT = 0
    KERNEL = 1  # for one state, or 0
    WORKSPACE = 2
    OPTIONS = 3  # per parameter between the arrays and `out`: the string it must be; whether it may be missing
    PLACES = 4  # in place of options, a mapping: how many arrays it may hold; -1 if there is none
    NAMES = 5  # per such array, its name and its tag
    COVERS = 6  # 1: the mapping may hold fewer, or be missing
    STATUS = 7  # where the kernel writes whether all is well (0.0), or 0
    SCRATCH = 8  # room for all results
    ZEROS = 9  # an array of zeros, for what the mapping does not hold
    BATCH = 10  # the kernel for a batch, or 0
    BATCH_WORKSPACE = 11  # how many bytes it needs
    SMALL = 12  # up to so many states, one thread is enough
    MOST = 13  # up to so many states, results are small enough to be allocated here
    ROOM = 14  # for the numbers of all inputs of one state
    OUTPUTS = 15  # the form of each result
    ROOM_SIZE = 16  # bytes of the room


VARIANT = 24
