"""One state of a floating arm in the coordinates of Pinocchio and of MuJoCo, and back."""

import numpy as np

import kinetree as kt

np.set_printoptions(precision=3, suppress=True, linewidth=110)
robot = kt.load("arm6", base="floating", base_velocity="mixed")
rng = np.random.default_rng(0)
q, v, a = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)

print("kinetree    v", v[:6], "(base: world axes)")
for peer in ("pinocchio", "mujoco"):
    q_peer = kt.convert(robot, "q", q, to=peer)
    v_peer = kt.convert(robot, "v", v, to=peer, q=q)
    a_peer = kt.convert(robot, "a", a, to=peer, q=q, v=v)
    tau_peer = kt.convert(robot, "tau", robot.inverse_dynamics(q, v, a), to=peer, q=q)
    print(f"{peer:11s} v", v_peer[:6])
    print("            power τᵀv:", round(tau_peer @ v_peer, 9), "the same in every convention")
    back = kt.convert(robot, "a", a_peer, source=peer, q=q_peer, v=v_peer)
    assert np.allclose(back, a)
