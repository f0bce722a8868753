"""The native way into a kernel for a batch: for batches that one thread does soonest, with one batch axis.

Arrays are (N, …) in C order, or of any strides where one state is a vector; those without a batch axis count for all
states, and may be of other dtypes, lists or tuples where kernels are float64. The interpreter's lock is given up while
the kernel runs. Everything else is Python's: `out`, several batch axes, work for several threads.
"""

RUN_BATCH = """
; The memory of an input and its strides [numbers] from state to state and from number to number; or null. Numbers that
; count for all states and are not laid out as the kernel reads them are copied to %room.
define internal fastcc ptr @batch_input(ptr %record, ptr %object, ptr %form, i64 %states, ptr %strides, ptr %room)
    nounwind {
entry:
  %dtype = field ptr %record, Entry_DTYPE
  %shift = field i64 %record, Entry_SHIFT
  %type = field ptr %object, OBJECT_TYPE
  %ndarray = python ndarray
  %is_array = icmp eq ptr %type, %ndarray
  br i1 %is_array, label %rank_of, label %for_all
rank_of:
  %has_rank32 = field i32 %object, ARRAY_RANK
  %has_rank = sext i32 %has_rank32 to i64
  %rank = field i64 %form, Form_RANK
  %batch_rank = add i64 %rank, 1
  %is_batch = icmp eq i64 %has_rank, %batch_rank
  br i1 %is_batch, label %batch, label %for_all
for_all:
  store i64 0, ptr %strides
  %second1 = getelementptr i64, ptr %strides, i64 1
  store i64 1, ptr %second1
  %float64 = python float64
  %is_double = icmp eq ptr %dtype, %float64
  br i1 %is_double, label %doubles, label %singles
doubles:
  %shared = call fastcc ptr @data(ptr %object, ptr %form, i32 $IN)
  %other = icmp eq ptr %shared, null
  br i1 %other, label %convert, label %as_it_is
as_it_is:
  ret ptr %shared
convert:
  %copied = call fastcc ptr @converted(ptr %object, ptr %form, ptr %room)
  ret ptr %copied
singles:
  br i1 %is_array, label %single_array, label %no
single_array:
  %s_dtype = field ptr %object, ARRAY_DTYPE
  %s_rank32 = field i32 %object, ARRAY_RANK
  %s_rank = sext i32 %s_rank32 to i64
  %s_wanted = field i64 %form, Form_RANK
  %s_flags = field i32 %object, ARRAY_FLAGS
  %s_set = and i32 %s_flags, $IN
  %s_right1 = icmp eq ptr %s_dtype, %dtype
  %s_right2 = icmp eq i64 %s_rank, %s_wanted
  %s_right3 = icmp eq i32 %s_set, $IN
  %s_right4 = and i1 %s_right1, %s_right2
  %s_right = and i1 %s_right4, %s_right3
  br i1 %s_right, label %single_axes, label %no
single_axes:
  %s_shape = field ptr %object, ARRAY_SHAPE
  %s_lengths = field ptr %form, Form_SHAPE
  %s_same = call fastcc i1 @same_lengths(ptr %s_shape, ptr %s_lengths, i64 %s_wanted)
  br i1 %s_same, label %yes, label %no
batch:
  %has_dtype = field ptr %object, ARRAY_DTYPE
  %right_dtype = icmp eq ptr %has_dtype, %dtype
  %flags = field i32 %object, ARRAY_FLAGS
  %aligned_flag = and i32 %flags, $ALIGNED
  %aligned = icmp ne i32 %aligned_flag, 0
  %has_shape = field ptr %object, ARRAY_SHAPE
  %has_states = load i64, ptr %has_shape
  %right_states = icmp eq i64 %has_states, %states
  %good1 = and i1 %right_dtype, %aligned
  %good2 = and i1 %good1, %right_states
  br i1 %good2, label %axes, label %no
axes:
  %shape = field ptr %form, Form_SHAPE
  %inner_shape = getelementptr i64, ptr %has_shape, i64 1
  %right = call fastcc i1 @same_lengths(ptr %inner_shape, ptr %shape, i64 %rank)
  br i1 %right, label %layout, label %no
layout:
  %second = getelementptr i64, ptr %strides, i64 1
  %c_flag = and i32 %flags, $C_CONTIGUOUS
  %is_c = icmp ne i32 %c_flag, 0
  br i1 %is_c, label %in_order, label %strided
in_order:
  %count = field i64 %form, Form_COUNT
  store i64 %count, ptr %strides
  store i64 1, ptr %second
  br label %yes
strided:
  %is_vector = icmp eq i64 %rank, 1
  br i1 %is_vector, label %vector, label %no
vector:
  %bytes = field ptr %object, ARRAY_STRIDES
  %bytes1_at = getelementptr i64, ptr %bytes, i64 1
  %row_bytes = load i64, ptr %bytes
  %column_bytes = load i64, ptr %bytes1_at
  %either = or i64 %row_bytes, %column_bytes
  %row = ashr i64 %row_bytes, %shift
  %column = ashr i64 %column_bytes, %shift
  %both = ashr i64 %either, %shift
  %again = shl i64 %both, %shift
  %whole = icmp eq i64 %again, %either
  store i64 %row, ptr %strides
  store i64 %column, ptr %second
  br i1 %whole, label %yes, label %no
yes:
  %data = field ptr %object, ARRAY_DATA
  ret ptr %data
no:
  ret ptr null
}

; Whether any of so many flags, 0.0 or 1.0 in numbers of this size, is set.
define internal fastcc i1 @any(ptr %numbers, i64 %flags, i64 %shift) nounwind {
entry:
  %bytes = shl i64 %flags, %shift
  %count = lshr i64 %bytes, 2
  br label %head
head:
  %k = phi i64 [0, %entry], [%next, %one]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %one, label %no
one:
  %at = getelementptr i32, ptr %numbers, i64 %k
  %half = load i32, ptr %at
  %fine = icmp eq i32 %half, 0
  %next = add i64 %k, 1
  br i1 %fine, label %head, label %yes
yes:
  ret i1 true
no:
  ret i1 false
}

; New arrays (N, …) for all results; false with an exception set if there is no memory.
define internal fastcc i1 @allocate_batch(ptr %record, ptr %variant, i64 %states, ptr %results, ptr %places) nounwind {
entry:
  %shape = alloca [$MOST_AXES x i64], align 16
  store i64 %states, ptr %shape
  %count = field i64 %record, Entry_RESULTS
  %forms = field ptr %variant, Variant_OUTPUTS
  %ndarray = python ndarray
  %dtype = field ptr %record, Entry_DTYPE
  %Py_IncRef = python Py_IncRef
  %PyArray_NewFromDescr = python PyArray_NewFromDescr
  br label %head
head:
  %k = phi i64 [0, %entry], [%next, %got]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %one, label %yes
one:
  %next = add i64 %k, 1
  %where = mul i64 %k, $FORM
  %form = getelementptr i64, ptr %forms, i64 %where
  %rank = field i64 %form, Form_RANK
  %lengths = field ptr %form, Form_SHAPE
  br label %axis
axis:
  %j = phi i64 [0, %one], [%j1, %length]
  %left = icmp slt i64 %j, %rank
  br i1 %left, label %length, label %make
length:
  %j1 = add i64 %j, 1
  %from = getelementptr i64, ptr %lengths, i64 %j
  %to = getelementptr i64, ptr %shape, i64 %j1
  %n = load i64, ptr %from
  store i64 %n, ptr %to
  br label %axis
make:
  %batch_rank = add i64 %rank, 1
  %rank32 = trunc i64 %batch_rank to i32
  call void %Py_IncRef(ptr %dtype)
  %new = call ptr %PyArray_NewFromDescr(ptr %ndarray, ptr %dtype, i32 %rank32, ptr %shape,
      ptr null, ptr null, i32 0, ptr null)
  %failed = icmp eq ptr %new, null
  br i1 %failed, label %no, label %got
got:
  %result_at = getelementptr ptr, ptr %results, i64 %k
  store ptr %new, ptr %result_at
  %data = field ptr %new, ARRAY_DATA
  %numbers = field i64 %form, Form_COUNT
  %twice = mul i64 %k, 2
  %place = getelementptr i64, ptr %places, i64 %twice
  %size_at = getelementptr i64, ptr %place, i64 1
  store ptr %data, ptr %place
  store i64 %numbers, ptr %size_at
  br label %head
yes:
  ret i1 true
no:
  call fastcc void @release(ptr %results, i64 %k)
  ret i1 false
}

; One call of a variant's kernel for a batch. The address 1 stands for: let Python do it.
define internal fastcc ptr @run_batch(ptr %record, ptr %variant, ptr %slots) nounwind noinline {
entry:
  %descriptor = alloca [$MOST_DESCRIPTOR x i64], align 16
  %results = alloca [$MOST_OUTPUTS x ptr], align 16
  %kernel = field ptr %variant, Variant_BATCH
  %known = icmp ne ptr %kernel, null
  br i1 %known, label %first, label %python
first:
  %arrays = field i64 %record, Entry_ARRAYS
  %forms = field ptr %record, Entry_INPUTS
  %count = field i64 %record, Entry_RESULTS
  br label %find
find:  ; the batch axis of the first array that has one
  %f = phi i64 [0, %first], [%f1, %find_next]
  %searching = icmp slt i64 %f, %arrays
  br i1 %searching, label %find_one, label %python
find_one:
  %f_slot = getelementptr ptr, ptr %slots, i64 %f
  %candidate = load ptr, ptr %f_slot
  %type = field ptr %candidate, OBJECT_TYPE
  %ndarray = python ndarray
  %is_array = icmp eq ptr %type, %ndarray
  br i1 %is_array, label %find_rank, label %find_next
find_rank:
  %f_where = mul i64 %f, $FORM
  %f_form = getelementptr i64, ptr %forms, i64 %f_where
  %f_rank = field i64 %f_form, Form_RANK
  %has_rank32 = field i32 %candidate, ARRAY_RANK
  %has_rank = sext i32 %has_rank32 to i64
  %extra = sub i64 %has_rank, %f_rank
  %is_batch = icmp eq i64 %extra, 1
  br i1 %is_batch, label %found, label %find_next
find_next:
  %f1 = add i64 %f, 1
  br label %find
found:
  %shape = field ptr %candidate, ARRAY_SHAPE
  %states = load i64, ptr %shape
  %some = icmp sgt i64 %states, 0
  %small = field i64 %variant, Variant_SMALL
  %is_small = icmp sle i64 %states, %small
  %threads_at = python threads
  %threads = load i64, ptr %threads_at
  %alone = icmp eq i64 %threads, 1
  %most = field i64 %variant, Variant_MOST
  %few = icmp sle i64 %states, %most
  %one_thread = or i1 %is_small, %alone
  %good1 = and i1 %some, %one_thread
  %good = and i1 %good1, %few
  br i1 %good, label %allocating, label %python
allocating:
  %triples = mul i64 %arrays, 3
  %places = getelementptr i64, ptr %descriptor, i64 %triples
  %allocated = call fastcc i1 @allocate_batch(ptr %record, ptr %variant, i64 %states, ptr %results, ptr %places)
  br i1 %allocated, label %memory, label %error
memory:
  %status = field ptr %variant, Variant_STATUS
  %checks = icmp ne ptr %status, null
  %flag_numbers = select i1 %checks, i64 %states, i64 0
  %shift = field i64 %record, Entry_SHIFT
  %flag_bytes = shl i64 %flag_numbers, %shift
  %workspace = field i64 %variant, Variant_BATCH_WORKSPACE
  %copies = field i64 %variant, Variant_ROOM_SIZE
  %bytes1 = add i64 %workspace, 64
  %bytes2 = add i64 %bytes1, %copies
  %bytes = add i64 %bytes2, %flag_bytes
  %PyMem_RawMalloc = python PyMem_RawMalloc
  %room = call ptr %PyMem_RawMalloc(i64 %bytes)
  %no_room = icmp eq ptr %room, null
  br i1 %no_room, label %drop, label %taking
taking:
  %room_number = ptrtoint ptr %room to i64
  %above = add i64 %room_number, 63
  %aligned = and i64 %above, -64
  %work = inttoptr i64 %aligned to ptr
  %first_room = getelementptr i8, ptr %work, i64 %workspace
  %flags = getelementptr i8, ptr %first_room, i64 %copies
  %double = mul i64 %count, 2
  %status_place = getelementptr i64, ptr %places, i64 %double
  %status_size = getelementptr i64, ptr %status_place, i64 1
  store ptr %flags, ptr %status_place
  store i64 1, ptr %status_size
  br label %take
take:
  %k = phi i64 [0, %taking], [%k1, %took]
  %room_here = phi ptr [%first_room, %taking], [%room_next, %took]
  %more = icmp slt i64 %k, %arrays
  br i1 %more, label %take_one, label %running
take_one:
  %slot = getelementptr ptr, ptr %slots, i64 %k
  %object = load ptr, ptr %slot
  %where = mul i64 %k, $FORM
  %form = getelementptr i64, ptr %forms, i64 %where
  %three = mul i64 %k, 3
  %address_at = getelementptr i64, ptr %descriptor, i64 %three
  %strides = getelementptr i64, ptr %address_at, i64 1
  %size = field i64 %form, Form_COUNT
  %room_next = getelementptr double, ptr %room_here, i64 %size
  %data = call fastcc ptr @batch_input(ptr %record, ptr %object, ptr %form, i64 %states, ptr %strides, ptr %room_here)
  %wrong = icmp eq ptr %data, null
  br i1 %wrong, label %free, label %took
took:
  store ptr %data, ptr %address_at
  %k1 = add i64 %k, 1
  br label %take
running:
  %PyEval_SaveThread = python PyEval_SaveThread
  %PyEval_RestoreThread = python PyEval_RestoreThread
  %state = call ptr %PyEval_SaveThread()
  call void %kernel(i64 0, i64 %states, ptr %descriptor, ptr %work)
  %bad = call fastcc i1 @any(ptr %flags, i64 %flag_numbers, i64 %shift)
  call void %PyEval_RestoreThread(ptr %state)
  br i1 %bad, label %free, label %done
done:
  %PyMem_RawFree = python PyMem_RawFree
  call void %PyMem_RawFree(ptr %room)
  %result = call fastcc ptr @finish(ptr %record, ptr %results, ptr null)
  ret ptr %result
free:
  %PyMem_RawFree2 = python PyMem_RawFree
  call void %PyMem_RawFree2(ptr %room)
  br label %drop
drop:
  call fastcc void @release(ptr %results, i64 %count)
  br label %python
python:
  ret ptr inttoptr (i64 1 to ptr)
error:
  ret ptr null
}
"""
