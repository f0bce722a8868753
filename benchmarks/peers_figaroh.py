"""Inertias of an arm from a recording in MuJoCo, beside FIGAROH's identification: time, and torques of another motion.

The recording is that of `peers_sysid.py`. FIGAROH solves a semidefinite program after its own regression, which is
linear in the parameters too. It differentiates by its own filter, or gets the positions, velocities and accelerations
of kinetree's. It needs `pip install figaroh cvxopt 'mujoco[sysid]'`.
"""

from __future__ import annotations

import contextlib
import io
import logging
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from figaroh.data.trajectory import TrajectoryData
from figaroh.identification import BaseIdentification
from figaroh.tools.load_robot import load_robot
from measure import save
from numpy.typing import NDArray
from peers_sysid import DT, motion, perturbed, recorded
from table import show

import kinetree as kt
from kinetree.identification.differentiation import completed
from kinetree.identification.recording import read_recording

Array = NDArray[np.float64]
CUTOFFS = (5.0, 10.0, 20.0, 40.0)
"""Of FIGAROH's filter [Hz]; the best one counts."""
EDGE = 200
"""Samples at both ends that FIGAROH leaves out, as its filter knows one side only there."""


def config(names: tuple[str, ...], cutoff: float) -> dict[str, Any]:
    """FIGAROH's settings: inertias only, physically consistent."""
    parts = {"friction": False, "actuator_inertia": False, "joint_offset": False}
    task = {
        "type": "identification",
        "problem": {"model_components": parts},
        "signal_processing": {"sampling_frequency": 1.0 / DT, "cutoff_frequency": cutoff},
        "select_stage": "physical_fit",
        "physical_fit": {"enabled": True},
    }
    properties = {"joints": {"active_joints": list(names)}, "coupling": {"has_coupled_wrist": False}}
    return {"robot": {"name": "arm", "properties": properties}, "tasks": {"identification": task}}


def by_figaroh(nominal: kt.Robot, data: dict[str, Array], cutoff: float | None) -> tuple[float, kt.Robot | None]:
    """Seconds and FIGAROH's robot (None if it rejects its estimate). Without a cutoff, v and a are given."""
    names = nominal.joint_names
    inside = np.ones(len(data["t"]), dtype=bool)
    if cutoff is not None:
        inside[:EDGE] = inside[-EDGE:] = False

    class Identification(BaseIdentification):  # type: ignore[misc]
        def load_trajectory_data(self, data_source: str | None = None) -> TrajectoryData:
            return TrajectoryData(
                data["t"], names, data["q"], data["tau"], "joint_torque", "N m",
                dq=data.get("v"), ddq=data.get("a"), mask=inside,
            )  # fmt: skip

        def process_kinematics_data(self, filter_config: Any = None) -> None:
            if cutoff is None:
                self.processed_data = dict(self.raw_data)
            else:
                super().process_kinematics_data(filter_config)

    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        urdf, settings = Path(folder, "arm.urdf"), Path(folder, "settings.yaml")
        nominal.to_urdf(urdf)
        settings.write_text(yaml.safe_dump(config(names, cutoff or 20.0)))
        robot = load_robot(str(urdf), package_dirs=folder)
        start = time.perf_counter()
        found = Identification(robot, str(settings))
        joints = [robot.model.joints[robot.model.getJointId(name)] for name in names]
        found.identif_config |= {"act_idxq": [j.idx_q for j in joints], "act_idxv": [j.idx_v for j in joints]}
        found.initialize()
        found.solve(plotting=False)
        seconds = time.perf_counter() - start
        if not found.selected.accepted:
            return seconds, None
        written = found.export_urdf(str(urdf), str(Path(folder, "found.urdf")), merged_bodies="subtract_fixed")
        return seconds, kt.load(written)


def main() -> None:
    """Measure, print, save."""
    logging.disable()
    rng = np.random.default_rng(0)
    nominal = kt.load("arm6", parametric=("inertial",))
    truth = perturbed(nominal, rng)
    log = recorded(truth, nominal, rng)
    other = motion(nominal, 2)
    wanted = truth.inverse_dynamics(*other)

    def error(robot: kt.Robot | None) -> float | None:
        if robot is None:
            return None
        return float(np.sqrt(np.mean((robot.inverse_dynamics(*other) - wanted) ** 2) / np.mean(wanted**2)))

    rows: list[dict[str, Any]] = [{"method": "nominal robot", "seconds": None, "error of torques": error(nominal)}]
    kt.identification.identify(nominal.baked, log, friction=False)  # compiles
    start = time.perf_counter()
    result = kt.identification.identify(nominal.baked, log, friction=False)
    seconds = time.perf_counter() - start
    rows.append({"method": "kinetree", "seconds": seconds, "error of torques": error(result.robot)})
    (measured,) = read_recording(nominal, log)
    smooth, _ = completed(nominal, measured)
    given = {name: getattr(smooth, name) for name in ("t", "q", "v", "a", "tau")}
    seconds, robot = by_figaroh(nominal.baked, given, None)
    rows.append({"method": "FIGAROH, kinetree's filter", "seconds": seconds, "error of torques": error(robot)})
    for cutoff in CUTOFFS:
        seconds, robot = by_figaroh(nominal.baked, log, cutoff)
        method = f"FIGAROH, own filter, {cutoff:g} Hz"
        rows.append({"method": method, "seconds": seconds, "error of torques": error(robot)})
    show("Inertias from four seconds of motion, beside FIGAROH", rows)
    print("saved", save("figaroh", {"samples": len(log["t"]), "rows": rows}))


if __name__ == "__main__":
    main()
