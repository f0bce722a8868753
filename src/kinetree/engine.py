"""Where the two columns meet: one quantity of one model, by the textbook or by machine code."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from kinetree import ops
from kinetree.algorithms import constraints, crba
from kinetree.algorithms.constraint_rows import Rows
from kinetree.algorithms.factorization import SINGULAR_PIVOT, pivots_of, some_configurations
from kinetree.algorithms.references import Reference
from kinetree.algorithms.wrenches import external_forces
from kinetree.arguments import UNIT_TOLERANCE, as_floats, as_output, batch_shape, check_quaternions, map_rows
from kinetree.binding import defaults_of, text_of
from kinetree.compiler import native
from kinetree.compiler.call import Kernel
from kinetree.compiler.code import Kind, Layout
from kinetree.compiler.doubts import doubt
from kinetree.compiler.expr import is_traced, tracing
from kinetree.compiler.jit import host, lock
from kinetree.compiler.memory import empty
from kinetree.compiler.stored import Stored
from kinetree.errors import ArgumentError, ArgumentTypeError, SingularMassMatrixError, short
from kinetree.later import importing
from kinetree.model.constraints import ConstraintSet
from kinetree.model.tree import Model
from kinetree.ops import Array
from kinetree.originals import is_own
from kinetree.quantities import OF_ROBOT, Quantity
from kinetree.wrench import Wrench

EAGER = "KINETREE_EAGER"
"""Environment variable: set to 1, every quantity is computed by the textbook path."""
SUSPICIOUS_PIVOT = 4e-10
"""Relative to the largest diagonal seen at a few configurations: small enough to look closer."""

Arguments = dict[str, tuple[Array, tuple[int, ...]]]
"""By name, an array and the shape it has for one state."""
Place = tuple[str, Reference]
"""Where a wrench acts: a frame and a reference."""


Subject = str | ConstraintSet | None
"""What of the robot a quantity is of: a frame, constraints, or the whole."""


class Request(NamedTuple):
    """A quantity with all that decides its machine code: of what, options, and where wrenches act."""

    quantity: Quantity
    subject: Subject = None
    options: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()


class Engine:
    """Evaluates quantities of one model; compiles each on first use and keeps the code."""

    def __init__(self, model: Model, eager: bool) -> None:
        self.model = model
        self.eager = eager or os.environ.get(EAGER, "") not in ("", "0")
        self._kernels: dict[Request, Kernel] = {}
        self._prepared: tuple[Request, ...] = ()
        self._opened: frozenset[tuple[Request, Kind]] = frozenset()
        self._doubtful: frozenset[Request] = frozenset()
        self._doors: dict[tuple[Quantity, Subject], native.Door] = {}
        self._scales: dict[ConstraintSet | None, Array] = {}

    # -- calls -------------------------------------------------------------------------------------------------

    def evaluate(
        self,
        quantity: Quantity,
        values: Sequence[Any],
        out: Array | None = None,
        *,
        wrenches: Mapping[str, Any] | None = None,
        subject: Subject = None,
        options: tuple[str, ...] = (),
    ) -> Any:
        """The quantity for one state or every state of a batch, (*batch, *shape); for traced values, as a graph."""
        if tracing() and _any_traced(values, wrenches):
            return self._traced(Request(quantity.at_any_rank or quantity, subject, options), values, wrenches, out)
        quantity = self._serving(quantity, subject)
        arguments = self._arguments(quantity, values)
        request = Request(quantity, subject, options)
        if wrenches is not None or (quantity.takes_wrenches and self._prepared):
            request = self._add_wrenches(request, {} if wrenches is None else wrenches, arguments)
        batch = batch_shape(arguments)
        shapes = [batch + shape for shape in quantity.shapes(self.model, subject)]
        if out is None:
            targets = [empty(shape) for shape in shapes]
        elif quantity.results > 1:
            raise ArgumentError(f"{quantity.name} returns {quantity.results} arrays; out takes one")
        else:
            targets = [as_output(out, shapes[0])]
        if self.model.quaternions and (self.eager or out is not None):  # a kernel finds out only when it has written
            self._check_quaternions(arguments)
        if self.eager:
            self._by_textbook(request, arguments, targets)
        else:
            self._by_machine(request, arguments, batch, targets, given=out is not None)
        if quantity.results > 1:
            return tuple(targets)
        return targets[0] if shapes[0] or out is not None else targets[0][()]

    def prepare(self, request: Request, batch: bool) -> None:
        """Compile ahead what calls with this request will need."""
        if not self.eager:
            request = request._replace(quantity=self._serving(request.quantity, request.subject))
            careful = request.quantity.at_any_rank
            with lock:
                if careful is not None:
                    self._kernel(request._replace(quantity=careful)).load("batch" if batch else "single")
                self._kernel(request).load("batch" if batch else "single")
                self._prepared = (*dict.fromkeys((*self._prepared, request)),)  # once, however often it is asked for
                self._refresh(request)

    def _serving(self, quantity: Quantity, subject: Subject) -> Quantity:
        """The quantity itself, or its form for matrices of any rank where there is no other that serves."""
        if quantity.at_any_rank is None or quantity.lacks_rank is None:
            return quantity
        return quantity.at_any_rank if self.eager or quantity.lacks_rank(self.model, subject) else quantity

    def _arguments(self, quantity: Quantity, values: Sequence[Any]) -> Arguments:
        arguments: Arguments = {}
        for name, value in zip(quantity.inputs, values, strict=True):
            core = (quantity.size(name, self.model),)
            arguments[name] = (as_floats(name, value, core), core)
        return arguments

    def _check_quaternions(self, arguments: Arguments) -> None:
        for name, (array, _) in arguments.items():
            if name.startswith("q"):
                check_quaternions(name, array, self.model.quaternions)

    def _add_wrenches(self, request: Request, wrenches: Mapping[str, Any], arguments: Arguments) -> Request:
        """The request with a place for every wrench, which are added to the arguments; zero ones where the code that is
        there has more places than needed."""
        given = self._given(wrenches, as_floats)
        request = self._fitting(Request(request.quantity, request.subject, request.options, tuple(sorted(given))))
        for name, reference in request.places:
            arguments[f"wrenches[{name!r}], {reference}"] = (given.get((name, reference), np.zeros(6)), (6,))
        return request

    def _given(self, wrenches: Any, read: Callable[[str, object, tuple[int, ...]], Array]) -> dict[Place, Array]:
        if not isinstance(wrenches, Mapping):
            raise ArgumentTypeError(f"wrenches is {short(wrenches)}; expected a dict from frame names to wrenches")
        given: dict[Place, Array] = {}
        for name, value in wrenches.items():
            wrench = value if isinstance(value, Wrench) else Wrench(value)
            place = (self.model.frame(name).name, wrench.reference)
            given[place] = read(f"wrenches[{name!r}]", wrench.value, (6,))
        return given

    def _fitting(self, request: Request) -> Request:
        """The smallest prepared request that covers this one with zero wrenches, or the request itself."""
        wanted = set(request.places)
        alike = [known for known in self._prepared if known._replace(places=()) == request._replace(places=())]
        covering = [known for known in alike if wanted <= set(known.places)]
        return min(covering, key=lambda known: len(known.places), default=request)

    # -- native calls ------------------------------------------------------------------------------------------

    def native_call(
        self, instance: object, quantity: Quantity, subject: Subject, method: FunctionType
    ) -> Callable[..., Any] | None:
        """The quantity as a built-in function bound to the instance; None where only Python can serve."""
        if self.eager or not native.available():
            return None
        quantity = self._serving(quantity, subject)
        with lock:
            door = self._doors.get((quantity, subject))
            if door is None:
                door = self._doors[quantity, subject] = native.Door(self._interface(quantity, subject, method))
                self._refresh(Request(quantity, subject))
        return door.bind(instance)

    def _interface(self, quantity: Quantity, subject: Subject, method: FunctionType) -> native.Interface:
        options = [name for name in defaults_of(method) if name not in ("self", "wrenches", "out", *quantity.inputs)]
        wrenches = native.Mapping("wrenches", (6,), Wrench, "value", "reference", "world-aligned")
        return native.Interface(
            name=quantity.name.removesuffix(" of any rank"),
            text=text_of(method),
            arrays=tuple((name, (quantity.size(name, self.model),)) for name in quantity.inputs),
            options=tuple(options),
            defaults=tuple(defaults_of(method)[name] for name in options),
            mapping=wrenches if quantity.takes_wrenches else None,
            results=quantity.shapes(self.model, subject),
            bare=quantity.results == 1,
            fallback=method,
            home=method.__module__,
        )

    def _open(self, request: Request, kind: Kind) -> None:
        """Let native calls reach the kernel of this request, which is there."""
        if (request, kind) not in self._opened:
            with lock:
                self._opened |= {(request, kind)}
                self._refresh(request)

    def _leave_to_python(self, request: Request) -> None:
        """Batches with states that are looked at and found good are computed in Python at once, not twice."""
        if request not in self._doubtful:
            with lock:
                self._doubtful |= {request}
                self._refresh(request)

    def _refresh(self, request: Request) -> None:
        """Behind the door of this quantity, just those kernels that Python would choose too."""
        door = self._doors.get((request.quantity, request.subject))
        if door is not None:
            same = (request.quantity, request.subject)
            ordered = dict.fromkeys((*self._prepared, *self._kernels))  # as Python looks through them
            known = [request for request in ordered if request[:2] == same and self._fitting(request) == request]
            door.lead_to(map(self._variant, known))

    def _variant(self, request: Request) -> native.Variant:
        kernel = self._kernels[request]
        return native.Variant(
            code=kernel.loaded("single"),
            options=request.options,
            places=request.places,
            covers=request in self._prepared,
            has_status=self._has_status(request),
            batch=None if request in self._doubtful else kernel.loaded("batch"),
        )

    # -- the textbook ------------------------------------------------------------------------------------------

    def _has_status(self, request: Request) -> bool:
        """Whether a state may be refused: for a quaternion that is not of unit length, a singular mass matrix, a wheel
        that lies flat, or what the quantity itself cannot serve; or is to be computed anew."""
        quantity = request.quantity
        judges = quantity.divides_by_mass or quantity.singularity is not None or quantity.at_any_rank is not None
        return judges or bool(self.model.quaternions) or _has_wheels(request.subject)

    def function(self, request: Request) -> Callable[..., tuple[Any, ...]]:
        """The request as a function of plain arrays of one state: a tuple of its results and, where that may be,
        whether the state is to be looked at."""
        model, quantity = self.model, request.quantity
        n_state = len(quantity.inputs)
        subject: tuple[Any, ...] = () if request.subject is None else (request.subject,)
        if isinstance(request.subject, str):
            subject = (model.frame(request.subject),)
        places = [(model.frame(name), reference) for name, reference in request.places]

        def run(*values: Array) -> tuple[Any, ...]:
            state, sixes = values[:n_state], values[n_state:]
            extra: tuple[Any, ...] = request.options
            if places:
                at_frames = [(placement, ref, six) for (placement, ref), six in zip(places, sixes, strict=True)]
                forces = at_frames if quantity.keeps_references else external_forces(model, state[0], at_frames)
                extra = (*extra, forces)
            result = quantity.algorithm(model)(model, *subject, *state, *extra)
            status: Any = False
            if quantity.at_any_rank is not None:
                *result, status = result
                result = tuple(result) if quantity.divides_by_mass else result[0]
            if quantity.divides_by_mass:
                result, pivots = result
                status = ops.logical_or(status, self._suspicious(pivots, request.subject))
            elif quantity.singularity is not None:
                result, status = result
            if _has_wheels(request.subject):
                for is_flat in Rows(model, request.subject, state[0]).flat_wheels().values():
                    status = ops.logical_or(status, is_flat)
            for name, array in zip(quantity.inputs, state, strict=True):
                if name.startswith("q"):
                    for part in model.quaternions:
                        off = ops.absolute(array[part] @ array[part] - 1.0)
                        status = ops.logical_or(status, ops.less(UNIT_TOLERANCE, off))
            packed = result if quantity.results > 1 else (_packed(result, model),)
            return (*packed, status) if self._has_status(request) else packed

        return run

    def _by_textbook(self, request: Request, arguments: Arguments, targets: Sequence[Array]) -> None:
        with np.errstate(all="ignore"):  # NaN and infinity are results, not accidents
            rows = map_rows(self.function(request), arguments)
        results = [
            np.array([row[k] for row in rows], dtype=np.float64).reshape(target.shape)
            for k, target in enumerate(targets)
        ]
        if _has_wheels(request.subject):
            found = np.array([bool(row[-1]) for row in rows], dtype=bool).reshape(batch_shape(arguments))
            self._refuse_flat_wheels(request, arguments, found)
        if request.quantity.divides_by_mass:
            batch = batch_shape(arguments)
            flags = np.array([bool(row[-1]) for row in rows], dtype=bool).reshape(batch)
            self._refuse_singular(arguments, batch, flags, request.subject)
        elif request.quantity.singularity is not None:
            _refuse(request, np.array([bool(row[-1]) for row in rows], dtype=bool).reshape(batch_shape(arguments)))
        for target, result in zip(targets, results, strict=True):
            target[...] = result

    # -- as part of a larger graph -----------------------------------------------------------------------------

    def _traced(
        self, request: Request, values: Sequence[Any], wrenches: Mapping[str, Any] | None, out: Array | None
    ) -> Any:
        """The quantity as an array of nodes; whether its state is to be refused is reported beside the results."""
        if out is not None:
            raise ArgumentError("out cannot be given inside a compiled function: what is computed there has no memory")
        arrays = [
            one_state(name, value, (request.quantity.size(name, self.model),))
            for name, value in zip(request.quantity.inputs, values, strict=True)
        ]
        given = self._given(wrenches or {}, one_state)
        request = request._replace(places=tuple(sorted(given)))
        results = self.function(request)(*arrays, *(given[place] for place in request.places))
        for condition in results[request.quantity.results :]:
            doubt(condition)
        return results[0] if request.quantity.results == 1 else results[: request.quantity.results]

    # -- machine code ------------------------------------------------------------------------------------------

    def _kernel(self, request: Request) -> Kernel:
        kernel = self._kernels.get(request)
        if kernel is None:
            with lock:
                kernel = self._kernels.get(request)
                if kernel is None:
                    quantity = request.quantity
                    outputs = [math.prod(shape) for shape in quantity.shapes(self.model, request.subject)]
                    outputs += [1] * self._has_status(request)
                    layout = Layout(tuple(n for (n,) in self._input_shapes(request)), tuple(outputs))
                    own = all(map(is_own, self.model.kinds))  # else there may be joints whose text nobody has looked at
                    identity = f"{self.model.digest}, {quantity.name}, {request[1:]}" if own else None
                    kernel = Kernel(Stored(identity, layout, host(), lambda: self.program(request)))
                    self._kernels[request] = kernel
        return kernel

    def _input_shapes(self, request: Request) -> list[tuple[int]]:
        sizes = [request.quantity.size(name, self.model) for name in request.quantity.inputs]
        return [(size,) for size in [*sizes, *[6] * len(request.places)]]

    def program(self, request: Request) -> Any:
        """The request traced and simplified."""
        importing("kinetree.compiler.program")
        from kinetree.compiler.program import build  # noqa: PLC0415 - not needed for what the disk has

        name = f"{request.quantity.name} of {self.model.name!r}"
        return build(self.function(request), self._input_shapes(request), host(), name)

    def _by_machine(
        self, request: Request, arguments: Arguments, batch: tuple[int, ...], targets: Sequence[Array], given: bool
    ) -> None:
        kernel, quantity = self._kernel(request), request.quantity
        if targets[0].size == 0:
            return
        direct = not given or self._may_write_to(targets[0], arguments, quantity)
        results = targets if direct else [empty(target.shape) for target in targets]
        flags = np.empty(batch) if self._has_status(request) else None
        kernel.run(list(arguments.values()), batch, [*results] if flags is None else [*results, flags])
        self._open(request, "batch" if batch else "single")
        if flags is not None and flags.any():
            self._check_quaternions(arguments)
            doubtful = flags != 0.0
            self._refuse_flat_wheels(request, arguments, doubtful)
            if quantity.at_any_rank is not None:
                doubtful = self._compute_anew(request, arguments, batch, results, doubtful)
            if quantity.divides_by_mass:
                self._refuse_singular(arguments, batch, doubtful, request.subject)
                self._leave_to_python(request)
            _refuse(request, doubtful)
        if not direct:
            targets[0][...] = results[0]

    def _compute_anew(
        self, request: Request, arguments: Arguments, batch: tuple[int, ...], results: Sequence[Array], flags: Array
    ) -> Array:
        """The states that are flagged, by the form for any rank; which of them are still to be looked at."""
        assert request.quantity.at_any_rank is not None
        request = request._replace(quantity=request.quantity.at_any_rank)
        chosen = [
            (np.broadcast_to(array, batch + core)[flags].reshape(-1, *core), core) for array, core in arguments.values()
        ]
        count = int(flags.sum())
        again = [empty((count, *shape)) for shape in request.quantity.shapes(self.model, request.subject)]
        doubts = [empty((count,))] if self._has_status(request) else []
        self._kernel(request).run(chosen, (count,), [*again, *doubts])
        for result, anew in zip(results, again, strict=True):
            result[flags] = anew if batch else anew[0]
        left = np.zeros(batch, dtype=bool)
        left[flags] = doubts[0] != 0.0 if doubts else False
        return left

    @staticmethod
    def _may_write_to(out: Array, arguments: Arguments, quantity: Quantity) -> bool:
        """Whether a kernel may write to the caller's array while it reads the others, and without being asked again."""
        if (
            quantity.divides_by_mass
            or quantity.singularity is not None
            or quantity.at_any_rank is not None
            or not (out.flags.c_contiguous and out.flags.aligned)
        ):
            return False  # the first may yet fail, and then the array must stay as it is
        return not any(np.may_share_memory(out, array) for array, _ in arguments.values())

    # -- singular mass matrices --------------------------------------------------------------------------------

    def _inertia(self, subject: Subject, q: Array) -> Array:
        """What is divided by: the mass matrix, and what constraints add to one that is singular everywhere."""
        if isinstance(subject, ConstraintSet):
            return constraints.inertia(self.model, subject, q)
        return crba.mass_matrix(self.model, q)

    def _diagonal_scale(self, subject: Subject) -> Array:
        """Its largest diagonal at a few configurations, (nv,)."""
        kept = subject if isinstance(subject, ConstraintSet) else None
        scale = self._scales.get(kept)
        if scale is None:
            diagonals = [self._inertia(kept, q).diagonal() for q in some_configurations(self.model)]
            scale = self._scales[kept] = np.abs(diagonals).max(axis=0)
        return scale

    def _suspicious(self, pivots: Array, subject: Subject) -> Any:
        """Whether any pivot of the mass matrix is small enough to look closer."""
        found: Any = False
        for pivot, scale in zip(pivots, self._diagonal_scale(subject), strict=True):
            found = ops.logical_or(found, ops.less_equal(pivot, SUSPICIOUS_PIVOT * float(scale)))
        return found

    def refuse_singular(self, q: Array, pivots: Array) -> None:
        """Raises for a state whose mass matrix, factored into these pivots, cannot be divided by; of a traced state a
        compiled function reports it."""
        found = self._suspicious(pivots, None)
        if is_traced(found):
            doubt(found)
        elif found:
            self._refuse_singular_state(q, (), None)

    def _refuse_flat_wheels(self, request: Request, arguments: Arguments, flags: Array) -> None:
        """Raises for the first state, of those flagged, in which the axle of a wheel is along the normal."""
        if not _has_wheels(request.subject):
            return
        q, core = arguments["q"]
        states = np.broadcast_to(q, flags.shape + core)
        for index in np.argwhere(flags):
            for contact, is_flat in Rows(self.model, request.subject, states[tuple(index)]).flat_wheels().items():
                if is_flat:
                    where = f"q[{', '.join(map(str, index))}]" if len(index) else "this q"
                    raise ArgumentError(
                        f"the wheel of frame {contact.frames[0]!r} lies flat at {where}, its axle along the normal of "
                        "the plane; expected a wheel that stands on its rim"
                    )

    def _refuse_singular(self, arguments: Arguments, batch: tuple[int, ...], flags: Array, subject: Subject) -> None:
        """Raises for the first state, of those flagged, whose mass matrix really cannot be divided by."""
        q, core = arguments["q"]
        states = np.broadcast_to(q, batch + core)
        for index in np.argwhere(flags):
            self._refuse_singular_state(states[tuple(index)], tuple(map(int, index)), subject)

    def _refuse_singular_state(self, q: Array, index: tuple[int, ...], subject: Subject) -> None:
        model = self.model
        held = isinstance(subject, ConstraintSet) and constraints.held_inertia(model) > 0.0
        M = self._inertia(subject, q) if held else self.evaluate(OF_ROBOT["mass_matrix"], (q,))
        pivots = pivots_of(M)
        small = np.flatnonzero(pivots <= SINGULAR_PIVOT * np.abs(M.diagonal()))
        if not len(small):
            return
        worst = small[-1]  # elimination runs from the tips: the last is the cause, the others follow
        joint = next(owner for owner in model.owners if worst < owner.iv + owner.nv)
        where = f"q[{', '.join(map(str, index))}]" if index else "this q"
        if pivots[worst] < -SINGULAR_PIVOT * abs(M[worst, worst]):
            reason = f"not positive definite at {where}: joint {joint.name!r} has negative inertia; see robot.check()"
        else:
            reason = f"singular at {where}: joint {joint.name!r} can move without moving any mass"
            reason += ", and the constraints do not determine how" if held else ""
        raise SingularMassMatrixError(f"the mass matrix of {model.name!r} is {reason}")


