"""The entry itself: the plain call goes straight to its kernel, any other to the variant it fits, or to Python."""

ENTER = """
; With the items of a tuple, if the last argument is one, in its place: how many arguments there are; -1 if it is none.
define internal fastcc i64 @spread(ptr %record, ptr %args, i64 %nargs, ptr %slots) nounwind {
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
  %most = field i64 %record, Entry_SPREAD_TO
  %PyTuple_Size = python PyTuple_Size
  %PyTuple_GetItem = python PyTuple_GetItem
  %count = call i64 %PyTuple_Size(ptr %last)
  %total = add i64 %before, %count
  %fits = icmp sle i64 %total, %most
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
define internal fastcc ptr @choose(ptr %record, ptr %args, i64 %nargs, ptr %values, ptr %names) nounwind noinline {
entry:
  %slots = alloca [$MOST_PARAMETERS x ptr], align 16
  %found = alloca [$MOST_INPUTS x ptr], align 16
  %held = alloca [$MOST_HELD x ptr], align 16
  store i64 0, ptr %held
  %arrays = field i64 %record, Entry_ARRAYS
  %positional = field i64 %record, Entry_POSITIONAL
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
  %understood = call fastcc i1 @by_name(ptr %record, ptr %slots, ptr %values, ptr %names)
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
  %presets = field ptr %record, Entry_PRESETS
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
  %first = field ptr %record, Entry_FIRST
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
  %all_placed = call fastcc i1 @has_places(ptr %record, ptr %variant, ptr %given, ptr %found, ptr %held)
  br i1 %all_placed, label %fits, label %unfit
options:
  %right_options = call fastcc i1 @has_options(ptr %record, ptr %variant, ptr %slots)
  br i1 %right_options, label %fits, label %unfit
unfit:
  call fastcc void @let_go(ptr %held)
  %next = field ptr %variant, Variant_NEXT
  br label %search
fits:
  %in_mapping = select i1 %has_mapping, i64 %places, i64 0
  %result = call fastcc ptr @run(ptr %record, ptr %variant, ptr %slots, ptr %found, i64 %in_mapping, ptr %out)
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

define internal fastcc ptr @enter(ptr %record, ptr %self, ptr %args, i64 %nargs, ptr %names) nounwind {
entry:
  %wide = alloca [$MOST_PARAMETERS x ptr], align 16
  %arrays = field i64 %record, Entry_ARRAYS
  %variant = field ptr %record, Entry_PLAIN
  %no_names = icmp eq ptr %names, null
  %only_arrays = icmp eq i64 %nargs, %arrays
  %known = icmp ne ptr %variant, null
  %plain1 = and i1 %no_names, %only_arrays
  %plain2 = and i1 %plain1, %known
  br i1 %plain2, label %plain, label %general
plain:
  %quick = call fastcc ptr @run(ptr %record, ptr %variant, ptr %args, ptr null, i64 0, ptr null)
  br label %outcome
general:
  %values = getelementptr ptr, ptr %args, i64 %nargs
  %spreads = field i64 %record, Entry_SPREADS
  %may_spread = icmp eq i64 %spreads, %nargs
  %not_zero = icmp ne i64 %nargs, 0
  %perhaps = and i1 %may_spread, %not_zero
  br i1 %perhaps, label %spreading, label %choosing
spreading:
  %count = call fastcc i64 @spread(ptr %record, ptr %args, i64 %nargs, ptr %wide)
  %is_spread = icmp sge i64 %count, 0
  br label %choosing
choosing:
  %widened = phi i1 [false, %general], [%is_spread, %spreading]
  %wide_count = phi i64 [0, %general], [%count, %spreading]
  %given = select i1 %widened, ptr %wide, ptr %args
  %given_count = select i1 %widened, i64 %wide_count, i64 %nargs
  %slow = call fastcc ptr @choose(ptr %record, ptr %given, i64 %given_count, ptr %values, ptr %names)
  br label %outcome
outcome:
  %result = phi ptr [%quick, %plain], [%slow, %choosing]
  %to_python = icmp eq ptr %result, inttoptr (i64 1 to ptr)
  br i1 %to_python, label %python, label %return
return:
  ret ptr %result
python:
  %fallback = field ptr %record, Entry_FALLBACK
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
