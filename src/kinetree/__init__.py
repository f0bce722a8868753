"""kinetree: kinematics, dynamics and control of articulated robots."""

from typing import TYPE_CHECKING

from kinetree import cache, edit, linalg, positions, rotations, se3, solids
from kinetree.base.lazy_imports import imported_later
from kinetree.base.originals import note
from kinetree.compiler import get_num_threads, set_num_threads, set_result_memory
from kinetree.convert import convert
from kinetree.equations.lagrange import Lagrange, Spring
from kinetree.errors import (
    ArgumentError,
    ArgumentTypeError,
    CacheWarning,
    DivergenceError,
    DivergenceWarning,
    IncompleteWarning,
    InfeasibleError,
    IterationLimitError,
    KinetreeError,
    ModelError,
    ModelWarning,
    NotConvexError,
    NotFiniteError,
    PlatformError,
    PlatformWarning,
    QuadraticProgramError,
    SingularMassMatrixError,
    UnboundedError,
    UnknownNameError,
)
from kinetree.functions.derivatives import gradient, hessian, jacobian
from kinetree.functions.law import compile, zeros
from kinetree.interop.exporters import to_casadi, to_jax, to_torch
from kinetree.model import Finding, JointDynamics, Limits, Mimic, Model, ModelBuilder, random_model
from kinetree.model.actuators import Actuator, FrameDrive, SliderCrank
from kinetree.model.constraints import Contact, Coupling, Loop, TendonCoupling
from kinetree.model.fluid import DragBox, DragEllipsoid, Fluid
from kinetree.model.muscles import Muscle
from kinetree.model.tendons import Pulley, Tendon, Wrap
from kinetree.ops import (
    absolute,
    atan2,
    clip,
    cos,
    cross,
    equal,
    exp,
    less,
    less_equal,
    log,
    logical_and,
    logical_not,
    logical_or,
    maximum,
    minimum,
    sign,
    sin,
    skew,
    sqrt,
    tan,
    tanh,
    unskew,
    where,
)
from kinetree.robot import Robot
from kinetree.robot.constrained import Constrained
from kinetree.robot.dh import DHLink, from_dh
from kinetree.robot.frame import Frame
from kinetree.robot.load import bundled_robots, load
from kinetree.robot.wrench import Wrench
from kinetree.spatial import Force, Inertia, Motion, Transform

if TYPE_CHECKING:
    from kinetree import control, flight, identification, ik, plot, simulation, solvers, tasks, trajectories
    from kinetree.interop.c import to_c
    from kinetree.interop.objects import to_object
    from kinetree.simulation.events import Event
    from kinetree.simulation.forces import LimitStops
    from kinetree.simulation.trajectory import Trajectory
else:
    __getattr__, __dir__ = imported_later(
        __name__,
        (
            "control", "environments", "flight", "identification", "ik", "plot", "scale", "simulation", "solvers",
            "tasks", "trajectories", "viewer",
        ),
        {
            "Event": "simulation.events", "LimitStops": "simulation.forces", "Trajectory": "simulation.trajectory",
            "to_c": "interop.c", "to_object": "interop.objects",
        },
    )  # fmt: skip

__version__ = "0.2.0.dev0"

note(__name__)

__all__ = [
    "Actuator", "ArgumentError", "ArgumentTypeError", "CacheWarning", "Constrained", "Contact", "Coupling",
    "DHLink", "DivergenceError", "DivergenceWarning", "DragBox", "DragEllipsoid", "Event", "Finding", "Fluid",
    "Force", "Frame", "FrameDrive", "IncompleteWarning", "Inertia", "InfeasibleError", "IterationLimitError",
    "JointDynamics", "KinetreeError", "Lagrange", "LimitStops", "Limits", "Loop", "Mimic", "Model",
    "ModelBuilder", "ModelError", "ModelWarning", "Motion", "Muscle", "NotConvexError", "NotFiniteError",
    "PlatformError", "PlatformWarning", "Pulley", "QuadraticProgramError", "Robot", "SingularMassMatrixError",
    "SliderCrank", "Spring", "Tendon", "TendonCoupling", "Trajectory", "Transform", "UnboundedError",
    "UnknownNameError", "Wrap", "Wrench", "absolute", "atan2", "bundled_robots", "cache", "clip", "compile",
    "control", "convert", "cos", "cross", "edit", "equal", "exp", "flight", "from_dh", "get_num_threads",
    "gradient", "hessian", "identification", "ik", "jacobian", "less", "less_equal", "linalg", "load", "log",
    "logical_and", "logical_not", "logical_or", "maximum", "minimum", "plot", "positions", "random_model",
    "rotations", "se3", "set_num_threads", "set_result_memory", "sign", "simulation", "sin", "skew", "solids",
    "solvers", "sqrt", "tan", "tanh", "tasks", "to_c", "to_casadi", "to_jax", "to_object", "to_torch",
    "trajectories", "unskew", "where", "zeros",
]  # fmt: skip
