"""Away from singularities while the tool stays where it is: the gradient of manipulability, and motion along it.

w(q) = √det(J Jᵀ) (Yoshikawa 1985) tells how well an arm can move its tool in all directions. `kt.gradient` goes through
the arm's kinematics and the determinant; a law projects the gradient into the null space of the Jacobian.

    python 13_manipulability.py [folder for the picture]
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt


@kt.compile
def manipulability(robot, q):
    """w = √det(J Jᵀ)."""
    J = robot.frame("tool0").jacobian(q)
    return kt.sqrt(kt.linalg.determinant(J @ J.T))


gradient = kt.gradient(manipulability)


@kt.compile(shapes={"home": (4, 4), "gain": ()})
def self_motion(robot, q, home, gain=1.0):
    """v = J⁺ e + gain (1 - J⁺ J) ∂w/∂q: the first term undoes the drift e of the tool, the second does not move it."""
    tool = robot.frame("tool0")
    pose, J = tool.pose(q), tool.jacobian(q)
    turn = sum(kt.cross(pose[:3, k], home[:3, k]) for k in range(3)) / 2.0
    drift = np.concatenate([home[:3, 3] - pose[:3, 3], turn])
    J_plus = kt.linalg.pseudo_inverse(J, damping=1e-4)
    along = gain * gradient(robot, q)
    return 10.0 * (J_plus @ drift) + along - J_plus @ (J @ along)


np.set_printoptions(precision=4, suppress=True)
robot = kt.load("arm7")
q = np.array([0.1, -0.1, 1.3, 1.0, 0.9, 0.4, 1.0])

h = 1e-6
steps = h * np.eye(robot.nv)  # a batch of configurations is one call
differences = (manipulability(robot, q + steps) - manipulability(robot, q - steps)) / (2.0 * h)
print("gradient of w    ", gradient(robot, q))
print("by differences   ", differences)
assert np.allclose(gradient(robot, q), differences, atol=1e-8)

tool = robot.frame("tool0")
home = tool.pose(q)
dt, w = 0.05, [manipulability(robot, q)]
for _ in range(400):
    q = robot.integrate(q, dt * self_motion(robot, q, home, 20.0))
    w.append(manipulability(robot, q))
moved = np.abs(tool.pose(q) - home).max()
print(f"\nw from {w[0]:.4f} to {w[-1]:.4f} while the tool moved by {moved:.1e}")
assert w[-1] > 5.0 * w[0] and moved < 1e-3
assert np.all(np.diff(w) > -1e-6), "it rises all the way"

J = tool.jacobian(q)
along = gradient(robot, q)
left = along - np.linalg.pinv(J) @ J @ along
print(f"gradient left in the null space: {np.abs(left).max():.1e}, of {np.abs(along).max():.1e}")
assert np.abs(left).max() < 0.01 * np.abs(along).max(), "as far as it goes"

figure = Figure(figsize=(6, 3), layout="constrained")
axes = figure.subplots()
axes.plot(dt * np.arange(len(w)), w)
axes.set(xlabel="time [s]", ylabel="manipulability w")
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "13_manipulability.png", dpi=150)
print("drawn in", folder / "13_manipulability.png")
