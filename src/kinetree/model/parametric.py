"""Numbers of a model that are inputs of its code, so that they may change from call to call and from state to state.

inertial    of a body, about its own origin: m, m c_x, m c_y, m c_z, Ixx, Ixy, Iyy, Ixz, Iyz, Izz
joint       of every coordinate of a joint: armature; and, if passive forces are part of the dynamics, damping,
            friction, stiffness and rest: first that of all joints, then the next
placement   of a joint in the frame of its parent body, or of a frame in that of its body: position x, y, z [m] and
            rotation vector rx, ry, rz [rad]

Inertial parameters come first, then those of joints, then placements. With all bodies and joints the order is that of
the columns of the regressor, as far as these go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from kinetree.errors import ArgumentError, ArgumentTypeError, one_of, short, unknown
from kinetree.model.fluid import drag_shapes
from kinetree.model.joints import Joint
from kinetree.model.tree import Model
from kinetree.ops import Array, is_scalar_array
from kinetree.spatial import Inertia, Transform
from kinetree.spatial.rotation_vector import matrix_from_rotation_vector, rotation_vector_from_matrix

KINDS = ("inertial", "joint", "placement")
Choice: TypeAlias = str | Iterable[str] | Mapping[str, bool | str | Iterable[str]] | None
"""Which numbers are inputs: kinds, or for every kind True or the names of bodies, of joints, of joints and frames."""

INERTIAL = ("mass", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
ROTORS = ("armature",)
PASSIVE = ("damping", "friction", "stiffness", "rest")
PLACEMENT = ("x", "y", "z", "rx", "ry", "rz")


@dataclass(frozen=True, eq=False)
class Parametric:
    """Which numbers of a model are inputs, by the index of bodies, joints and frames, and what they are."""

    inertial: tuple[int, ...]
    joint: tuple[int, ...]
    placement: tuple[int, ...]
    frames: tuple[int, ...]
    values: Array
    """The model's own numbers; symbols, in a model that is part of a traced function."""

    @property
    def size(self) -> int:
        """The number of parameters."""
        return len(self.values)


def as_choice(parametric: Choice) -> dict[str, Any]:
    """For every kind that is chosen, True or a tuple of names."""
    if parametric is None:
        return {}
    if isinstance(parametric, str) or not isinstance(parametric, (Mapping, Iterable)):
        parametric = (parametric,)
    chosen: dict[str, Any] = {}
    for kind in parametric:
        which: Any = parametric[kind] if isinstance(parametric, Mapping) else True
        one_of("parametric", kind, KINDS)
        if isinstance(which, str):
            which = (which,)
        if not isinstance(which, (bool, Iterable)):
            raise ArgumentTypeError(f"parametric[{kind!r}] is {short(which)}; expected True, or names")
        if which is not False:
            chosen[kind] = True if which is True else tuple(dict.fromkeys(which))
    return {kind: chosen[kind] for kind in KINDS if kind in chosen}


def with_inputs(model: Model, parametric: Choice, lenient: bool = False) -> Model:
    """The model with some of its numbers as inputs of its code. Names that do not exist are refused, or left out."""
    chosen = as_choice(parametric)
    if not chosen:
        return model
    bodies = {name: i for i, name in enumerate(model.names) if i}
    joints = {joint.name: i for i, joint in enumerate(model.joints) if i}
    moving = {name: i for name, i in joints.items() if model.joints[i].nv}
    placed = {name: i for name, i in joints.items() if model.joints[i] is not model.floating_base}
    frames = {frame.name: i for i, frame in enumerate(model.frames)}
    wanted = chosen.get("placement", ())
    named = () if wanted is True else wanted
    for name in named:
        if not lenient and name not in placed and name not in frames:
            raise unknown("joint or frame", name, (*placed, *frames))
    inputs = Parametric(
        _indices("body", chosen.get("inertial", ()), bodies, lenient),
        _indices("joint", chosen.get("joint", ()), moving, lenient),
        tuple(placed.values()) if wanted is True else tuple(placed[name] for name in named if name in placed),
        tuple(frames[name] for name in named if name in frames and name not in placed),
        np.zeros(0),
    )
    return replace(model, parametric=replace(inputs, values=_numbers(model, inputs)))


