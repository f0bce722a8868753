"""The numbers of arguments that are not laid out as kernels read them: other strides, other dtypes, lists and tuples.

They are copied to a room that belongs to the variant. No code of the user's runs meanwhile, so no other call uses it.
"""

import ctypes

CONVERSION = """
; The number in a float or an int of Python's or a float64 of NumPy's, stored at %to; false for any other object.
define internal fastcc i1 @number(ptr %object, ptr %to) nounwind {
entry:
  %overflow = alloca i32
  %type = field ptr %object, OBJECT_TYPE
  %python_float = python float
  %is_float = icmp eq ptr %type, %python_float
  %numpy_float = python float64_scalar
  %is_numpy = icmp eq ptr %type, %numpy_float
  %is_either = or i1 %is_float, %is_numpy
  br i1 %is_either, label %floating, label %other
floating:
  %value_at = getelementptr i8, ptr %object, i64 $NUMBER_VALUE
  %value = load double, ptr %value_at
  store double %value, ptr %to
  ret i1 true
other:
  %int = python int
  %is_int = icmp eq ptr %type, %int
  br i1 %is_int, label %integer, label %no
integer:
  %PyLong_AsLongLongAndOverflow = python PyLong_AsLongLongAndOverflow
  %whole = call i64 %PyLong_AsLongLongAndOverflow(ptr %object, ptr %overflow)
  %beyond = load i32, ptr %overflow
  %fits = icmp eq i32 %beyond, 0
  %rounded = sitofp i64 %whole to double
  store double %rounded, ptr %to
  ret i1 %fits
no:
  ret i1 false
}

; The numbers of a list or tuple of this shape, nested as deep as it has axes, stored from %to on: where they end, or
; null.
define internal fastcc ptr @items(ptr %object, ptr %shape, i64 %rank, ptr %to) nounwind {
entry:
  %is_number = icmp eq i64 %rank, 0
  br i1 %is_number, label %number, label %sequence
number:
  %is_read = call fastcc i1 @number(ptr %object, ptr %to)
  %behind = getelementptr double, ptr %to, i64 1
  %end = select i1 %is_read, ptr %behind, ptr null
  ret ptr %end
sequence:
  %type = field ptr %object, OBJECT_TYPE
  %list = python list
  %is_list = icmp eq ptr %type, %list
  br i1 %is_list, label %as_list, label %perhaps_tuple
as_list:
  %PyList_Size = python PyList_Size
  %PyList_GetItem = python PyList_GetItem
  br label %size
perhaps_tuple:
  %tuple = python tuple
  %is_tuple = icmp eq ptr %type, %tuple
  br i1 %is_tuple, label %as_tuple, label %no
as_tuple:
  %PyTuple_Size = python PyTuple_Size
  %PyTuple_GetItem = python PyTuple_GetItem
  br label %size
size:
  %size_of = phi ptr [%PyList_Size, %as_list], [%PyTuple_Size, %as_tuple]
  %item_of = phi ptr [%PyList_GetItem, %as_list], [%PyTuple_GetItem, %as_tuple]
  %has = call i64 %size_of(ptr %object)
  %wants = load i64, ptr %shape
  %right = icmp eq i64 %has, %wants
  %inner_shape = getelementptr i64, ptr %shape, i64 1
  %inner_rank = sub i64 %rank, 1
  br i1 %right, label %head, label %no
head:
  %k = phi i64 [0, %size], [%next, %read]
  %here = phi ptr [%to, %size], [%after, %read]
  %more = icmp slt i64 %k, %wants
  br i1 %more, label %one, label %yes
one:
  %item = call ptr %item_of(ptr %object, i64 %k)
  %after = call fastcc ptr @items(ptr %item, ptr %inner_shape, i64 %inner_rank, ptr %here)
  %wrong = icmp eq ptr %after, null
  br i1 %wrong, label %no, label %read
read:
  %next = add i64 %k, 1
  br label %head
yes:
  ret ptr %here
no:
  ret ptr null
}

; The numbers of an array's part with these axes, stored in order from %to on; where they end.
define internal fastcc ptr @gather(ptr %from, ptr %shape, ptr %strides, i64 %rank, i32 %dtype, ptr %to) nounwind {
entry:
  %no_axes = icmp eq i64 %rank, 0
  br i1 %no_axes, label %kind, label %lengths
lengths:
  %length = load i64, ptr %shape
  %stride = load i64, ptr %strides
  br label %kind
kind:
  %count = phi i64 [1, %entry], [%length, %lengths]
  %step = phi i64 [0, %entry], [%stride, %lengths]
  %is_inner = icmp sle i64 %rank, 1
  br i1 %is_inner, label %which, label %outer
which:
  switch i32 %dtype, label %double [i32 $FLOAT, label %float
                                    i32 $INT, label %int
                                    i32 $LONG, label %$LONG_KIND
                                    i32 $LONGLONG, label %long]
$DOUBLES
$FLOATS
$INTS
$LONGS
outer:
  %inner_shape = getelementptr i64, ptr %shape, i64 1
  %inner_strides = getelementptr i64, ptr %strides, i64 1
  %inner_rank = sub i64 %rank, 1
  br label %head
head:
  %k = phi i64 [0, %outer], [%next, %one]
  %place = phi ptr [%from, %outer], [%beyond, %one]
  %here = phi ptr [%to, %outer], [%after, %one]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %one, label %done
one:
  %after = call fastcc ptr @gather(ptr %place, ptr %inner_shape, ptr %inner_strides, i64 %inner_rank, i32 %dtype,
      ptr %here)
  %beyond = getelementptr i8, ptr %place, i64 %step
  %next = add i64 %k, 1
  br label %head
done:
  ret ptr %here
end:
  %behind = getelementptr double, ptr %to, i64 %count
  ret ptr %behind
}

; The numbers of an argument, in order at %room: of an array of any strides that holds floats or integers, or of nested
; lists and tuples of numbers. Null if it is none of these, or has another shape.
define internal fastcc ptr @converted(ptr %object, ptr %form, ptr %room) nounwind noinline {
entry:
  %rank = field i64 %form, Form_RANK
  %shape = field ptr %form, Form_SHAPE
  %type = field ptr %object, OBJECT_TYPE
  %ndarray = python ndarray
  %is_array = icmp eq ptr %type, %ndarray
  br i1 %is_array, label %array, label %sequence
sequence:
  %end = call fastcc ptr @items(ptr %object, ptr %shape, i64 %rank, ptr %room)
  %failed = icmp eq ptr %end, null
  br i1 %failed, label %no, label %yes
array:
  %has_rank32 = field i32 %object, ARRAY_RANK
  %has_rank = sext i32 %has_rank32 to i64
  %flags = field i32 %object, ARRAY_FLAGS
  %aligned = and i32 %flags, $ALIGNED
  %is_aligned = icmp ne i32 %aligned, 0
  %right_rank = icmp eq i64 %has_rank, %rank
  %descr = field ptr %object, ARRAY_DTYPE
  %order = field i8 %descr, DTYPE_ORDER
  %is_native = icmp eq i8 %order, $NATIVE
  %good1 = and i1 %right_rank, %is_aligned
  %good = and i1 %good1, %is_native
  br i1 %good, label %numbers, label %no
numbers:
  %dtype = field i32 %descr, DTYPE_NUMBER
  switch i32 %dtype, label %no [i32 $DOUBLE, label %axes
                                i32 $FLOAT, label %axes
                                i32 $INT, label %axes
                                i32 $LONG, label %axes
                                i32 $LONGLONG, label %axes]
axes:
  %has_shape = field ptr %object, ARRAY_SHAPE
  %right = call fastcc i1 @same_lengths(ptr %has_shape, ptr %shape, i64 %rank)
  br i1 %right, label %read, label %no
read:
  %data = field ptr %object, ARRAY_DATA
  %strides = field ptr %object, ARRAY_STRIDES
  %ignored = call fastcc ptr @gather(ptr %data, ptr %shape, ptr %strides, i64 %rank, i32 %dtype, ptr %room)
  br label %yes
yes:
  ret ptr %room
no:
  ret ptr null
}
"""


