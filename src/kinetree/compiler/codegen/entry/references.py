"""References that a call holds until it is over, since code of the user's may run meanwhile."""

REFERENCES = """
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
define internal fastcc ptr @attribute(ptr %record, ptr %object, i64 %field, ptr %held) nounwind {
entry:
  %name_at = getelementptr i8, ptr %record, i64 %field
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
"""
