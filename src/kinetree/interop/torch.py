"""Functions for PyTorch: kernels as operators of `torch.library`, with derivatives and batches.

A function becomes an operator with shapes for fake tensors (`torch.compile`), a rule for `torch.func.vmap`, a backward
that is the operator of its vjp, Jᵀ ȳ, and a forward mode that is that of its jvp, J ẋ. Those are made in the same way
when they are first needed, so there are derivatives of any order.

The only file that knows PyTorch.
"""

from __future__ import annotations

import re
from itertools import count
from typing import Any, final

import numpy as np
import torch

from kinetree.base.precision import FLOAT32, FLOAT64
from kinetree.errors import ArgumentError, ArgumentTypeError, short
from kinetree.functions.directional import shapes_of
from kinetree.functions.result_tree import flatten
from kinetree.functions.specialization import is_result
from kinetree.interop.foreign import Callee, Foreign

DTYPES: dict[Any, np.dtype[Any]] = {torch.float64: FLOAT64, torch.float32: FLOAT32}


@final
class TorchFunction(Foreign):
    """A function of tensors."""

    def __init__(self, function: Any, tangent: bool) -> None:
        super().__init__(function, tangent)
        self._operator = _operator(self.callee)
        self._presets = {
            name: torch.from_numpy(np.array(value)) for name, value in self.callee.compiled.presets.items()
        }
        _ = self._rebuild

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The result for one state or for a batch."""
        given = self._parameters.bound(args, kwargs)
        own = {name: value for name, value in given.items() if value is not None}
        for name, tensor in own.items():
            if not isinstance(tensor, torch.Tensor):
                raise ArgumentTypeError(f"{name} is {short(tensor)}; expected a tensor")
            if tensor.dtype not in DTYPES:
                raise ArgumentTypeError(
                    f"{name} has elements of type {tensor.dtype}; expected torch.float64 or torch.float32"
                )
            if tensor.device.type != "cpu":
                raise ArgumentError(f"{name} is on the device {tensor.device}; expected a tensor on the CPU")
        wide = any(tensor.dtype == torch.float64 for tensor in own.values()) or not own
        dtype = torch.float64 if wide else torch.float32
        tensors = {name: own[name] if name in own else self._presets[name] for name in self.arrays}
        self.batch_of({name: tensor.shape for name, tensor in tensors.items()})
        return self._rebuild(list(self._operator(*(tensor.to(dtype) for tensor in tensors.values()))))


# -- operators ---------------------------------------------------------------------------------------------------------

_known: dict[Callee, Any] = {}
_number = count()


def _operator(callee: Callee) -> Operator:
    """The operator of a function, made on first use. PyTorch keeps operators for ever, and so does this file."""
    if callee not in _known:
        _known.setdefault(callee, Operator(callee))  # another thread may have made one meanwhile, under another name
    return _known[callee]


class Operator:
    """A function as an operator of `torch.library`, which `torch.compile` knows, and as an `autograd.Function`, which
    `torch.func` knows. Both have the same rules."""

    def __init__(self, callee: Callee) -> None:
        self.callee, self.names = callee, list(callee.compiled.arrays)
        self.shapes = shapes_of(callee.compiled, callee.key)
        self.ranks = [len(core) for core in callee.compiled.arrays.values()]
        plain = re.sub(r"[^A-Za-z0-9]+", "_", callee.compiled.name).strip("_")  # that of a lambda is no identifier
        name = f"kinetree::{plain}_{next(_number)}"
        parameters = ", ".join(f"Tensor x{k}" for k in range(len(self.names)))
        self.registered = torch.library.custom_op(
            name, lambda *x: _run(callee, x), mutates_args=(), schema=f"({parameters}) -> Tensor[]"
        )
        self.registered.register_fake(self.fake)
        self.registered.register_autograd(lambda ctx, y: self.backward(ctx, *y), setup_context=self.remember)
        self.registered.register_vmap(self.batched)
        self.function: Any = type(
            plain,
            (torch.autograd.Function,),
            {
                "forward": staticmethod(lambda *x: tuple(self.registered(*x))),
                "setup_context": staticmethod(self.remember),
                "backward": staticmethod(self.backward),
                "jvp": staticmethod(self.forward_mode),
                "vmap": staticmethod(self.batched),
            },
        )

    def __call__(self, *tensors: torch.Tensor) -> Any:
        """The results, as a sequence."""
        return self.registered(*tensors) if torch.compiler.is_compiling() else self.function.apply(*tensors)

    def fake(self, *tensors: torch.Tensor) -> list[torch.Tensor]:
        batch = torch.broadcast_shapes(*(x.shape[: x.dim() - n] for x, n in zip(tensors, self.ranks, strict=True)))
        return [tensors[0].new_empty((*batch, *shape)) for shape in self.shapes]

    def remember(self, ctx: Any, inputs: tuple[torch.Tensor, ...], output: Any) -> None:
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    def backward(self, ctx: Any, *weights: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Jᵀ ȳ of those inputs that need it; summed over axes along which an input was the same for all states."""
        inputs = ctx.saved_tensors
        wrt = [k for k, needed in enumerate(ctx.needs_input_grad) if needed]
        vjp = _operator(self.callee.derivative("vjp", tuple(self.names[k] for k in wrt)))
        found = dict(zip(wrt, vjp(*inputs, *weights), strict=True))
        return tuple(found[k].sum_to_size(x.shape) if k in found else None for k, x in enumerate(inputs))

    def forward_mode(self, ctx: Any, *rates: torch.Tensor | None) -> tuple[torch.Tensor, ...]:
        """J ẋ along the rates of those inputs that have one."""
        moving = {name: rate for name, rate in zip(self.names, rates, strict=True) if rate is not None}
        jvp = _operator(self.callee.derivative("jvp", tuple(moving)))
        return tuple(jvp(*ctx.saved_tensors, *moving.values()))

    def batched(self, info: Any, axes: tuple[int | None, ...], *tensors: torch.Tensor) -> tuple[Any, Any]:
        """The results with a new batch axis, in front of all others."""
        given = list(zip(tensors, self.ranks, axes, strict=True))
        inner = max(x.dim() - rank - (axis is not None) for x, rank, axis in given)
        moved = []
        for x, rank, axis in given:
            if axis is not None:
                x = x.movedim(axis, 0)
                x = x.reshape(x.shape[0], *(1,) * (inner + 1 + rank - x.dim()), *x.shape[1:])
            moved.append(x)
        results = self(*moved)
        return results, type(results)([0] * len(results))


def _run(callee: Callee, tensors: tuple[torch.Tensor, ...]) -> list[torch.Tensor]:
    """The results for CPU tensors of one dtype, whose memory is read where it is."""
    dtype = tensors[0].dtype
    made = callee.astype(DTYPES[dtype])
    arrays = [tensor.detach().resolve_neg().numpy() for tensor in tensors]
    result = made.compiled.evaluate(arrays, made.key.options)
    return [torch.from_numpy(np.asarray(leaf)).to(dtype) for leaf in flatten(result, is_result)[0]]
