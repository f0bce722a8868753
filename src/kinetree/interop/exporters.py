"""`kt.to_casadi`, `kt.to_torch` and `kt.to_jax`: the functions of kinetree in other libraries, which are imported when
they are called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kinetree.base.lazy_imports import importing
from kinetree.errors import KinetreeError


def to_casadi(function: Callable[..., Any], *, tangent: bool = False, compiled: bool = False) -> Any:
    """A `casadi.Function` of SX expressions, with arguments and results by name (`pip install 'kinetree[casadi]'`).

    `function` is anything compiled: a quantity such as `robot.inverse_dynamics`, `law.bind(robot)`, a controller, or
    `kt.jacobian` of one of them. Vectors are columns; arrays with more than two axes have their matrices below each
    other. States are not checked: a quaternion that is not of unit length is used as it is.

    Derivatives by a configuration are those by its nq numbers. With `tangent`, each configuration q is followed by a
    displacement dq, (nv,), and the function is that of q ⊕ dq: derivatives by dq are on the tangent space.

    With `compiled`, it is an external function that runs kinetree's machine code, as do its Jacobian, its derivatives
    in forward and reverse mode, and Hessians: for MX expressions, several times as fast. A refused state is an error of
    the evaluation. Linux only.
    """
    return _part("casadi").function(function, tangent, compiled)


def to_torch(function: Callable[..., Any], *, tangent: bool = False) -> Callable[..., Any]:
    """A function of PyTorch tensors on the CPU, with derivatives of any order (`pip install 'kinetree[torch]'`).

    `function` is what `to_casadi` takes. Leading axes are batch axes, which broadcast. Tensors are float64 or float32,
    and results are of the same dtype; memory is shared, not copied. `torch.compile`, `torch.func.vmap`, `grad` and
    `jacrev` take it. A refused state raises as it does without PyTorch.

    Derivatives by a configuration are those by its nq numbers; `tangent` is that of `to_casadi`.
    """
    return _part("torch").TorchFunction(function, tangent)


def to_jax(function: Callable[..., Any], *, tangent: bool = False) -> Callable[..., Any]:
    """A function of JAX arrays on the CPU, with jit, vmap, grad and jvp (`pip install 'kinetree[jax]'`).

    `function` is what `to_casadi` takes. Leading axes are batch axes, which broadcast. Arrays are float64 or float32,
    and results are of the same dtype. A refused state gives NaN.

    Derivatives by a configuration are those by its nq numbers; `tangent` is that of `to_casadi`.
    """
    return _part("jax").JaxFunction(function, tangent)


def _part(package: str) -> Any:
    """The file of this folder that knows a package."""
    try:
        return importing(f"kinetree.interop.{package}")
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise KinetreeError(f"kt.to_{package} needs the package {package}: pip install 'kinetree[{package}]'") from None