def _gathered(name: str, kind: str, conversion: str) -> str:
    """A loop that stores `count` numbers of this kind, `step` bytes apart, as doubles."""
    return f"""{name}:
  br label %{name}.head
{name}.head:
  %{name}.k = phi i64 [0, %{name}], [%{name}.next, %{name}.one]
  %{name}.at = phi ptr [%from, %{name}], [%{name}.beyond, %{name}.one]
  %{name}.more = icmp slt i64 %{name}.k, %count
  br i1 %{name}.more, label %{name}.one, label %end
{name}.one:
  %{name}.value = load {kind}, ptr %{name}.at
  %{name}.number = {conversion.format(f"%{name}.value")}
  %{name}.to = getelementptr double, ptr %to, i64 %{name}.k
  store double %{name}.number, ptr %{name}.to
  %{name}.beyond = getelementptr i8, ptr %{name}.at, i64 %step
  %{name}.next = add i64 %{name}.k, 1
  br label %{name}.head"""


LOOPS = {
    "DOUBLES": _gathered("double", "double", "bitcast double {} to double"),
    "FLOATS": _gathered("float", "float", "fpext float {} to double"),
    "INTS": _gathered("int", "i32", "sitofp i32 {} to double"),
    "LONGS": _gathered("long", "i64", "sitofp i64 {} to double"),
    "LONG_KIND": "long" if ctypes.sizeof(ctypes.c_long) == 8 else "int",  # C's long has 32 bits on Windows
}
"""Of `@gather`, by the kind of number."""