def _has_wheels(subject: Subject) -> TypeGuard[ConstraintSet]:
    """Whether constraints are contacts of wheels, among others."""
    return isinstance(subject, ConstraintSet) and subject.has_wheels


def _refuse(request: Request, flags: Array) -> None:
    """Raises for the first state that the quantity itself refuses."""
    if request.quantity.singularity is not None and flags.any():
        index = tuple(map(int, np.argwhere(flags)[0]))
        where = f"q[{', '.join(map(str, index))}]" if index else "this q"
        name, reason = request.quantity.name, request.quantity.singularity
        raise ArgumentError(f"{request.subject!r} has no {name} at {where}: {reason}")


def _any_traced(values: Sequence[Any], wrenches: Any) -> bool:
    forces = wrenches.values() if isinstance(wrenches, Mapping) else ()
    plain = [force.value if isinstance(force, Wrench) else force for force in forces]
    return any(map(is_traced, (*values, *plain)))


def one_state(name: str, value: object, core: tuple[int, ...]) -> Array:
    """An argument inside a compiled function: traced or plain numbers, of one state."""
    array = np.array(value, dtype=object) if is_traced(value) else as_floats(name, value, core)
    if array.shape != core:
        raise ArgumentError(f"{name} has shape {array.shape}; expected {core}, since compiled functions see one state")
    return array


def _packed(result: Any, model: Model) -> Any:
    """A motion as a 6-vector; anything else as it is."""
    return result.vector(model.spatial_order) if hasattr(result, "vector") else result
