"""What the native code needs of CPython and NumPy: objects and functions by address, and where an object has what."""

PYTHON = (
    "ndarray",
    "float64",
    "float",
    "float64_scalar",
    "none",
    "dict",
    "str",
    "int",
    "list",
    "tuple",
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
    "PyList_Size",
    "PyList_GetItem",
    "PyLong_AsLongLongAndOverflow",
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
INT, LONG, LONGLONG, FLOAT, DOUBLE = 5, 7, 9, 11, 12  # numbers of dtypes
NATIVE = ord("=")
C_CONTIGUOUS, OWNED, ALIGNED, WRITEABLE = 0x001, 0x004, 0x100, 0x400
