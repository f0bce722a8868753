"""The memory of an array that came from Python, if it has exactly the form a kernel takes."""

ARRAYS = """
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

; Whether so many axes have the lengths that they should have. `@data` compares them itself, since no call is inlined.
define internal fastcc i1 @same_lengths(ptr %has_shape, ptr %shape, i64 %rank) nounwind {
entry:
  br label %axis
axis:
  %k = phi i64 [0, %entry], [%next, %length]
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
  ret i1 true
no:
  ret i1 false
}
"""
