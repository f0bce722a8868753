"""One state of a floating arm in the coordinates of Pinocchio and of MuJoCo, and back."""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

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

# -- picture: the matrix T(q) with v_peer = T v: other axes for the base, another order of joints ----
dog = kt.load("quadruped", base="floating", base_velocity="mixed")
q = dog.random(rng)
figure = Figure(figsize=(11, 4.2), layout="constrained")
for axes, peer in zip(figure.subplots(1, 3), ("pinocchio", "mujoco", "drake"), strict=True):
    T = kt.convert(dog, "v", np.eye(dog.nv), to=peer, q=q).T
    picture = axes.imshow(T, cmap="RdBu", vmin=-1.0, vmax=1.0)
    axes.set(title=peer, xlabel="v of kinetree, mixed", ylabel="v of the peer")
figure.suptitle(f"velocities of a {dog.name}")
figure.colorbar(picture, ax=figure.axes)
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "06_conventions_of_others.png", dpi=120)
print("drawn in", folder / "06_conventions_of_others.png")
