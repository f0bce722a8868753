"""What other parts of the library do with a robot: constraints, inverse kinematics, rollouts, viewer, equations.

Each is imported when it is first called, because it imports robots.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from kinetree.base.lazy_imports import extra, importing
from kinetree.equations.named import as_kinds
from kinetree.model.constraints import Constraint
from kinetree.robot.quantity import HasQuantities

if TYPE_CHECKING:
    from kinetree.ik.solution import Solution
    from kinetree.interop.sympy import Equations
    from kinetree.robot.constrained import Constrained
    from kinetree.simulation.dynamics import ContactEnvironment
    from kinetree.simulation.trajectory import Trajectory
    from kinetree.viewer.viewer import Viewer


class Applications(HasQuantities):
    """Methods of a `Robot` that lead to other parts of the library."""

    def constrained(
        self,
        constraints: Constraint | Iterable[Constraint] = (),
        *,
        damping: float = 1e-8,
        frequency: float = 0.0,
        damping_ratio: float = 1.0,
        actuated: Iterable[str] | None = None,
        loops: bool = True,
    ) -> Constrained:
        """The robot with frames fixed to the world (`kt.Contact`) or to each other (`kt.Loop`), and joints held to each
        other (`kt.Coupling`, `kt.TendonCoupling`), besides its own `loops`.

        damping         regularization of the solve, relative to the inverse inertia of each constraint; constraints
                        that differ by less count as redundant, other results are not affected
        frequency       decay rate of position and velocity errors [rad/s], with `damping_ratio`; zero: no correction
        actuated        names of the joints with a motor, for inverse dynamics; by default `actuated_joints`
        loops           whether the robot's own `loops` hold, too
        """
        importing("kinetree.robot.constrained")
        from kinetree.robot.constrained import constrained  # noqa: PLC0415 - it imports robots

        return constrained(self._robot, constraints, damping, frequency, damping_ratio, actuated, loops)

    def ik(
        self,
        frame: str | Sequence[str],
        target: ArrayLike,
        q0: ArrayLike | None = None,
        *,
        position_tolerance: float = 1e-6,
        rotation_tolerance: float = 1e-6,
        attempts: int = 300,
        parameters: ArrayLike | None = None,
    ) -> Solution:
        """A configuration within limits at which a frame has a given pose, (…, 4, 4), or its origin a position, (…, 3).

        The solution has .q .success .residual .iterations .reason, with the batch axes of target and q0. For several
        frames, `frame` is a list of names and targets are (…, k, 4, 4). The search starts from q0, whose solution is
        preferred if there is one, and then from up to `attempts` starts in all. Joints that do not move the frames
        stay as in q0.

        position_tolerance   [m]
        rotation_tolerance   [rad]
        parameters           those of a parametric robot, (…, n), with batch axes; its own unless given
        """
        importing("kinetree.ik.inverse")
        from kinetree.ik.inverse import ik  # noqa: PLC0415 - it imports robots

        return ik(self._robot, frame, target, q0, position_tolerance, rotation_tolerance, attempts, parameters)

    def rollout(
        self,
        q0: ArrayLike,
        v0: ArrayLike,
        law_or_controls: Any,
        dt: float,
        steps: int,
        integrator: str = "semi-implicit-euler",
        *,
        contact: ContactEnvironment | None = None,
        forces: Any = (),
        wrenches: Mapping[str, Any] | None = None,
        parameters: Mapping[str, Any] | ArrayLike | None = None,
        states: Mapping[str, Any] | None = None,
        record: Iterable[str] = ("q", "v"),
        every: int = 1,
        tolerance: float | None = None,
        events: Any = (),
    ) -> Trajectory:
        """The motion from q0, v0 over `steps` steps of `dt` seconds: .t (steps + 1,), .q (…, steps + 1, nq), .v.

        law_or_controls   efforts, constant during a step: (…, steps, nv) for every step, (nv,) for all states and
                          steps, or (…, 1, nv) for each state; the axis before the last, if there is one, is always
                          that of steps. Or a compiled function of (robot, q, v) or (robot, q, v, t) that returns
                          efforts, or a dict with them as "tau"; or None for zero efforts. Python calls a plain function
                          of (q, v, t) before every step with all states, which takes microseconds, and holds its
                          efforts during the step
        integrator        "semi-implicit-euler" (order 1), "midpoint" or "heun" (2), "rk4" (4), "implicit" (2) for stiff
                          systems, "variational" (2) for energy and momentum over long times, or "dormand-prince" (5)
                          with adaptive steps, interpolated at every `dt`
        contact           the contact environment of the robot, if any
        forces            kt.Spring, kt.LimitStops, or several of them, in addition to damping, friction and springs of
                          the joints
        wrenches          wrenches by frame name, (…, steps, 6), (6,) or (…, 1, 6), with axes as for controls: arrays,
                          kt.Wrench, or compiled functions that return them
        parameters        those of a parametric robot, (…, n), per state or common to all states; or a dict of arrays
                          for further arguments of the compiled functions, and for the robot under "parameters"
        states            first values of arguments that the compiled function carries from step to step, such as an
                          integral: its dict has their next values, under the same names
        record            names to record: "q", "v", "tau", other names in the dict of a law, and outputs of the contact
        every             number of steps between records, a divisor of `steps`; with every=steps only the first and the
                          last state are recorded
        tolerance         error per step of "dormand-prince" [rad, m, rad/s, m/s], and relative to velocities; by
                          default 1e-8
        events            kt.Event, or several of them, located by "dormand-prince"; .events lists where they occur

        The robot's own `loops` hold. A state that diverges stays at its last finite value, and .diverged marks it;
        other states continue.
        """
        importing("kinetree.simulation.rollout")
        from kinetree.simulation.rollout import rollout  # noqa: PLC0415 - it imports robots

        return rollout(
            self._robot, q0, v0, law_or_controls, dt, steps, integrator, contact=contact, forces=forces,
            wrenches=wrenches, parameters=parameters, states=states, record=record, every=every, tolerance=tolerance,
            events=events,
        )  # fmt: skip

    def view(self, motion: Any = None, **options: Any) -> Viewer:
        """A viewer that shows the robot in the browser, at `.url`, until `.close()`; returns immediately
        (`pip install 'kinetree[viewer]'`).

        motion    motion to play: a rollout or any object with .t and .q, a pair (t, q), or a joint trajectory;
                  {"before": …, "after": …} plays several side by side
        options   q=, contacts=, show=, host=, port=, open=, title=, light=: see `kinetree.viewer.Viewer`
        """
        importing("kinetree.viewer.viewer")
        from kinetree.viewer.viewer import view  # noqa: PLC0415 - it imports robots, and needs an extra

        return view(self._robot, motion, **options)

    def equations(self, symbolic: bool | str | Iterable[str] = (), factored: bool | None = None) -> Equations:
        """The equations of motion as SymPy expressions .M .C .V .G .F .tau in q1, v1, a1, …, which can be written as
        LaTeX and as functions in Python and C (`pip install 'kinetree[sympy]'`).

        symbolic   parameters to keep as symbols: some of "mass", "length", "inertia", "gravity"; True for all
        factored   False: every expression is expanded in textbook form. True: a list of common subexpressions, as for
                   code, whose size grows linearly with the joints. None: chosen by the number of joints
        """
        kinds = as_kinds(symbolic)
        with extra("sympy", "equations need the package sympy"):
            importing("kinetree.interop.sympy")
            from kinetree.interop.sympy import equations  # noqa: PLC0415
        return equations(self.model, kinds, factored)
