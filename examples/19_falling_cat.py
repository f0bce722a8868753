"""A cat that falls on its back turns over in the air, though its angular momentum is zero all the time.

Two halves, joined at the spine by a ball joint, bend, let the bend run once around, and stretch again. Zero momentum
means ω̄ = ω_b + L⁻¹ A_kj v_j = 0: the angular velocity of the front half is linear in that of the joint. The rotation
that a closed path of the joint leaves depends on the path alone, not on how fast it is run through: its holonomy. For
halves that are round there is a formula, after Kane and Scher 1969: bent by β, with the moments of inertia J along
and I across a half, one round turns the cat by ψ = 2π J cos(β/2) / (I sin²(β/2) + J cos²(β/2)) about its spine.

    python 19_falling_cat.py [folder for the picture]
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

LENGTH, RADIUS, MASS = 0.25, 0.08, 2.0  # of a half [m], [kg]
BENDING = 0.2  # the part of the time that is spent on bending, and on stretching
DT, STIFFNESS = 5e-4, 200.0  # [s], [1/s]

builder = kt.ModelBuilder("cat")
half = kt.solids.cylinder(RADIUS, LENGTH, mass=MASS)
lying = half.rotated([[0, 0, 1], [0, 1, 0], [-1, 0, 0]])  # along x
builder.link("front", lying.shifted((LENGTH / 2, 0, 0)))
builder.link("rear", lying.shifted((-LENGTH / 2, 0, 0)))
builder.joint("spine", "spherical", "front", "rear")
for name, x in (("front", 0.8 * LENGTH), ("rear", -0.8 * LENGTH)):
    builder.frame(f"{name} feet", name, xyz=(x, 0.0, -2.2 * RADIUS))
    builder.frame(f"{name} belly", name, xyz=(x, 0.0, 0.0))
    builder.frame(f"{name} end", name, xyz=(np.sign(x) * LENGTH, 0.0, 0.0))
cat = kt.Robot(builder.build("floating", base_velocity="mixed"))

along, across = half.I[2, 2], half.I[0, 0]
cosine = (np.sqrt(along**2 - along * across + across**2) - along) / (across - along)  # where ψ is half a turn
BETA = 2.0 * np.arccos(cosine)


def smooth(x):
    """From 0 to 1, at rest at both ends."""
    x = kt.clip(x, 0.0, 1.0)
    return x * x * x * (10.0 - 15.0 * x + 6.0 * x * x)


@kt.compile(shapes={"part": ()})
def posture(robot, q, part):
    """q with the spine as it should be: bent by β about an axis that runs around the spine once."""
    beta = BETA * (smooth(part / BENDING) - smooth((part - 1.0 + BENDING) / BENDING))
    phi = 2.0 * np.pi * smooth((part - BENDING) / (1.0 - 2.0 * BENDING))
    sine = kt.sin(beta / 2.0)
    quaternion = [0.0, sine * kt.cos(phi), sine * kt.sin(phi), kt.cos(beta / 2.0)]
    return np.concatenate([q[:7], quaternion])


def righting(duration):
    """A law of the spine alone: in diagonalized coordinates the joints have an equation of motion of their own."""

    @kt.compile
    def law(robot, q, v, t):
        x = robot.diagonalized_coordinates(q, v)
        before, now, after = (posture(robot, q, (t + late) / duration) for late in (-DT, 0.0, DT))
        ahead, behind = robot.difference(now, after)[6:] / DT, robot.difference(before, now)[6:] / DT
        off, rate, rate_of_rate = robot.difference(q, now)[6:], (ahead + behind) / 2.0, (ahead - behind) / DT
        wanted = rate_of_rate + STIFFNESS**2 * off + 2.0 * STIFFNESS * (rate - v[6:])
        return np.concatenate([np.zeros(6), x.joint_inertia @ wanted + x.h[6:]])  # nothing pushes the base

    return law


def holonomy(q):
    """Rotation of the front half, (3, 3), that a path of the spine leaves at zero angular momentum: no time, no mass
    matrix, only steps -L⁻¹ A_kj δ of the half for steps δ of the joint."""
    here = np.concatenate([cat.neutral()[:7], q[0, 7:]])
    for there in q[1:]:
        step = cat.difference(here, np.concatenate([here[:7], there[7:]]))
        middle = cat.integrate(here, step / 2.0)
        for _ in range(2):  # turned half the way, too
            step[3:6] = -cat.average_rotation_by_joints(middle) @ step[6:]
            middle = cat.integrate(here, step / 2.0)
        here = cat.integrate(here, step)
    return cat.frame("front").pose(here)[:3, :3]


def turned(R):
    """By which angle, about which axis."""
    vector = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    angle = np.arctan2(np.linalg.norm(vector), np.trace(R) - 1.0)
    values, vectors = np.linalg.eigh((R + R.T) / 2.0)
    return np.degrees(angle), vectors[:, np.argmax(values)]


start, rest = cat.neutral(), np.zeros(cat.nv)
start[3:7] = 1.0, 0.0, 0.0, 0.0  # on its back
ideal = posture(cat, start, np.linspace(0.0, 1.0, 1001))
print(f"bent by {np.degrees(BETA):.1f} degrees, for half a turn; holonomy {turned(holonomy(ideal))[0]:.4f} degrees")
assert abs(turned(holonomy(ideal))[0] - 180.0) < 1e-2
paths = {}
for duration in (0.6, 0.3):
    path = paths[duration] = cat.rollout(start, rest, righting(duration), DT, round(1.2 * duration / DT), "rk4")
    R = cat.frame("front").pose(path.q)[:, :3, :3]
    angle, axis = turned(R[-1] @ R[0].T)
    by_path, _ = turned(holonomy(path.q))
    spin = np.abs(cat.centroidal_momentum(path.q, path.v)[:, 3:]).max()
    size = np.abs(cat.average_rotation_by_joints(path.q) @ path.v[:, 6:, None]).max()
    print(
        f"in {duration} s: turned by {angle:.3f} degrees about {np.abs(axis).round(3)}, holonomy {by_path:.3f}; "
        f"angular momentum below {spin:.0e} N m s, angular velocity up to {size:.0f} rad/s"
    )
    assert abs(angle - by_path) < 0.02 and abs(angle - 180.0) < 0.1 and abs(axis[0]) > 0.999
    assert spin < 1e-6 and np.abs(path.q[-1, 7:10]).max() < 1e-3, "stretched again"
feet = [cat.frame("front feet").pose(q)[2, 3] - cat.frame("front belly").pose(q)[2, 3] for q in path.q[[0, -1]]]
assert feet[0] > 0.1 and feet[1] < -0.1, "on its back at first, on its feet at last"

path = paths[0.6]
figure = Figure(figsize=(11, 5.4), layout="constrained")
picture, below = figure.subplots(2, 1, height_ratios=(1.0, 1.1))


def seen(point):
    """From the side and a little from above: y goes to the right and up."""
    return point[..., 0] + 0.45 * point[..., 1], point[..., 2] + 0.35 * point[..., 1]


moments = np.linspace(0, len(path.t) - 1, 7).astype(int)
for k, place in enumerate(moments):
    q = path.q[place].copy()
    # side by side, and the fall drawn smaller
    q[:3] -= cat.center_of_mass(q) - [0.62 * k, 0.0, -0.5 * 9.81 * 0.06 * path.t[place] ** 2]
    for name, color in (("front", "tab:orange"), ("rear", "tab:brown")):
        joint, end, belly, feet = (
            cat.frame(frame).pose(q)[:3, 3] for frame in (name, f"{name} end", f"{name} belly", f"{name} feet")
        )
        picture.plot(*seen(np.array([joint, end])), color=color, linewidth=26, solid_capstyle="round", alpha=0.9)
        picture.plot(*seen(np.array([belly, feet])), color="black", linewidth=3)
    picture.text(0.62 * k, 0.3, f"{path.t[place]:.2f} s", ha="center")
picture.set(aspect="equal", xlim=(-0.35, 6 * 0.62 + 0.35), ylim=(-0.55, 0.35))
picture.set_title("a falling cat with zero angular momentum (front half orange, feet black)")
picture.set_axis_off()
R = cat.frame("front").pose(path.q)[:, :3, :3]
roll = np.unwrap(np.arctan2(R[:, 2, 1], R[:, 2, 2]))
below.plot(path.t, np.abs(np.degrees(roll - roll[0])), label="roll of the front half [deg]")
bend = 2.0 * np.degrees(np.arccos(np.clip(path.q[:, 10], -1.0, 1.0)))
below.plot(path.t, bend, label="bend of the spine [deg]")
below.axhline(180.0, color="0.6", linestyle=":")
below.set(xlabel="time [s]", yticks=range(0, 181, 45))
below.legend()
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "19_falling_cat.png", dpi=150)
print("drawn in", folder / "19_falling_cat.png")
