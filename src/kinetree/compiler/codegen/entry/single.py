"""One call of a kernel for one state: inputs taken, results made or `out` used, status looked at."""

RUN_SINGLE = """
; Whether the memory of `out` and of any input have a byte in common.
define internal fastcc i1 @overlaps(ptr %record, ptr %variant, ptr %out, ptr %inputs, i64 %places) nounwind {
entry:
  %arrays = field i64 %record, Entry_ARRAYS
  %forms = field ptr %record, Entry_INPUTS
  %out_forms = field ptr %variant, Variant_OUTPUTS
  %mapped_form = field ptr %record, Entry_MAPPED
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
define internal fastcc i1 @take(ptr %record, ptr %variant, ptr %slots, ptr %found, i64 %places, ptr %inputs) nounwind {
entry:
  %arrays = field i64 %record, Entry_ARRAYS
  %forms = field ptr %record, Entry_INPUTS
  %first_room = field ptr %variant, Variant_ROOM
  br label %head
head:
  %k = phi i64 [0, %entry], [%next, %good]
  %form = phi ptr [%forms, %entry], [%next_form, %good]
  %room = phi ptr [%first_room, %entry], [%rest, %good]
  %more = icmp slt i64 %k, %arrays
  br i1 %more, label %one, label %mapped
one:
  %slot = getelementptr ptr, ptr %slots, i64 %k
  %object = load ptr, ptr %slot
  %data = call fastcc ptr @data(ptr %object, ptr %form, i32 $IN)
  %other = icmp eq ptr %data, null
  br i1 %other, label %convert, label %good
convert:
  %copied = call fastcc ptr @converted(ptr %object, ptr %form, ptr %room)
  %size = field i64 %form, Form_COUNT
  %beyond = getelementptr double, ptr %room, i64 %size
  %wrong = icmp eq ptr %copied, null
  br i1 %wrong, label %no, label %good
good:
  %numbers = phi ptr [%data, %one], [%copied, %convert]
  %rest = phi ptr [%room, %one], [%beyond, %convert]
  %input_at = getelementptr ptr, ptr %inputs, i64 %k
  store ptr %numbers, ptr %input_at
  %next = add i64 %k, 1
  %next_form = getelementptr i64, ptr %form, i64 $FORM
  br label %head
mapped:
  %j = phi i64 [0, %head], [%j1, %mapped_good]
  %space = phi ptr [%room, %head], [%left_over, %mapped_good]
  %left = icmp slt i64 %j, %places
  br i1 %left, label %mapped_one, label %yes
mapped_one:
  %zeros = field ptr %variant, Variant_ZEROS
  %found_at = getelementptr ptr, ptr %found, i64 %j
  %item = load ptr, ptr %found_at
  %absent = icmp eq ptr %item, null
  br i1 %absent, label %mapped_good, label %mapped_given
mapped_given:
  %mapped_form = field ptr %record, Entry_MAPPED
  %item_data = call fastcc ptr @data(ptr %item, ptr %mapped_form, i32 $IN)
  %item_other = icmp eq ptr %item_data, null
  br i1 %item_other, label %mapped_convert, label %mapped_good
mapped_convert:
  %item_copied = call fastcc ptr @converted(ptr %item, ptr %mapped_form, ptr %space)
  %item_size = field i64 %mapped_form, Form_COUNT
  %item_beyond = getelementptr double, ptr %space, i64 %item_size
  %item_wrong = icmp eq ptr %item_copied, null
  br i1 %item_wrong, label %no, label %mapped_good
mapped_good:
  %memory = phi ptr [%zeros, %mapped_one], [%item_data, %mapped_given], [%item_copied, %mapped_convert]
  %left_over = phi ptr [%space, %mapped_one], [%space, %mapped_given], [%item_beyond, %mapped_convert]
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
define internal fastcc ptr @run(ptr %record, ptr %variant, ptr %slots, ptr %found, i64 %places, ptr %out) nounwind {
entry:
  %inputs = alloca [$MOST_INPUTS x ptr], align 16
  %outputs = alloca [$MOST_OUTPUTS x ptr], align 16
  %results = alloca [$MOST_OUTPUTS x ptr], align 16
  %count = field i64 %record, Entry_RESULTS
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
  %allocated = call fastcc i1 @allocate(ptr %record, ptr %variant, ptr %results, ptr %outputs)
  br i1 %allocated, label %taking, label %error
given:
  %bare = field i64 %record, Entry_BARE
  %form = field ptr %variant, Variant_OUTPUTS
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
  %taken = call fastcc i1 @take(ptr %record, ptr %variant, ptr %slots, ptr %found, i64 %places, ptr %inputs)
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
  %answer = call fastcc ptr @run_batch(ptr %record, ptr %variant, ptr %slots)
  ret ptr %answer
apart:
  br i1 %fresh, label %calling, label %apart_given
apart_given:
  %shared = call fastcc i1 @overlaps(ptr %record, ptr %variant, ptr %memory, ptr %inputs, i64 %places)
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
  %result = call fastcc ptr @finish(ptr %record, ptr %results, ptr %outputs)
  ret ptr %result
copying:
  br i1 %checks, label %copy_start, label %give
copy_start:
  %out_form = field ptr %variant, Variant_OUTPUTS
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
"""
