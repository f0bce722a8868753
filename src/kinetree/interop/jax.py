"""Functions for JAX: kernels as custom calls of XLA, with derivatives and batches, under jit, vmap, grad and jvp.

One primitive stands for all functions. Its rules are those of a function f with compiled derivatives:

    forward mode      the rates of f(x) are those of its jvp, a function of x and ẋ
    reverse mode      the transpose of a jvp is the vjp, a function of x and ȳ
    batches           a new axis in front, for the batch kernel; arguments without it count for all states
    code              a handler of XLA's foreign function interface for one state or for a batch (`compiler`)

Derivatives are functions of the same kind, so they have derivatives, too. A refused state gives NaN.

The only file that knows JAX.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import cache, partial
from math import prod
from pathlib import Path
from typing import Any, final

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from kinetree.base.precision import FLOAT32, FLOAT64
from kinetree.compiler import Handler, Shape, lock
from kinetree.errors import ArgumentError, ArgumentTypeError, short
from kinetree.functions.directional import Directional
from kinetree.interop.foreign import Callee, Foreign

call_p = Primitive("kinetree")
"""call_p.bind(*arrays, callee=…): arrays of one dtype, each with all batch axes or with none."""
call_p.multiple_results = True


@final
class JaxFunction(Foreign):
    """A function of JAX arrays."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The result for one state or for a batch."""
        given = self._parameters.bound(args, kwargs)
        own = {name: _array(name, value) for name, value in given.items() if value is not None}
        presets = self.callee.compiled.presets
        arrays = {name: own[name] if name in own else jnp.asarray(presets[name]) for name in given}
        batch = self.batch_of({name: array.shape for name, array in arrays.items()})
        dtype = jnp.result_type(*own.values()) if own else jnp.result_type(float)
        if not jnp.issubdtype(dtype, jnp.floating):
            dtype = jnp.result_type(float)
        if dtype not in (FLOAT32, FLOAT64):
            raise ArgumentTypeError(f"{self.__name__} got arrays of dtype {dtype}; expected float32 or float64")
        ready = [_spread(array.astype(dtype), batch, self.arrays[name]) for name, array in arrays.items()]
        return self._rebuild(call_p.bind(*ready, callee=self.callee, dtype=np.dtype(dtype)))


def _array(name: str, value: Any) -> Any:
    try:
        array = jnp.asarray(value)
    except TypeError:
        raise ArgumentTypeError(f"{name} is {short(value)}; expected an array") from None
    if not jnp.issubdtype(array.dtype, jnp.number) or jnp.issubdtype(array.dtype, jnp.complexfloating):
        raise ArgumentTypeError(f"{name} has elements of type {array.dtype}; expected real numbers")
    return array


def _spread(array: Any, batch: Shape, core: Shape) -> Any:
    """The array with all batch axes, or with none if it is the same for all states."""
    own = array.shape[: array.ndim - len(core)]
    if prod(own) == 1 and own != batch:
        return array.reshape(core)
    return jnp.broadcast_to(array, (*batch, *core))


# -- the rules of the primitive ----------------------------------------------------------------------------------------


def _batch(shapes: Sequence[Shape], callee: Callee) -> Shape:
    """The batch axes of arrays of these shapes, in the order of the function's."""
    cores = callee.compiled.arrays.values()
    return max(
        (shape[: len(shape) - len(core)] for shape, core in zip(shapes, cores, strict=True)), key=len, default=()
    )


def _abstract(*avals: Any, callee: Callee, dtype: Any) -> list[Any]:
    batch = _batch([aval.shape for aval in avals], callee)
    return [jax.core.ShapedArray((*batch, *shape), dtype) for shape in callee.shapes]


@cache
def _jitted(callee: Callee, dtype: Any) -> Any:
    return jax.jit(partial(call_p.bind, callee=callee, dtype=dtype))


def _run(*arrays: Any, callee: Callee, dtype: Any) -> Any:
    return _jitted(callee, dtype)(*arrays)


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], *, callee: Callee, dtype: Any) -> tuple[Any, Any]:
    results = call_p.bind(*primals, callee=callee, dtype=dtype)
    names = callee.compiled.arrays
    moving = {name: rate for name, rate in zip(names, tangents, strict=True) if type(rate) is not ad.Zero}
    rates = call_p.bind(*primals, *moving.values(), callee=callee.derivative("jvp", tuple(moving)), dtype=dtype)
    return results, rates


