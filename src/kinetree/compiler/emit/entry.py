"""The way from Python into a kernel for one state, as LLVM functions: checks, result, call, and nothing in between.

A *door* is what a callable of Python's leads to: a native function of the kind METH_FASTCALL | METH_KEYWORDS with a
record of its own, which says what the call takes and returns. Behind a door are *variants*: kernels for different
options of the same call. Whatever a door does not know, it hands over to a Python function with the same arguments.

A result that nobody but the door refers to any more is used again for the next one: in a loop, two arrays take turns,
and nothing is allocated. All that shows of it is the door's reference: `ndarray.resize` wants to be told
refcheck=False, and a result that only weak references know may live on.

The records are arrays of 8-byte fields, filled by `kinetree.compiler.native`; the classes below give their positions.
No Python code can run between the last check of an argument and the last use of its memory: the results are allocated
before the checks, and reading a dict of strings runs no code of the user's.
"""

from __future__ import annotations

from enum import IntEnum
from string import Template

from kinetree.compiler.emit.entry_batch import RUN_BATCH

DOORS = 64
"""Doors of one module."""
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
"""ptr kinetree_records(): the door records, DOORS * FIELDS fields."""


def door_name(k: int) -> str:
    """PyObject *door(self, args, nargs, names), the k-th."""
    return f"kinetree_door{k}"


class Door(IntEnum):
    """Fields of a door's record."""

    PLAIN = 0  # the variant for a call with nothing but arrays, or 0
    FIRST = 1  # the first of all variants, or 0
    FALLBACK = 2  # the Python function: fallback(self, *args, **kwargs)
    PARAMETERS = 3  # names of the parameters (interned), arrays first, `out` last
    POSITIONAL = 4  # how many may be given by position: all but `out`
    ARRAYS = 5  # how many are arrays
    INPUTS = 6  # the form of each array
    OUTPUTS = 7  # the form of each result
    RESULTS = 8  # how many results
    BARE = 9  # 1: the one result itself is returned, and `out` may be given; 0: a tuple of results
    WRAPPER = 10  # type of the values in a mapping that carry a tag, or 0
    VALUE = 11  # its attribute for the array
    TAG = 12  # and for the tag
    UNTAGGED = 13  # the tag of an array that carries none
    MAPPED = 14  # the form of the arrays in a mapping
    LAST = 15  # the last result, and
    EARLIER = 16  # the one before, each with a reference of the door's
    RECYCLES = 17  # 1: use them again
    PRESETS = 18  # per array, what it is where it is not given, or 0; or 0 if there are none
    SPREADS = 19  # of so many arguments by position the last may be a tuple, of that one and those after it; or 0


FIELDS = 24
"""Fields from one door's record to the next."""


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


VARIANT = 14

PYTHON = (
    "ndarray",
    "float64",
    "float",
    "float64_scalar",
    "none",
    "dict",
    "str",
    "PyArray_NewFromDescr",
    "PyArray_Scalar",
    "Py_IncRef",
    "Py_DecRef",
    "PyMethod_New",
    "PyObject_Vectorcall",
    "PyObject_GetAttr",
    "PyUnicode_Compare",
    "PyDict_Next",
    "PyDict_Size",
    "PyTuple_Size",
    "PyTuple_GetItem",
    "PyTuple_New",
    "PyTuple_SetItem",
    "PyErr_Clear",
    "threads",
    "PyMem_RawMalloc",
    "PyMem_RawFree",
    "PyEval_SaveThread",
    "PyEval_RestoreThread",
)
"""Objects and functions of Python and NumPy that the entry needs, by address."""

# Of PyObject, PyArrayObject and PyArray_Descr, in bytes; checked before the first use of any of this.
OBJECT_REFERENCES, OBJECT_TYPE = 0, 8
ARRAY_DATA, ARRAY_RANK, ARRAY_SHAPE, ARRAY_STRIDES = 16, 24, 32, 40
ARRAY_BASE, ARRAY_DTYPE, ARRAY_FLAGS, ARRAY_WEAK = 48, 56, 64, 72
DTYPE_ORDER, DTYPE_NUMBER = 26, 28
NUMBER_VALUE = 16  # of Python's float and of NumPy's
TYPE_FLAGS, TUPLE = 168, 1 << 26  # of a type; whether it is a tuple's
DOUBLE = 12
NATIVE = ord("=")
C_CONTIGUOUS, OWNED, ALIGNED, WRITEABLE = 0x001, 0x004, 0x100, 0x400


def entry_assembly() -> str:
    """The module: CONNECT, RECORDS, and the DOORS."""
    constants = {name: str(value) for name, value in globals().items() if name.isupper() and isinstance(value, int)}
    for group in (Door, Form, Variant):
        constants |= {f"{group.__name__}_{field.name}": str(8 * field) for field in group}
    constants |= {f"py_{name}": str(8 * k) for k, name in enumerate(PYTHON)}
    constants["N_PYTHON"] = str(len(PYTHON))
    constants["IN"] = str(C_CONTIGUOUS | ALIGNED)
    constants["OUT"] = str(C_CONTIGUOUS | ALIGNED | WRITEABLE)
    constants["OWN"] = str(C_CONTIGUOUS | ALIGNED | WRITEABLE | OWNED)
    doors = [
        f"define ptr @{door_name(k)}(ptr %self, ptr %args, i64 %nargs, ptr %names) nounwind {{\n"
        f"  %record = getelementptr i64, ptr @records, i64 {k * FIELDS}\n"
        f"  %r = tail call fastcc ptr @enter(ptr %record, ptr %self, ptr %args, i64 %nargs, ptr %names)\n"
        f"  ret ptr %r\n}}"
        for k in range(DOORS)
    ]
    return "\n\n".join([Template(_macros(_ENTRY + RUN_BATCH)).substitute(constants), *doors])


