"""The results of a call: the arrays a kernel writes into, new or used again, and what Python gets of them.

A result that nobody but the entry refers to any more is used again for the next one: in a loop, two arrays take turns,
and nothing is allocated. All that shows of it is the entry's reference: `ndarray.resize` wants to be told
refcheck=False, and a result that only weak references know may live on.
"""

RESULTS = """
; A result of an earlier call, if nobody else refers to it, not even weakly, and it still is what it was; or null.
define internal fastcc ptr @recycled(ptr %variant, ptr %object) nounwind {
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
  %forms = field ptr %variant, Variant_OUTPUTS
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
define internal fastcc void @remember(ptr %record, ptr %object) nounwind {
  %last = field ptr %record, Entry_LAST
  %earlier = field ptr %record, Entry_EARLIER
  store ptr %last, ptr %earlier.at
  store ptr %object, ptr %last.at
  %Py_IncRef = python Py_IncRef
  call void %Py_IncRef(ptr %object)
  %Py_DecRef = python Py_DecRef
  call void %Py_DecRef(ptr %earlier)
  ret void
}

; Arrays for all results that are arrays; false with an exception set if there is no memory.
define internal fastcc i1 @allocate(ptr %record, ptr %variant, ptr %results, ptr %outputs) nounwind {
entry:
  %recycles = field i64 %record, Entry_RECYCLES
  %may_recycle = icmp ne i64 %recycles, 0
  br i1 %may_recycle, label %try_earlier, label %anew
try_earlier:
  %earlier = field ptr %record, Entry_EARLIER
  %old = call fastcc ptr @recycled(ptr %variant, ptr %earlier)
  %no_old = icmp eq ptr %old, null
  br i1 %no_old, label %try_last, label %reuse
try_last:
  %last = field ptr %record, Entry_LAST
  %newer = call fastcc ptr @recycled(ptr %variant, ptr %last)
  %no_newer = icmp eq ptr %newer, null
  br i1 %no_newer, label %anew, label %reuse
reuse:
  %again = phi ptr [%old, %try_earlier], [%newer, %try_last]
  %again_data = field ptr %again, ARRAY_DATA
  store ptr %again, ptr %results
  store ptr %again_data, ptr %outputs
  ret i1 true
anew:
  %count = field i64 %record, Entry_RESULTS
  %forms = field ptr %variant, Variant_OUTPUTS
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
  call fastcc void @remember(ptr %record, ptr %first_result)
  br label %complete
complete:
  ret i1 true
no:
  call fastcc void @release(ptr %results, i64 %k)
  ret i1 false
}

; The results as Python has them: a number for each that has no axes, and a tuple if there are several.
define internal fastcc ptr @finish(ptr %record, ptr %results, ptr %outputs) nounwind {
entry:
  %count = field i64 %record, Entry_RESULTS
  %bare = field i64 %record, Entry_BARE
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
"""