def _transpose(weights: Sequence[Any], *arrays: Any, callee: Callee, dtype: Any) -> list[Any]:
    """The transpose of a jvp in its rates, or of a vjp in its weights."""
    derivative = callee.compiled
    assert isinstance(derivative, Directional)
    known = arrays[: len(derivative.primal.arrays)]
    linear = arrays[len(known) :]
    full = [jnp.zeros(w.aval.shape, dtype) if type(w) is ad.Zero else w for w in weights]
    found = call_p.bind(*known, *full, callee=callee.transposed(), dtype=dtype)
    sums: list[Any] = []
    for array, result in zip(linear, found, strict=True):
        if not ad.is_undefined_primal(array):
            sums.append(None)
            continue
        axes = tuple(range(result.ndim - len(array.aval.shape)))  # it was the same for all states
        sums.append(result.sum(axes) if axes else result)
    return [None] * len(known) + sums


def _batched(arrays: Sequence[Any], axes: Sequence[Any], *, callee: Callee, dtype: Any) -> tuple[Any, Any]:
    cores = callee.compiled.arrays.values()
    given = [
        (array if axis is None else jnp.moveaxis(array, axis, 0), axis is not None, core)
        for array, axis, core in zip(arrays, axes, cores, strict=True)
    ]
    size = next(array.shape[0] for array, is_mapped, _ in given if is_mapped)
    inner = _batch([array.shape[is_mapped:] for array, is_mapped, _ in given], callee)
    ready = []
    for array, is_mapped, core in given:
        own = array.shape[is_mapped : array.ndim - len(core)]
        if is_mapped or own:
            first = size if is_mapped else 1
            array = array.reshape(first, *(own or (1,) * len(inner)), *core)
            array = jnp.broadcast_to(array, (size, *inner, *core))
        ready.append(array)
    results = call_p.bind(*ready, callee=callee, dtype=dtype)
    return results, [0] * len(results)


call_p.def_abstract_eval(_abstract)
call_p.def_impl(_run)
ad.primitive_jvps[call_p] = _jvp
ad.primitive_transposes[call_p] = _transpose
batching.primitive_batchers[call_p] = _batched

# -- code --------------------------------------------------------------------------------------------------------------

_handlers: dict[str, Handler] = {}
"""By the names that XLA knows them by; it keeps their addresses for ever."""


def _lowered(*arrays: Any, callee: Callee, dtype: Any) -> list[Any]:
    """The custom call, with memory for its flags and for its workspace behind its results."""
    made = callee.careful().astype(dtype) if dtype == FLOAT64 else callee.astype(dtype)
    own = made.compiled.dtype
    if own != dtype and not jax.config.jax_enable_x64:
        raise ArgumentError(
            f"{callee.compiled.name} needs the digits of float64; expected jax.config.update('jax_enable_x64', True)"
        )
    batch = _batch([array.shape for array in arrays], callee)
    name, handler = _handler(made, "single" if prod(batch) == 1 else "batch")
    shapes = [(*batch, *shape) for shape in callee.shapes]
    flags = [batch] * made.compiled.specialization(made.key).refuses
    results = jax.ffi.ffi_call(
        name,
        [
            *(jax.ShapeDtypeStruct(shape, own) for shape in (*shapes, *flags)),
            jax.ShapeDtypeStruct((handler.workspace,), np.uint8),
        ],
    )(*(array.astype(own) for array in arrays))
    return [result.astype(dtype) for result in results[: len(shapes)]]


def _handler(callee: Callee, kind: Any) -> tuple[str, Handler]:
    """The handler of a function, under a name that is the same in every process."""
    made = callee.compiled.specialization(callee.key)
    cores = tuple(callee.compiled.arrays.values())
    digest = hashlib.sha256(repr((made.digest, cores, made.shapes)).encode()).hexdigest()[:32]
    name = f"kinetree_{kind}_{digest}"
    with lock:
        if name not in _handlers:
            handler = Handler(made.kernel, kind, cores, made.shapes, _version())
            jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(handler.address), platform="cpu")
            _handlers[name] = handler
    return name, _handlers[name]


@cache
def _version() -> tuple[int, int]:
    """The version of XLA's foreign function interface, from the header that comes with jaxlib."""
    text = Path(jax.ffi.include_dir(), "xla", "ffi", "api", "c_api.h").read_text()
    major, minor = (int(found) for found in re.findall(r"#define XLA_FFI_API_M(?:AJ|IN)OR (\d+)", text))
    return major, minor


def _elsewhere(*arrays: Any, callee: Callee, dtype: Any) -> Any:
    raise ArgumentError(
        f"{callee.compiled.name} runs on CPUs only; expected jax.jit(…, backend='cpu'), or arrays on jax.devices('cpu')"
    )


mlir.register_lowering(call_p, mlir.lower_fun(_elsewhere, multiple_results=True))
mlir.register_lowering(call_p, mlir.lower_fun(_lowered, multiple_results=True), platform="cpu")
