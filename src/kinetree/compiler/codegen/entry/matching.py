"""What a call gave, beside what a variant takes: arguments by name, options, and the arrays of a mapping."""

MATCHING = """
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
define internal fastcc i1 @by_name(ptr %record, ptr %slots, ptr %values, ptr %names) nounwind {
entry:
  %parameters = field ptr %record, Entry_PARAMETERS
  %positional = field i64 %record, Entry_POSITIONAL
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
define internal fastcc i1 @has_options(ptr %record, ptr %variant, ptr %slots) nounwind {
entry:
  %arrays = field i64 %record, Entry_ARRAYS
  %positional = field i64 %record, Entry_POSITIONAL
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
define internal fastcc i1 @has_places(ptr %record, ptr %variant, ptr %mapping, ptr %found, ptr %held) nounwind {
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
  %wrapper = field ptr %record, Entry_WRAPPER
  %untagged = field ptr %record, Entry_UNTAGGED
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
  %array = call fastcc ptr @attribute(ptr %record, ptr %value, i64 ${Entry_VALUE}, ptr %held)
  %tag = call fastcc ptr @attribute(ptr %record, ptr %value, i64 ${Entry_TAG}, ptr %held)
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
"""