def _indices(kind: str, chosen: Any, known: Mapping[str, int], lenient: bool) -> tuple[int, ...]:
    if chosen is True:
        return tuple(known.values())
    for name in chosen:
        if name not in known and not lenient:
            raise unknown(kind, name, known)
    return tuple(sorted(known[name] for name in chosen if name in known))


def parameter_names(model: Model) -> tuple[str, ...]:
    """The name of every parameter, such as 'forearm.mass', 'elbow.damping' or 'elbow.x'."""
    inputs = _inputs(model)
    names = [f"{model.names[i]}.{name}" for i in inputs.inertial for name in INERTIAL]
    names += [
        f"{joint.name}.{kind}" + (f"[{k}]" if joint.nv > 1 else "") for kind, joint, k in _joint_parameters(model)
    ]
    names += [f"{model.joints[i].name}.{name}" for i in inputs.placement for name in PLACEMENT]
    names += [f"{model.frames[i].name}.{name}" for i in inputs.frames for name in PLACEMENT]
    return tuple(names)


def joint_kinds(model: Model) -> tuple[str, ...]:
    """What a parametric joint of this model has."""
    return (*ROTORS, *PASSIVE) if model.passive else ROTORS


def _joint_parameters(model: Model) -> list[tuple[str, Joint, int]]:
    """Kind, joint and coordinate of the parameters of joints, in their order."""
    joints = [model.joints[i] for i in _inputs(model).joint]
    return [(kind, joint, k) for kind in joint_kinds(model) for joint in joints for k in range(joint.nv)]


def parameters_of(model: Model) -> Array:
    """The parameters of a parametric model."""
    return _inputs(model).values


def moving_mass(model: Model, parameters: Array) -> Any:
    """The mass of all that moves, with these parameters, (…, n): a number, or (…, 1)."""
    inputs = _inputs(model)
    columns = [10 * k for k, i in enumerate(inputs.inertial) if i in model.moving]
    rest = sum(model.inertias[i].mass for i in model.moving if i not in inputs.inertial)
    total = rest + parameters[..., columns].sum(-1, keepdims=True)
    return total if total.ndim > 1 else total[0]


def _inputs(model: Model) -> Parametric:
    if model.parametric is None:
        raise ArgumentError(
            f"{model.name!r} takes no parameters: its numbers are part of its code; expected a robot with inputs, as "
            "kt.load(…, parametric=('inertial',)) gives"
        )
    return model.parametric


def _numbers(model: Model, inputs: Parametric) -> Array:
    """The parameters of a model of numbers."""
    inertial = [model.inertias[i].parameters() for i in inputs.inertial]
    joints = _joint_parameters(replace(model, parametric=inputs))
    dynamics = [float(np.broadcast_to(getattr(joint.dynamics, kind), joint.nv)[k]) for kind, joint, k in joints]
    transforms = [model.placements[i] for i in inputs.placement] + [model.frames[i].X for i in inputs.frames]
    placements = [np.concatenate([X.p, rotation_vector_from_matrix(X.R.T)]) for X in transforms]
    return np.concatenate([*inertial, np.array(dynamics), *placements], dtype=float)


# -- other numbers -----------------------------------------------------------------------------------------------------


