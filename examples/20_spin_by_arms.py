"""In the air, a dancer spins faster by pulling the arms in, and a gymnast starts to twist by dropping one of them.

Angular momentum k_G = L ω̄ stays whatever the joints do; L does not. With the arms at the body L is smaller about the
long axis and ω̄ larger: motors of the shoulders do the work ΔT = k²/2 (1/L' - 1/L). A gymnast who somersaults with both
arms up has ω̄ along k. One arm down turns the body a little, k is no longer along a principal axis, and a part of the
somersault becomes a twist, with no force from outside. When the arms rest, it is one rigid body again.

    python 20_spin_by_arms.py [folder for the picture]
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

DT, STIFFNESS = 1e-3, 150.0  # [s], [1/s]
MOVE = 0.3  # how long an arm takes [s]

builder = kt.ModelBuilder("dancer")
builder.link("body", kt.solids.ellipsoid((0.13, 0.18, 0.85), mass=55.0))
for side, y in (("left", 0.2), ("right", -0.2)):
    builder.link(f"{side} arm", kt.solids.cylinder(0.04, 0.65, mass=4.0).shifted((0, 0, -0.325)))  # hanging down
    builder.joint(f"{side} shoulder", "revolute", "body", f"{side} arm", xyz=(0, y, 0.45), axis=(np.sign(y), 0, 0))
    builder.frame(f"{side} hand", f"{side} arm", xyz=(0, 0, -0.65))
builder.frame("head", "body", xyz=(0, 0, 0.85))
builder.frame("feet", "body", xyz=(0, 0, -0.85))
robot = kt.Robot(builder.build("floating", base_velocity="mixed"))


def moving(first, last):
    """A law of the shoulders alone, that brings both from angles to others [rad], between 0.2 and 0.5 s."""
    first, change = np.array(first), np.array(last) - np.array(first)

    @kt.compile
    def law(robot, q, v, t):
        x = kt.clip((t - 0.2) / MOVE, 0.0, 1.0)
        where = first + change * (x * x * x * (10.0 - 15.0 * x + 6.0 * x * x))
        rate = change * (30.0 * x * x * (1.0 - 2.0 * x + x * x)) / MOVE
        a = change * (60.0 * x * (1.0 - 3.0 * x + 2.0 * x * x)) / MOVE**2
        wanted = a + STIFFNESS**2 * (where - q[7:]) + 2.0 * STIFFNESS * (rate - v[6:])
        coordinates = robot.diagonalized_coordinates(q, v)
        return np.concatenate([np.zeros(6), coordinates.joint_inertia @ wanted + coordinates.h[6:]])

    return law


def jump(arms, turning, law, seconds):
    """From a state with these angles of the shoulders and this ω of the whole, up into the air."""
    q, v = robot.neutral(), np.zeros(robot.nv)
    q[7:], v[:6] = arms, [0.0, 0.0, 0.5 * 9.81 * seconds, *turning]
    return robot.rollout(q, v, law, DT, round(seconds / DT), "rk4")


# -- the dancer ----------------------------------------------------------------------------------------------------

out, close_by = (np.pi / 2, np.pi / 2), (0.1, 0.1)
spin = jump(out, (0.0, 0.0, 2.0 * np.pi), moving(out, close_by), 0.8)
k = robot.centroidal_momentum(spin.q, spin.v)[:, 3:]
L = robot.locked_inertia(spin.q)[:, 2, 2]
omega = robot.average_angular_velocity(spin.q, spin.v)[:, 2]
work = np.diff(robot.kinetic_energy_parts(spin.q, spin.v)[1][[0, -1]])[0]
print(
    f"dancer: L {L[0]:.2f} -> {L[-1]:.2f} kg m², {omega[0] / (2 * np.pi):.2f} -> {omega[-1] / (2 * np.pi):.2f} turns/s"
)
print(
    f"        angular momentum {k[0, 2]:.1f} N m s, off by {np.abs(k - k[0]).max():.0e}; work of the arms {work:.0f} J"
)
assert np.abs(k - k[0]).max() < 1e-8 * k[0, 2] and np.allclose(omega[-1], omega[0] * L[0] / L[-1])
assert np.isclose(work, k[0, 2] ** 2 / 2.0 * (1.0 / L[-1] - 1.0 / L[0]), rtol=1e-4)

# -- the gymnast ---------------------------------------------------------------------------------------------------

up, one_down = (np.pi, np.pi), (np.pi, 0.0)
turning = (0.0, 2.0 * np.pi * 0.9, 0.0)
flight = {"both arms up": jump(up, turning, None, 1.4), "right arm down": jump(up, turning, moving(up, one_down), 1.4)}
twists = {}
for name, path in flight.items():
    axis = robot.frame("body").pose(path.q)[:, :3, 2]  # from feet to head
    about_it = np.sum(axis * path.v[:, 3:6], axis=1)
    twists[name] = np.cumsum(about_it) * DT / (2.0 * np.pi)
    k = robot.centroidal_momentum(path.q, path.v)[:, 3:]
    print(f"gymnast, {name}: {abs(twists[name][-1]):.2f} twists; momentum off by {np.abs(k - k[0]).max():.0e} N m s")
    assert np.abs(k - k[0]).max() < 1e-6
assert abs(twists["both arms up"][-1]) < 1e-6 and abs(twists["right arm down"][-1]) > 1.0

# From where the arms rest again, one rigid body flies the same way; from the beginning it does not.
path = flight["right arm down"]
apart = {}
for start in (0, round(0.7 / DT)):
    one = kt.Robot(robot.single_rigid_body(path.q[start]).model("mixed"))
    alone = one.rollout(path.q[start, :7], path.v[start, :6], None, DT, len(path.t) - 1 - start, "rk4")
    apart[start] = np.degrees(np.linalg.norm(one.difference(alone.q[-1], path.q[-1, :7])[3:]))
    print(f"as one rigid body from {path.t[start]:.1f} s on: {apart[start]:.3f} degrees off at the end")
assert apart[round(0.7 / DT)] < 0.5 and apart[0] > 30.0
moment = round(0.35 / DT)
a = robot.forward_dynamics(path.q[moment], path.v[moment], np.zeros(robot.nv))
error = robot.single_rigid_body(path.q[moment]).error(robot.one_body_motion(path.q[moment], path.v[moment], a))
print(f"while the arm moves, its angular acceleration is off by {np.linalg.norm(error):.1f} rad/s²")
assert np.linalg.norm(error) > 1.0

figure = Figure(figsize=(11, 6.5), layout="constrained")
grid = figure.add_gridspec(2, 2, height_ratios=(1.3, 1.0))
picture = figure.add_subplot(grid[0, :])
for k, place in enumerate(np.linspace(0, len(path.t) - 1, 8).astype(int)):
    q = path.q[place].copy()
    q[:3] += [1.9 * k, 0.0, 0.0] - robot.center_of_mass(q)
    at = {frame: robot.frame(frame).pose(q)[:3, 3] for frame in robot.frame_names}
    limbs = [("feet", "head", "tab:blue", 9), ("left arm", "left hand", "tab:green", 4)]
    for start, end, color, width in [*limbs, ("right arm", "right hand", "tab:red", 4)]:
        x = [at[point][0] + 0.45 * at[point][1] for point in (start, end)]
        z = [at[point][2] + 0.25 * at[point][1] for point in (start, end)]
        picture.plot(x, z, color=color, linewidth=width, solid_capstyle="round")
    head = at["head"]
    picture.plot(head[0] + 0.45 * head[1], head[2] + 0.25 * head[1], "o", color="tab:blue", markersize=13)
    picture.text(1.9 * k, 1.75, f"{path.t[place]:.1f} s", ha="center")
picture.set(aspect="equal", ylim=(-1.6, 2.0), title="a gymnast drops the right arm (red) and starts to twist")
picture.set_axis_off()
left, right = figure.add_subplot(grid[1, 0]), figure.add_subplot(grid[1, 1])
left.plot(spin.t, omega / (2.0 * np.pi), label="ω̄ / 2π [1/s]")
left.plot(spin.t, L, label="L [kg m²]")
left.set(xlabel="time [s]", title="a dancer pulls the arms in")
left.legend(loc="center left")
for name, turns in twists.items():
    right.plot(flight[name].t, np.abs(turns), label=name)
right.set(xlabel="time [s]", ylabel="twists", title="a gymnast in a somersault")
right.legend()
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "20_spin_by_arms.png", dpi=150)
print("drawn in", folder / "20_spin_by_arms.png")