def _macros(text: str) -> str:
    """Field access in one line: ``%x = field ptr %record, Door_FIRST`` and ``%f = python PyErr_Clear``."""
    lines = []
    for line in text.splitlines():
        words = line.replace(",", "").split()
        if len(words) >= 3 and words[1] == "=" and words[2] in ("field", "python"):
            name = words[0]
            kind, base, place = words[3:] if words[2] == "field" else ("ptr", "@python", f"py_{words[3]}")
            lines.append(f"  {name}.at = getelementptr i8, ptr {base}, i64 ${{{place}}}")
            lines.append(f"  {name} = load {kind}, ptr {name}.at")
        else:
            lines.append(line)
    return "\n".join(lines)


_ENTRY = """
@python = internal global [$N_PYTHON x ptr] zeroinitializer, align 64
@records = internal global [$DOORS x [$FIELDS x i64]] zeroinitializer, align 64

define void @kinetree_connect(ptr %table) nounwind {
entry:
  br label %copy
copy:
  %k = phi i64 [0, %entry], [%next, %copy]
  %from = getelementptr ptr, ptr %table, i64 %k
  %to = getelementptr ptr, ptr @python, i64 %k
  %value = load ptr, ptr %from
  store ptr %value, ptr %to
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, $N_PYTHON
  br i1 %more, label %copy, label %end
end:
  ret void
}

define ptr @kinetree_records() nounwind {
  ret ptr @records
}

; The memory of an array of exactly this form, or of a number where that is an array without axes; or null.
define internal fastcc ptr @data(ptr %object, ptr %form, i32 %needed) nounwind {
entry:
  %type = field ptr %object, OBJECT_TYPE
  %ndarray = python ndarray
  %is_array = icmp eq ptr %type, %ndarray
  br i1 %is_array, label %check_rank, label %no_array
no_array:
  %form_rank = field i64 %form, Form_RANK
  %wants_number = icmp eq i64 %form_rank, 0
  %reads = icmp eq i32 %needed, $IN
  %python_float = python float
  %is_float = icmp eq ptr %type, %python_float
  %numpy_float = python float64_scalar
  %is_numpy = icmp eq ptr %type, %numpy_float
  %is_either = or i1 %is_float, %is_numpy
  %number1 = and i1 %wants_number, %reads
  %is_number = and i1 %number1, %is_either
  br i1 %is_number, label %plain_value, label %no
plain_value:
  %value_at = getelementptr i8, ptr %object, i64 $NUMBER_VALUE
  ret ptr %value_at
check_rank:
  %has_rank = field i32 %object, ARRAY_RANK
  %rank = field i64 %form, Form_RANK
  %rank32 = trunc i64 %rank to i32
  %flags = field i32 %object, ARRAY_FLAGS
  %set = and i32 %flags, %needed
  %right_flags = icmp eq i32 %set, %needed
  %right_rank = icmp eq i32 %has_rank, %rank32
  %both = and i1 %right_flags, %right_rank
  br i1 %both, label %check_dtype, label %no
check_dtype:
  %has_dtype = field ptr %object, ARRAY_DTYPE
  %float64 = python float64
  %same = icmp eq ptr %has_dtype, %float64
  br i1 %same, label %check_shape, label %other
other:
  %number = field i32 %has_dtype, DTYPE_NUMBER
  %order = field i8 %has_dtype, DTYPE_ORDER
  %right_number = icmp eq i32 %number, $DOUBLE
  %right_order = icmp eq i8 %order, $NATIVE
  %native = and i1 %right_number, %right_order
  br i1 %native, label %check_shape, label %no
check_shape:
  %has_shape = field ptr %object, ARRAY_SHAPE
  %shape = field ptr %form, Form_SHAPE
  br label %axis
axis:
  %k = phi i64 [0, %check_shape], [%next, %length]
  %more = icmp slt i64 %k, %rank
  br i1 %more, label %length, label %yes
length:
  %has_at = getelementptr i64, ptr %has_shape, i64 %k
  %want_at = getelementptr i64, ptr %shape, i64 %k
  %has = load i64, ptr %has_at
  %want = load i64, ptr %want_at
  %next = add i64 %k, 1
  %right = icmp eq i64 %has, %want
  br i1 %right, label %axis, label %no
yes:
  %data = field ptr %object, ARRAY_DATA
  ret ptr %data
no:
  ret ptr null
}

; Whether an object is this string: the same object, as names written in a program are, or equal to it.
define internal fastcc i1 @is_string(ptr %object, ptr %string) nounwind {
entry:
  %same = icmp eq ptr %object, %string
  br i1 %same, label %yes, label %kind
kind:
  %type = field ptr %object, OBJECT_TYPE
  %str = python str
  %is_str = icmp eq ptr %type, %str
  br i1 %is_str, label %compare, label %no
compare:
  %PyUnicode_Compare = python PyUnicode_Compare
  %sign = call i32 %PyUnicode_Compare(ptr %object, ptr %string)
  %equal = icmp eq i32 %sign, 0
  ret i1 %equal
yes:
  ret i1 true
no:
  ret i1 false
}

; Puts arguments given by name into their places; false if a name is unknown or given twice.
define internal fastcc i1 @by_name(ptr %door, ptr %slots, ptr %values, ptr %names) nounwind {
entry:
  %parameters = field ptr %door, Door_PARAMETERS
  %positional = field i64 %door, Door_POSITIONAL
  %PyTuple_Size = python PyTuple_Size
  %PyTuple_GetItem = python PyTuple_GetItem
  %count = call i64 %PyTuple_Size(ptr %names)
  br label %head
head:
  %k = phi i64 [0, %entry], [%next, %store]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %one, label %yes
one:
  %name = call ptr %PyTuple_GetItem(ptr %names, i64 %k)
  br label %search
search:
  %j = phi i64 [0, %one], [%after, %differs]
  %left = icmp sle i64 %j, %positional
  br i1 %left, label %look, label %no
look:
  %parameter_at = getelementptr ptr, ptr %parameters, i64 %j
  %parameter = load ptr, ptr %parameter_at
  %found = icmp eq ptr %parameter, %name
  br i1 %found, label %place, label %differs
differs:
  %after = add i64 %j, 1
  br label %search
place:
  %slot = getelementptr ptr, ptr %slots, i64 %j
  %already = load ptr, ptr %slot
  %free = icmp eq ptr %already, null
  br i1 %free, label %store, label %no
store:
  %value_at = getelementptr ptr, ptr %values, i64 %k
  %value = load ptr, ptr %value_at
  store ptr %value, ptr %slot
  %next = add i64 %k, 1
  br label %head
yes:
  ret i1 true
no:
  ret i1 false
}

; Whether the strings between the arrays and `out` are those of this variant.
define internal fastcc i1 @has_options(ptr %door, ptr %variant, ptr %slots) nounwind {
entry:
  %arrays = field i64 %door, Door_ARRAYS
  %positional = field i64 %door, Door_POSITIONAL
  %options = field ptr %variant, Variant_OPTIONS
  br label %head
head:
  %k = phi i64 [%arrays, %entry], [%next, %good]
  %option = phi ptr [%options, %entry], [%beyond, %good]
  %more = icmp slt i64 %k, %positional
  br i1 %more, label %one, label %yes
one:
  %slot = getelementptr ptr, ptr %slots, i64 %k
  %value = load ptr, ptr %slot
  %missing = icmp eq ptr %value, null
  br i1 %missing, label %default, label %given
default:
  %may_at = getelementptr i64, ptr %option, i64 1
  %may = load i64, ptr %may_at
  %fine = icmp ne i64 %may, 0
  br i1 %fine, label %good, label %no
given:
  %string = load ptr, ptr %option
  %same = call fastcc i1 @is_string(ptr %value, ptr %string)
  br i1 %same, label %good, label %no
good:
  %next = add i64 %k, 1
  %beyond = getelementptr ptr, ptr %option, i64 2
  br label %head
yes:
  ret i1 true
no:
  ret i1 false
}

; Whether all arrays of a mapping have a place in this variant; puts them there, and zeros elsewhere.
; Every object taken from it is held, since to ask for an attribute may run code of the user's.
define internal fastcc i1 @has_places(ptr %door, ptr %variant, ptr %mapping, ptr %found, ptr %held) nounwind {
entry:
  %key_at = alloca ptr
  %value_at = alloca ptr
  %position = alloca i64
  %places = field i64 %variant, Variant_PLACES
  %names = field ptr %variant, Variant_NAMES
  %covering = field i64 %variant, Variant_COVERS
  %covers = icmp ne i64 %covering, 0
  br label %clear
clear:
  %c = phi i64 [0, %entry], [%c1, %clear_one]
  %clearing = icmp slt i64 %c, %places
  br i1 %clearing, label %clear_one, label %given
clear_one:
  %found_c = getelementptr ptr, ptr %found, i64 %c
  store ptr null, ptr %found_c
  %c1 = add i64 %c, 1
  br label %clear
given:
  %none = python none
  %is_null = icmp eq ptr %mapping, null
  %is_none = icmp eq ptr %mapping, %none
  %is_missing = or i1 %is_null, %is_none
  br i1 %is_missing, label %missing, label %kind
missing:
  %needs_none = icmp eq i64 %places, 0
  %may_miss = or i1 %covers, %needs_none
  ret i1 %may_miss
kind:
  %type = field ptr %mapping, OBJECT_TYPE
  %dict = python dict
  %is_dict = icmp eq ptr %type, %dict
  br i1 %is_dict, label %size, label %no
size:
  %PyDict_Size = python PyDict_Size
  %count = call i64 %PyDict_Size(ptr %mapping)
  %enough = icmp sle i64 %count, %places
  %exact = icmp eq i64 %count, %places
  %partly = and i1 %covers, %enough
  %fits = or i1 %exact, %partly
  br i1 %fits, label %start, label %no
start:
  %wrapper = field ptr %door, Door_WRAPPER
  %untagged = field ptr %door, Door_UNTAGGED
  %PyDict_Next = python PyDict_Next
  %Py_IncRef = python Py_IncRef
  store i64 0, ptr %position
  br label %head
head:
  %more32 = call i32 %PyDict_Next(ptr %mapping, ptr %position, ptr %key_at, ptr %value_at)
  %more = icmp ne i32 %more32, 0
  br i1 %more, label %one, label %yes
one:
  %key = load ptr, ptr %key_at
  %value = load ptr, ptr %value_at
  call void %Py_IncRef(ptr %key)
  call void %Py_IncRef(ptr %value)
  %key_held = call fastcc i1 @hold(ptr %held, ptr %key)
  %value_held = call fastcc i1 @hold(ptr %held, ptr %value)
  %safe = and i1 %key_held, %value_held
  br i1 %safe, label %tagged, label %no
tagged:
  %value_type = field ptr %value, OBJECT_TYPE
  %is_wrapped = icmp eq ptr %value_type, %wrapper
  br i1 %is_wrapped, label %unwrap, label %search
unwrap:
  %array = call fastcc ptr @attribute(ptr %door, ptr %value, i64 ${Door_VALUE}, ptr %held)
  %tag = call fastcc ptr @attribute(ptr %door, ptr %value, i64 ${Door_TAG}, ptr %held)
  %no_array = icmp eq ptr %array, null
  %no_tag = icmp eq ptr %tag, null
  %failed = or i1 %no_array, %no_tag
  br i1 %failed, label %no, label %search
search:
  %the_array = phi ptr [%value, %tagged], [%array, %unwrap]
  %the_tag = phi ptr [%untagged, %tagged], [%tag, %unwrap]
  br label %scan
scan:
  %j = phi i64 [0, %search], [%j1, %differs]
  %left = icmp slt i64 %j, %places
  br i1 %left, label %look, label %no
look:
  %twice = mul i64 %j, 2
  %name_at = getelementptr ptr, ptr %names, i64 %twice
  %tag_at = getelementptr ptr, ptr %name_at, i64 1
  %name = load ptr, ptr %name_at
  %want_tag = load ptr, ptr %tag_at
  %right_name = call fastcc i1 @is_string(ptr %key, ptr %name)
  br i1 %right_name, label %look_tag, label %differs
look_tag:
  %right_tag = call fastcc i1 @is_string(ptr %the_tag, ptr %want_tag)
  br i1 %right_tag, label %place, label %differs
differs:
  %j1 = add i64 %j, 1
  br label %scan
place:
  %found_at = getelementptr ptr, ptr %found, i64 %j
  store ptr %the_array, ptr %found_at
  br label %head
yes:
  ret i1 true
no:
  ret i1 false
}

; Takes over a reference until the call is over. %held is a count and then the objects; false if it is full.
define internal fastcc i1 @hold(ptr %held, ptr %object) nounwind {
entry:
  %count = load i64, ptr %held
  %more = add i64 %count, 1
  %room = icmp slt i64 %more, $MOST_HELD
  br i1 %room, label %keep, label %full
keep:
  store i64 %more, ptr %held
  %place = getelementptr ptr, ptr %held, i64 %more
  store ptr %object, ptr %place
  ret i1 true
full:
  %Py_DecRef = python Py_DecRef
  call void %Py_DecRef(ptr %object)
  ret i1 false
}

; Gives up all that is held.
define internal fastcc void @let_go(ptr %held) nounwind {
entry:
  %count = load i64, ptr %held
  %any = icmp sgt i64 %count, 0
  br i1 %any, label %drop, label %end
drop:
  %first = getelementptr ptr, ptr %held, i64 1
  store i64 0, ptr %held
  call fastcc void @release(ptr %first, i64 %count)
  br label %end
end:
  ret void
}

; An attribute of an object, held; null if there is none or no room.
define internal fastcc ptr @attribute(ptr %door, ptr %object, i64 %field, ptr %held) nounwind {
entry:
  %name_at = getelementptr i8, ptr %door, i64 %field
  %name = load ptr, ptr %name_at
  %PyObject_GetAttr = python PyObject_GetAttr
  %value = call ptr %PyObject_GetAttr(ptr %object, ptr %name)
  %failed = icmp eq ptr %value, null
  br i1 %failed, label %forget, label %keep
forget:
  %PyErr_Clear = python PyErr_Clear
  call void %PyErr_Clear()
  ret ptr null
keep:
  %kept = call fastcc i1 @hold(ptr %held, ptr %value)
  %result = select i1 %kept, ptr %value, ptr null
  ret ptr %result
}

define internal fastcc void @release(ptr %objects, i64 %count) nounwind noinline {
entry:
  %Py_DecRef = python Py_DecRef
  br label %head
head:
  %k = phi i64 [0, %entry], [%next, %drop]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %one, label %end
one:
  %at = getelementptr ptr, ptr %objects, i64 %k
  %object = load ptr, ptr %at
  %next = add i64 %k, 1
  br label %drop
drop:
  call void %Py_DecRef(ptr %object)
  br label %head
end:
  ret void
}

; A result of an earlier call, if nobody else refers to it, not even weakly, and it still is what it was; or null.
define internal fastcc ptr @recycled(ptr %door, ptr %object) nounwind {
entry:
  %absent = icmp eq ptr %object, null
  br i1 %absent, label %no, label %look
look:
  %references = field i64 %object, OBJECT_REFERENCES
  %weak = field ptr %object, ARRAY_WEAK
  %base = field ptr %object, ARRAY_BASE
  %only_ours = icmp eq i64 %references, 1
  %not_weak = icmp eq ptr %weak, null
  %no_base = icmp eq ptr %base, null
  %alone1 = and i1 %only_ours, %not_weak
  %alone = and i1 %alone1, %no_base
  br i1 %alone, label %form, label %no
form:
  %forms = field ptr %door, Door_OUTPUTS
  %data = call fastcc ptr @data(ptr %object, ptr %forms, i32 $OWN)
  %changed = icmp eq ptr %data, null
  br i1 %changed, label %no, label %yes
yes:
  %Py_IncRef = python Py_IncRef
  call void %Py_IncRef(ptr %object)
  ret ptr %object
no:
  ret ptr null
}

; Remembers a new result in place of the earlier one.
define internal fastcc void @remember(ptr %door, ptr %object) nounwind {
  %last = field ptr %door, Door_LAST
  %earlier = field ptr %door, Door_EARLIER
  store ptr %last, ptr %earlier.at
  store ptr %object, ptr %last.at
  %Py_IncRef = python Py_IncRef
  call void %Py_IncRef(ptr %object)
  %Py_DecRef = python Py_DecRef
  call void %Py_DecRef(ptr %earlier)
  ret void
}

; Arrays for all results that are arrays; false with an exception set if there is no memory.
define internal fastcc i1 @allocate(ptr %door, ptr %variant, ptr %results, ptr %outputs) nounwind {
entry:
  %recycles = field i64 %door, Door_RECYCLES
  %may_recycle = icmp ne i64 %recycles, 0
  br i1 %may_recycle, label %try_earlier, label %anew
try_earlier:
  %earlier = field ptr %door, Door_EARLIER
  %old = call fastcc ptr @recycled(ptr %door, ptr %earlier)
  %no_old = icmp eq ptr %old, null
  br i1 %no_old, label %try_last, label %reuse
try_last:
  %last = field ptr %door, Door_LAST
  %newer = call fastcc ptr @recycled(ptr %door, ptr %last)
  %no_newer = icmp eq ptr %newer, null
  br i1 %no_newer, label %anew, label %reuse
reuse:
  %again = phi ptr [%old, %try_earlier], [%newer, %try_last]
  %again_data = field ptr %again, ARRAY_DATA
  store ptr %again, ptr %results
  store ptr %again_data, ptr %outputs
  ret i1 true
anew:
  %count = field i64 %door, Door_RESULTS
  %forms = field ptr %door, Door_OUTPUTS
  %scratch = field ptr %variant, Variant_SCRATCH
  %ndarray = python ndarray
  %float64 = python float64
  %Py_IncRef = python Py_IncRef
  %PyArray_NewFromDescr = python PyArray_NewFromDescr
  br label %head
head:
  %k = phi i64 [0, %anew], [%next, %done]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %one, label %yes
one:
  %next = add i64 %k, 1
  %where = mul i64 %k, $FORM
  %form = getelementptr i64, ptr %forms, i64 %where
  %rank = field i64 %form, Form_RANK
  %result_at = getelementptr ptr, ptr %results, i64 %k
  %output_at = getelementptr ptr, ptr %outputs, i64 %k
  %is_number = icmp eq i64 %rank, 0
  br i1 %is_number, label %number, label %array
number:
  %offset = field i64 %form, Form_OFFSET
  %place = getelementptr double, ptr %scratch, i64 %offset
  store ptr null, ptr %result_at
  br label %done
array:
  %shape = field ptr %form, Form_SHAPE
  %rank32 = trunc i64 %rank to i32
  call void %Py_IncRef(ptr %float64)
  %new = call ptr %PyArray_NewFromDescr(ptr %ndarray, ptr %float64, i32 %rank32, ptr %shape,
      ptr null, ptr null, i32 0, ptr null)
  %failed = icmp eq ptr %new, null
  br i1 %failed, label %no, label %got
got:
  store ptr %new, ptr %result_at
  %data = field ptr %new, ARRAY_DATA
  br label %done
done:
  %memory = phi ptr [%place, %number], [%data, %got]
  store ptr %memory, ptr %output_at
  br label %head
yes:
  br i1 %may_recycle, label %remembering, label %complete
remembering:
  %first_result = load ptr, ptr %results
  call fastcc void @remember(ptr %door, ptr %first_result)
  br label %complete
complete:
  ret i1 true
no:
  call fastcc void @release(ptr %results, i64 %k)
  ret i1 false
}

; The results as Python has them: a number for each that has no axes, and a tuple if there are several.
define internal fastcc ptr @finish(ptr %door, ptr %results, ptr %outputs) nounwind {
entry:
  %count = field i64 %door, Door_RESULTS
  %bare = field i64 %door, Door_BARE
  %float64 = python float64
  %PyArray_Scalar = python PyArray_Scalar
  %PyTuple_New = python PyTuple_New
  %PyTuple_SetItem = python PyTuple_SetItem
  br label %head
head:
  %k = phi i64 [0, %entry], [%k1, %next]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %one, label %whole
one:
  %result_at = getelementptr ptr, ptr %results, i64 %k
  %result = load ptr, ptr %result_at
  %is_number = icmp eq ptr %result, null
  br i1 %is_number, label %number, label %next
number:
  %output_at = getelementptr ptr, ptr %outputs, i64 %k
  %output = load ptr, ptr %output_at
  %scalar = call ptr %PyArray_Scalar(ptr %output, ptr %float64, ptr null)
  %failed = icmp eq ptr %scalar, null
  store ptr %scalar, ptr %result_at
  br i1 %failed, label %no, label %next
next:
  %k1 = add i64 %k, 1
  br label %head
whole:
  %is_bare = icmp ne i64 %bare, 0
  br i1 %is_bare, label %single, label %several
single:
  %only = load ptr, ptr %results
  ret ptr %only
several:
  %tuple = call ptr %PyTuple_New(i64 %count)
  %no_tuple = icmp eq ptr %tuple, null
  br i1 %no_tuple, label %no, label %fill
fill:
  %j = phi i64 [0, %several], [%j1, %fill_one]
  %filling = icmp slt i64 %j, %count
  br i1 %filling, label %fill_one, label %full
fill_one:
  %item_at = getelementptr ptr, ptr %results, i64 %j
  %item = load ptr, ptr %item_at
  %status = call i32 %PyTuple_SetItem(ptr %tuple, i64 %j, ptr %item)
  %j1 = add i64 %j, 1
  br label %fill
full:
  ret ptr %tuple
no:
  call fastcc void @release(ptr %results, i64 %count)
  ret ptr null
}

; Whether the memory of `out` and of any input have a byte in common.
define internal fastcc i1 @overlaps(ptr %door, ptr %out, ptr %inputs, i64 %places) nounwind {
entry:
  %arrays = field i64 %door, Door_ARRAYS
  %forms = field ptr %door, Door_INPUTS
  %out_forms = field ptr %door, Door_OUTPUTS
  %mapped_form = field ptr %door, Door_MAPPED
  %out_count = field i64 %out_forms, Form_COUNT
  %out_end = getelementptr double, ptr %out, i64 %out_count
  %total = add i64 %arrays, %places
  br label %head
head:
  %k = phi i64 [0, %entry], [%next, %one]
  %more = icmp slt i64 %k, %total
  br i1 %more, label %one, label %no
one:
  %next = add i64 %k, 1
  %is_array = icmp slt i64 %k, %arrays
  %where = mul i64 %k, $FORM
  %array_form = getelementptr i64, ptr %forms, i64 %where
  %form = select i1 %is_array, ptr %array_form, ptr %mapped_form
  %size = field i64 %form, Form_COUNT
  %input_at = getelementptr ptr, ptr %inputs, i64 %k
  %input = load ptr, ptr %input_at
  %input_end = getelementptr double, ptr %input, i64 %size
  %starts = icmp ult ptr %input, %out_end
  %ends = icmp ult ptr %out, %input_end
  %both = and i1 %starts, %ends
  br i1 %both, label %yes, label %head
yes:
  ret i1 true
no:
  ret i1 false
}

; The memory of all inputs, as the kernel takes it; false if any is not what it should be.
define internal fastcc i1 @take(ptr %door, ptr %variant, ptr %slots, ptr %found, i64 %places, ptr %inputs) nounwind {
entry:
  %arrays = field i64 %door, Door_ARRAYS
  %forms = field ptr %door, Door_INPUTS
  br label %head
head:
  %k = phi i64 [0, %entry], [%next, %good]
  %form = phi ptr [%forms, %entry], [%next_form, %good]
  %more = icmp slt i64 %k, %arrays
  br i1 %more, label %one, label %mapped
one:
  %slot = getelementptr ptr, ptr %slots, i64 %k
  %object = load ptr, ptr %slot
  %data = call fastcc ptr @data(ptr %object, ptr %form, i32 $IN)
  %wrong = icmp eq ptr %data, null
  br i1 %wrong, label %no, label %good
good:
  %input_at = getelementptr ptr, ptr %inputs, i64 %k
  store ptr %data, ptr %input_at
  %next = add i64 %k, 1
  %next_form = getelementptr i64, ptr %form, i64 $FORM
  br label %head
mapped:
  %j = phi i64 [0, %head], [%j1, %mapped_good]
  %left = icmp slt i64 %j, %places
  br i1 %left, label %mapped_one, label %yes
mapped_one:
  %zeros = field ptr %variant, Variant_ZEROS
  %found_at = getelementptr ptr, ptr %found, i64 %j
  %item = load ptr, ptr %found_at
  %absent = icmp eq ptr %item, null
  br i1 %absent, label %mapped_good, label %mapped_given
mapped_given:
  %mapped_form = field ptr %door, Door_MAPPED
  %item_data = call fastcc ptr @data(ptr %item, ptr %mapped_form, i32 $IN)
  %item_wrong = icmp eq ptr %item_data, null
  br i1 %item_wrong, label %no, label %mapped_good
mapped_good:
  %memory = phi ptr [%zeros, %mapped_one], [%item_data, %mapped_given]
  %where = add i64 %arrays, %j
  %mapped_at = getelementptr ptr, ptr %inputs, i64 %where
  store ptr %memory, ptr %mapped_at
  %j1 = add i64 %j, 1
  br label %mapped
yes:
  ret i1 true
no:
  ret i1 false
}

define internal fastcc void @copy(ptr %source, ptr %target, i64 %count) nounwind {
entry:
  br label %by_eight
by_eight:
  %k = phi i64 [0, %entry], [%after, %eight]
  %after = add i64 %k, 8
  %many = icmp sle i64 %after, %count
  br i1 %many, label %eight, label %by_one
eight:
  %from8 = getelementptr double, ptr %source, i64 %k
  %to8 = getelementptr double, ptr %target, i64 %k
  %numbers = load <8 x double>, ptr %from8, align 8
  store <8 x double> %numbers, ptr %to8, align 8
  br label %by_eight
by_one:
  %j = phi i64 [%k, %by_eight], [%next, %one]
  %more = icmp slt i64 %j, %count
  br i1 %more, label %one, label %end
one:
  %from = getelementptr double, ptr %source, i64 %j
  %to = getelementptr double, ptr %target, i64 %j
  %number = load double, ptr %from
  store double %number, ptr %to
  %next = add i64 %j, 1
  br label %by_one
end:
  ret void
}

; One call of a variant's kernel. The address 1 stands for: let Python do it.
define internal fastcc ptr @run(ptr %door, ptr %variant, ptr %slots, ptr %found, i64 %places, ptr %out) nounwind {
entry:
  %inputs = alloca [$MOST_INPUTS x ptr], align 16
  %outputs = alloca [$MOST_OUTPUTS x ptr], align 16
  %results = alloca [$MOST_OUTPUTS x ptr], align 16
  %count = field i64 %door, Door_RESULTS
  %status = field ptr %variant, Variant_STATUS
  %scratch = field ptr %variant, Variant_SCRATCH
  %checks = icmp ne ptr %status, null
  %fresh = icmp eq ptr %out, null
  %kernel = field ptr %variant, Variant_KERNEL
  %for_one = icmp ne ptr %kernel, null
  br i1 %for_one, label %start, label %not_one
start:
  br i1 %fresh, label %allocating, label %given
allocating:
  %allocated = call fastcc i1 @allocate(ptr %door, ptr %variant, ptr %results, ptr %outputs)
  br i1 %allocated, label %taking, label %error
given:
  %bare = field i64 %door, Door_BARE
  %form = field ptr %door, Door_OUTPUTS
  %one_result = icmp ne i64 %bare, 0
  br i1 %one_result, label %given_form, label %python
given_form:
  %out_data = call fastcc ptr @data(ptr %out, ptr %form, i32 $OUT)
  %out_wrong = icmp eq ptr %out_data, null
  br i1 %out_wrong, label %python, label %given_good
given_good:
  %target = select i1 %checks, ptr %scratch, ptr %out_data
  store ptr %target, ptr %outputs
  br label %taking
taking:
  %memory = phi ptr [null, %allocating], [%out_data, %given_good]
  %taken = call fastcc i1 @take(ptr %door, ptr %variant, ptr %slots, ptr %found, i64 %places, ptr %inputs)
  br i1 %taken, label %apart, label %not_taken
not_taken:
  br i1 %fresh, label %give_back, label %python
give_back:
  call fastcc void @release(ptr %results, i64 %count)
  br label %not_one
not_one:  ; then perhaps many
  %plain = icmp eq i64 %places, 0
  %perhaps = and i1 %fresh, %plain
  br i1 %perhaps, label %many, label %python
many:
  %answer = call fastcc ptr @run_batch(ptr %door, ptr %variant, ptr %slots)
  ret ptr %answer
apart:
  br i1 %fresh, label %calling, label %apart_given
apart_given:
  %shared = call fastcc i1 @overlaps(ptr %door, ptr %memory, ptr %inputs, i64 %places)
  br i1 %shared, label %refuse, label %calling
calling:
  %status_at = getelementptr ptr, ptr %outputs, i64 %count
  store ptr %status, ptr %status_at
  %workspace = field ptr %variant, Variant_WORKSPACE
  call void %kernel(ptr %inputs, ptr %outputs, ptr %workspace)
  br i1 %checks, label %checking, label %done
checking:
  %verdict = load double, ptr %status
  %well = fcmp oeq double %verdict, 0.0
  br i1 %well, label %done, label %refuse
done:
  br i1 %fresh, label %finishing, label %copying
finishing:
  %result = call fastcc ptr @finish(ptr %door, ptr %results, ptr %outputs)
  ret ptr %result
copying:
  br i1 %checks, label %copy_start, label %give
copy_start:
  %out_form = field ptr %door, Door_OUTPUTS
  %numbers = field i64 %out_form, Form_COUNT
  call fastcc void @copy(ptr %scratch, ptr %memory, i64 %numbers)
  br label %give
give:
  %Py_IncRef = python Py_IncRef
  call void %Py_IncRef(ptr %out)
  ret ptr %out
refuse:
  br i1 %fresh, label %drop, label %python
drop:
  call fastcc void @release(ptr %results, i64 %count)
  br label %python
python:
  ret ptr inttoptr (i64 1 to ptr)
error:
  ret ptr null
}

; With the items of a tuple, if the last argument is one, in its place: how many arguments there are; -1 if it is none.
define internal fastcc i64 @spread(ptr %door, ptr %args, i64 %nargs, ptr %slots) nounwind {
entry:
  %before = sub i64 %nargs, 1
  %last_at = getelementptr ptr, ptr %args, i64 %before
  %last = load ptr, ptr %last_at
  %type = field ptr %last, OBJECT_TYPE
  %flags = field i32 %type, TYPE_FLAGS
  %bit = and i32 %flags, $TUPLE
  %is_tuple = icmp ne i32 %bit, 0
  br i1 %is_tuple, label %size, label %no
size:
  %positional = field i64 %door, Door_POSITIONAL
  %PyTuple_Size = python PyTuple_Size
  %PyTuple_GetItem = python PyTuple_GetItem
  %count = call i64 %PyTuple_Size(ptr %last)
  %total = add i64 %before, %count
  %fits = icmp sle i64 %total, %positional
  br i1 %fits, label %head, label %no
head:
  %k = phi i64 [0, %size], [%k1, %store]
  %more = icmp slt i64 %k, %total
  br i1 %more, label %one, label %yes
one:
  %k1 = add i64 %k, 1
  %is_first = icmp slt i64 %k, %before
  br i1 %is_first, label %plain, label %inside
plain:
  %arg_at = getelementptr ptr, ptr %args, i64 %k
  %arg = load ptr, ptr %arg_at
  br label %store
inside:
  %j = sub i64 %k, %before
  %item = call ptr %PyTuple_GetItem(ptr %last, i64 %j)
  br label %store
store:
  %value = phi ptr [%arg, %plain], [%item, %inside]
  %slot = getelementptr ptr, ptr %slots, i64 %k
  store ptr %value, ptr %slot
  br label %head
yes:
  ret i64 %total
no:
  ret i64 -1
}

; Everything but the plain call: options, mapping, names, `out`, presets.
define internal fastcc ptr @choose(ptr %door, ptr %args, i64 %nargs, ptr %values, ptr %names) nounwind noinline {
entry:
  %slots = alloca [$MOST_PARAMETERS x ptr], align 16
  %found = alloca [$MOST_INPUTS x ptr], align 16
  %held = alloca [$MOST_HELD x ptr], align 16
  store i64 0, ptr %held
  %arrays = field i64 %door, Door_ARRAYS
  %positional = field i64 %door, Door_POSITIONAL
  %few = icmp sle i64 %nargs, %positional
  br i1 %few, label %fill, label %python
fill:
  %k = phi i64 [0, %entry], [%k1, %filled]
  %filling = icmp sle i64 %k, %positional
  br i1 %filling, label %fill_one, label %named
fill_one:
  %is_given = icmp slt i64 %k, %nargs
  br i1 %is_given, label %fill_given, label %filled
fill_given:
  %arg_at = getelementptr ptr, ptr %args, i64 %k
  %arg = load ptr, ptr %arg_at
  br label %filled
filled:
  %argument = phi ptr [null, %fill_one], [%arg, %fill_given]
  %slot = getelementptr ptr, ptr %slots, i64 %k
  store ptr %argument, ptr %slot
  %k1 = add i64 %k, 1
  br label %fill
named:
  %no_names = icmp eq ptr %names, null
  br i1 %no_names, label %complete, label %naming
naming:
  %understood = call fastcc i1 @by_name(ptr %door, ptr %slots, ptr %values, ptr %names)
  br i1 %understood, label %complete, label %python
complete:
  %a = phi i64 [0, %named], [0, %naming], [%a1, %present]
  %more_arrays = icmp slt i64 %a, %arrays
  br i1 %more_arrays, label %look, label %output
look:
  %array_at = getelementptr ptr, ptr %slots, i64 %a
  %array = load ptr, ptr %array_at
  %absent = icmp eq ptr %array, null
  br i1 %absent, label %preset, label %present
preset:
  %presets = field ptr %door, Door_PRESETS
  %no_presets = icmp eq ptr %presets, null
  br i1 %no_presets, label %python, label %preset_one
preset_one:
  %preset_at = getelementptr ptr, ptr %presets, i64 %a
  %held_array = load ptr, ptr %preset_at
  %none_held = icmp eq ptr %held_array, null
  store ptr %held_array, ptr %array_at
  br i1 %none_held, label %python, label %present
present:
  %a1 = add i64 %a, 1
  br label %complete
output:
  %out_at = getelementptr ptr, ptr %slots, i64 %positional
  %out_given = load ptr, ptr %out_at
  %none = python none
  %out_none = icmp eq ptr %out_given, %none
  %out = select i1 %out_none, ptr null, ptr %out_given
  %first = field ptr %door, Door_FIRST
  br label %search
search:
  %variant = phi ptr [%first, %output], [%next, %unfit]
  %no_more = icmp eq ptr %variant, null
  br i1 %no_more, label %unknown, label %try
try:
  %places = field i64 %variant, Variant_PLACES
  %has_mapping = icmp sge i64 %places, 0
  br i1 %has_mapping, label %mapping, label %options
mapping:
  %mapping_at = getelementptr ptr, ptr %slots, i64 %arrays
  %given = load ptr, ptr %mapping_at
  %all_placed = call fastcc i1 @has_places(ptr %door, ptr %variant, ptr %given, ptr %found, ptr %held)
  br i1 %all_placed, label %fits, label %unfit
options:
  %right_options = call fastcc i1 @has_options(ptr %door, ptr %variant, ptr %slots)
  br i1 %right_options, label %fits, label %unfit
unfit:
  call fastcc void @let_go(ptr %held)
  %next = field ptr %variant, Variant_NEXT
  br label %search
fits:
  %in_mapping = select i1 %has_mapping, i64 %places, i64 0
  %result = call fastcc ptr @run(ptr %door, ptr %variant, ptr %slots, ptr %found, i64 %in_mapping, ptr %out)
  br label %over
unknown:
  br label %over
over:
  %outcome = phi ptr [%result, %fits], [inttoptr (i64 1 to ptr), %unknown]
  call fastcc void @let_go(ptr %held)
  ret ptr %outcome
python:
  ret ptr inttoptr (i64 1 to ptr)
}

define internal fastcc ptr @enter(ptr %door, ptr %self, ptr %args, i64 %nargs, ptr %names) nounwind {
entry:
  %wide = alloca [$MOST_PARAMETERS x ptr], align 16
  %arrays = field i64 %door, Door_ARRAYS
  %variant = field ptr %door, Door_PLAIN
  %no_names = icmp eq ptr %names, null
  %only_arrays = icmp eq i64 %nargs, %arrays
  %known = icmp ne ptr %variant, null
  %plain1 = and i1 %no_names, %only_arrays
  %plain2 = and i1 %plain1, %known
  br i1 %plain2, label %plain, label %general
plain:
  %quick = call fastcc ptr @run(ptr %door, ptr %variant, ptr %args, ptr null, i64 0, ptr null)
  br label %outcome
general:
  %values = getelementptr ptr, ptr %args, i64 %nargs
  %spreads = field i64 %door, Door_SPREADS
  %may_spread = icmp eq i64 %spreads, %nargs
  %not_zero = icmp ne i64 %nargs, 0
  %perhaps = and i1 %may_spread, %not_zero
  br i1 %perhaps, label %spreading, label %choosing
spreading:
  %count = call fastcc i64 @spread(ptr %door, ptr %args, i64 %nargs, ptr %wide)
  %is_spread = icmp sge i64 %count, 0
  br label %choosing
choosing:
  %widened = phi i1 [false, %general], [%is_spread, %spreading]
  %wide_count = phi i64 [0, %general], [%count, %spreading]
  %given = select i1 %widened, ptr %wide, ptr %args
  %given_count = select i1 %widened, i64 %wide_count, i64 %nargs
  %slow = call fastcc ptr @choose(ptr %door, ptr %given, i64 %given_count, ptr %values, ptr %names)
  br label %outcome
outcome:
  %result = phi ptr [%quick, %plain], [%slow, %choosing]
  %to_python = icmp eq ptr %result, inttoptr (i64 1 to ptr)
  br i1 %to_python, label %python, label %return
return:
  ret ptr %result
python:
  %fallback = field ptr %door, Door_FALLBACK
  %PyMethod_New = python PyMethod_New
  %method = call ptr %PyMethod_New(ptr %fallback, ptr %self)
  %failed = icmp eq ptr %method, null
  br i1 %failed, label %error, label %handing
handing:
  %PyObject_Vectorcall = python PyObject_Vectorcall
  %answer = call ptr %PyObject_Vectorcall(ptr %method, ptr %args, i64 %nargs, ptr %names)
  %Py_DecRef = python Py_DecRef
  call void %Py_DecRef(ptr %method)
  ret ptr %answer
error:
  ret ptr null
}
"""