def applied(model: Model, parameters: Array) -> Model:
    """The same model with other parameters, (size,), numbers or symbols."""
    inputs = _inputs(model)
    if parameters is inputs.values:
        return model
    inertias, joints = list(model.inertias), list(model.joints)
    placements, frames = list(model.placements), list(model.frames)
    for k, i in enumerate(inputs.inertial):
        inertias[i] = Inertia.from_parameters(parameters[10 * k : 10 * k + 10])
    rest = parameters[10 * len(inputs.inertial) :]
    kinds = joint_kinds(model)
    sizes = [model.joints[i].nv for i in inputs.joint]
    count = sum(sizes)
    of_kind = {kind: rest[k * count : (k + 1) * count] for k, kind in enumerate(kinds)}
    for i, n, end in zip(inputs.joint, sizes, np.cumsum(sizes), strict=True):
        own = {kind: _per_coordinate(numbers[end - n : end]) for kind, numbers in of_kind.items()}
        joints[i] = replace(joints[i], dynamics=joints[i].dynamics.unchecked(**own))
    sixes = iter(rest[len(kinds) * count :].reshape(-1, 6))
    for i in inputs.placement:
        placements[i] = _transform(next(sixes))
    for i in inputs.frames:
        frames[i] = replace(frames[i], X=_transform(next(sixes)))
    return replace(
        model,
        inertias=tuple(inertias),
        joints=tuple(joints),
        placements=tuple(placements),
        frames=tuple(frames),
        parametric=replace(inputs, values=parameters),
    )


def _per_coordinate(numbers: Array) -> Any:
    values = tuple(numbers.tolist())
    return values[0] if len(values) == 1 else values


def _transform(six: Array) -> Transform:
    """^B X_A of the position and rotation vector of B in A."""
    p = six[:3]
    return Transform.unchecked(matrix_from_rotation_vector(six[3:]).T, p if is_scalar_array(p) else p.copy())


def redescribed(model: Model) -> Model:
    """The model with its parameters also in the description that editing and writing start from.

    All of the inertia of a body is then that of the link that names it. A link that is a parametric frame has no
    description: in a file it would take along all that is fixed to it.
    """
    inputs, description = _inputs(model), model.description
    if description is None or any(model.frames[i].name in description.links for i in inputs.frames):
        return replace(model, description=None)
    links, joints, sites = dict(description.links), dict(description.joints), dict(description.sites)
    placed = {frame.name: frame for frame in model.frames}
    for name, own in description.links.items():
        if placed[name].body in inputs.inertial:
            body = placed[name].body
            inertia = model.inertias[body] if name == model.names[body] else Inertia.zero()
            drag = drag_shapes(own) if description.fluid.is_present else own.drag
            links[name] = replace(own, inertia=inertia, drag=drag)
    for i in inputs.joint:
        joint = model.joints[i]
        if joint.name in joints:
            joints[joint.name] = replace(joints[joint.name], dynamics=replace(joint.dynamics))  # checked again
    for i in inputs.placement:
        own_joint = joints[model.joints[i].name]
        above = placed[own_joint.parent].X.inverse()
        joints[own_joint.name] = replace(own_joint, placement=model.placements[i] * above)
    for i in inputs.frames:
        link, _ = sites[model.frames[i].name]
        sites[model.frames[i].name] = (link, model.frames[i].X * placed[link].X.inverse())
    return replace(model, description=replace(description, links=links, joints=joints, sites=sites))


def blank(model: Model) -> Model:
    """The model with zeros for all parameters: what its code depends on."""
    return applied(model, np.zeros(_inputs(model).size))


def representative(model: Model) -> Model:
    """The model with numbers in general position for its parameters: decisions that code takes before it knows the
    numbers are those for this one."""
    inputs = _inputs(model)
    rng = np.random.default_rng(0)
    body = Inertia.from_com(1.0, (0.1, 0.2, 0.3), np.diag([0.3, 0.4, 0.5])).parameters()
    bodies = np.tile(body, len(inputs.inertial)) * rng.uniform(0.5, 1.5, 10 * len(inputs.inertial))
    places = rng.uniform(-1.0, 1.0, 6 * (len(inputs.placement) + len(inputs.frames)))
    return applied(model, np.concatenate([bodies, np.zeros(inputs.size - len(bodies) - len(places)), places]))
