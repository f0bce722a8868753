"""The smoothest way between two rests: Newton's method on the jerk of a trajectory, derivatives by `kt`.

Position, velocity and acceleration of all joints at a few knots are free; between knots run polynomials of fifth
degree. The cost is the integral of the squared jerk. Its gradient and Hessian with respect to the knots, an array of
shape (knots, 3, joints), come from `kt.gradient` and `kt.hessian`. Between two rests the minimum is known (Flash, Hogan
1985): q0 + (q1 - q0) (10 τ³ - 15 τ⁴ + 6 τ⁵). Then the tip is drawn to a point beside its way, and no formula is left.

    python 14_minimum_jerk.py [folder for the picture]
"""

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

KNOTS, DURATION = 3, 1.5  # between the ends; [s]
SHAPES = {"knots": (KNOTS, 3, "v"), "start": "v", "goal": "v", "point": (3,), "weight": ()}


def coefficients(left, right, h):
    """Of the polynomial in s = t/h with position, velocity and acceleration as given at both ends."""
    (q0, v0, a0), (q1, v1, a1) = left, right
    d, v0, v1, a0, a1 = q1 - q0, h * v0, h * v1, h * h * a0 / 2, h * h * a1 / 2
    c3 = 10 * d - 6 * v0 - 4 * v1 - 3 * a0 + a1
    c4 = -15 * d + 8 * v0 + 7 * v1 + 3 * a0 - 2 * a1
    c5 = 6 * d - 3 * v0 - 3 * v1 - a0 + a1
    return q0, v0, a0, c3, c4, c5


def segments(knots, start, goal):
    """The polynomials from each knot to the next, ends at rest."""
    rest = 0.0 * start
    places = [(start, rest, rest), *knots, (goal, rest, rest)]
    return [coefficients(left, right, DURATION / (KNOTS + 1)) for left, right in pairwise(places)]


@kt.compile(shapes=SHAPES)
def cost(robot, knots, start, goal, point, weight):
    """∫ jerk² dt, and the squared distance of the tip from a point at half time."""
    jerk = 0.0
    for *_, c3, c4, c5 in segments(knots, start, goal):
        products = 36 * c3 * c3 + 144 * c3 * c4 + 240 * c3 * c5 + 192 * c4 * c4 + 720 * c4 * c5 + 720 * c5 * c5
        jerk = jerk + products.sum() / (DURATION / (KNOTS + 1)) ** 5
    miss = robot.frame("tip").pose(knots[KNOTS // 2][0])[:3, 3] - point
    return jerk + weight * (miss @ miss)


gradient, hessian = kt.gradient(cost, "knots"), kt.hessian(cost, "knots")


def newton(robot, knots, *rest, steps):
    """Knots where the gradient is zero."""
    for k in range(steps):
        g = gradient(robot, knots, *rest).ravel()
        H = hessian(robot, knots, *rest).reshape(g.size, g.size)
        print(f"  step {k}: cost {cost(robot, knots, *rest):12.6f}, gradient {np.abs(g).max():.1e}")
        knots = knots - np.linalg.solve(H, g).reshape(knots.shape)
    return knots


robot = kt.load("planar2")
start, goal = np.array([-0.4, 0.3]), np.array([0.8, 1.2])
point = robot.frame("tip").pose((start + goal) / 2.0)[:3, 3] + [-0.15, 0.0, 0.1]  # beside the way

print("between rests:")
free = newton(robot, np.zeros((KNOTS, 3, 2)), start, goal, point, 0.0, steps=2)
tau = np.arange(1, KNOTS + 1)[:, None] / (KNOTS + 1)
known = start + (goal - start) * (10 * tau**3 - 15 * tau**4 + 6 * tau**5)
print(f"  knots beside the formula: {np.abs(free[:, 0] - known).max():.1e} rad")
assert np.allclose(free[:, 0], known, atol=1e-10)
assert np.isclose(cost(robot, free, start, goal, point, 0.0), 720.0 * np.sum((goal - start) ** 2) / DURATION**5)

print("past a point:")
rest = (start, goal, point, 1e6)
bent = newton(robot, free, *rest, steps=6)
miss = np.linalg.norm(robot.frame("tip").pose(bent[KNOTS // 2, 0])[:3, 3] - point)
print(f"  the tip passes {1e3 * miss:.2f} mm from it")
assert miss < 5e-3 and np.abs(gradient(robot, bent, *rest)).max() < 1e-5

figure = Figure(figsize=(6, 4), layout="constrained")
axes = figure.subplots()
s = np.linspace(0.0, 1.0, 50)
for knots, style in ((free, "--"), (bent, "-")):
    pieces = [sum(c[:, None] * s**k for k, c in enumerate(piece)) for piece in segments(knots, start, goal)]
    tips = robot.frame("tip").pose(np.hstack(pieces).T)[:, :3, 3]
    axes.plot(tips[:, 0], tips[:, 2], style)
axes.plot(*point[[0, 2]], "o")
axes.set(xlabel="x [m]", ylabel="z [m]", aspect="equal", title="the way of the tip")
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "pictures")
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "14_minimum_jerk.png", dpi=150)
print("drawn in", folder / "14_minimum_jerk.png")
