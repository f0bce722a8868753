"""Denavit-Hartenberg tables: poses by the product of their matrices, inertia by differences of those.

Covers: model/loaders/dh.py, robot/dh.py.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from peers import close

QN = np.array([0.0, np.pi / 4, np.pi, 0.0, np.pi / 4, 0.0])


def rz(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])


def rx(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1.0]])


def shift(x, y, z):
    T = np.eye(4)
    T[:3, 3] = x, y, z
    return T


def frames(links, convention, q):
    """The pose of every frame of the table, as the books define it."""
    T, found = np.eye(4), []
    for link, x in zip(links, q, strict=True):
        theta, d = (link.theta + x, link.d) if link.joint == "revolute" else (link.theta, link.d + x)
        if convention == "standard":
            T = T @ rz(theta) @ shift(0, 0, d) @ shift(link.a, 0, 0) @ rx(link.alpha)
        else:
            T = T @ rx(link.alpha) @ shift(link.a, 0, 0) @ rz(theta) @ shift(0, 0, d)
        found.append(T)
    return found


@st.composite
def tables(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    links = []
    for _ in range(draw(st.integers(1, 6))):
        axes = rng.normal(size=(3, 3))
        links.append(
            kt.DHLink(
                a=rng.normal(),
                alpha=rng.normal(),
                d=rng.normal(),
                theta=rng.normal(),
                joint=str(rng.choice(["revolute", "prismatic"])),
                mass=rng.uniform(0.5, 2),
                com=rng.normal(size=3),
                inertia=axes @ axes.T,
                gear=rng.normal() * 50,
                motor_inertia=rng.uniform(0, 1e-3),
                motor_viscous=rng.uniform(0, 1e-3),
                motor_coulomb=rng.uniform(0, 0.1),
            )
        )
    return links, draw(st.sampled_from(["standard", "modified"])), rng.normal(size=len(links)), rng


@given(tables())
def test_frames_are_those_of_the_table(table):
    links, convention, q, _ = table
    robot = kt.from_dh(links, convention).eager
    for k, T in enumerate(frames(links, convention, q), 1):
        close(robot.frame(f"link{k}").pose(q), T, 1e-13)
    close(robot.frame("tool0").pose(q), T, 1e-13)


@given(tables())
def test_the_mass_matrix_is_that_of_moving_bodies(table):
    """M = Σ m ċᵀċ + ωᵀ R I Rᵀ ω with rates by central differences, and gear² times the rotors."""
    links, convention, q, _ = table
    n, h = len(q), 1e-6
    robot = kt.from_dh(links, convention).eager
    M = np.diag([link.gear**2 * link.motor_inertia for link in links])
    for k, (link, T) in enumerate(zip(links, frames(links, convention, q), strict=True)):
        rates = np.zeros((6, n))
        for j in range(n):
            step = h * np.eye(n)[j]
            ahead, behind = (frames(links, convention, q + sign * step)[k] for sign in (1, -1))
            rate = (ahead - behind) / (2 * h)
            rates[:3, j] = (rate @ [*link.com, 1.0])[:3]
            spin = rate[:3, :3] @ T[:3, :3].T
            rates[3:, j] = spin[2, 1], spin[0, 2], spin[1, 0]
        R = T[:3, :3]
        M += link.mass * rates[:3].T @ rates[:3] + rates[3:].T @ R @ np.asarray(link.inertia) @ R.T @ rates[3:]
    close(robot.mass_matrix(q), M, 1e-7)


@given(tables())
def test_friction_of_the_motor_at_the_joint(table):
    links, convention, q, rng = table
    v = rng.choice([-1, 1], size=len(q)) * rng.uniform(10, 20, size=len(q))
    rough = kt.from_dh(links, convention, friction_width=1e-6).eager
    smooth = kt.from_dh(links, convention, passive=False).eager
    expected = [
        link.gear**2 * link.motor_viscous * x + abs(link.gear) * link.motor_coulomb * np.sign(x)
        for link, x in zip(links, v, strict=True)
    ]
    close(rough.inverse_dynamics(q, v, 0 * v) - smooth.inverse_dynamics(q, v, 0 * v), expected, 1e-9)


def test_the_puma_of_the_books():
    """Gravity load and inertia at the nominal pose, as Corke prints them (Robotics, Vision and Control, chapter 9)."""
    puma = kt.load("puma560")
    close(puma.gravity_forces(QN), [0, 31.6399, 6.0351, 0, 0.0283, 0], 5e-5)
    printed = [
        [3.6594, -0.4044, 0.1006, -0.0025, 0.0000, -0.0000],
        [-0.4044, 4.4137, 0.3509, 0.0000, 0.0024, 0.0000],
        [0.1006, 0.3509, 0.9378, 0.0000, 0.0015, 0.0000],
        [-0.0025, 0.0000, 0.0000, 0.1925, 0.0000, 0.0000],
        [0.0000, 0.0024, 0.0015, 0.0000, 0.1713, 0.0000],
        [-0.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.1941],
    ]
    assert np.abs(puma.mass_matrix(QN) - printed).max() < 6e-5
    close(puma.frame("tool0").pose(QN)[:3, 3], [0.5963, -0.1501, 0.6575], 1e-4)


def test_the_puma_of_the_robotics_toolbox():
    """Numbers of its version 1.4.4, DH model, at another pose."""
    puma = kt.load("puma560", passive=False)
    q = [0.3, -0.7, 0.9, 0.4, -1.1, 0.5]
    load = [0.0, 27.665478716435722, -1.4730042253970239, -1.9479934498624757e-03, 2.2332158728878324e-02, 0.0]
    close(puma.gravity_forces(q), load, 1e-13)
    M = puma.mass_matrix(q)
    first = [3.1901785621620142, 0.29005500965659914, -0.13626350093117048]
    close(M[0], [*first, 2.2277183106926197e-03, -3.3826841765099248e-04, 2.4305335103303245e-05], 1e-13)
    second = [0.29005500965659914, 3.8444450240159207, 6.5996522225298809e-02]
    close(M[1], [*second, 1.2533807036006501e-04, 1.4450708708473416e-03, -1.3882099712335712e-05], 1e-13)


def test_rows_as_mappings_and_numbers_and_a_tool():
    rows = [(0.1, 0.2, 0.3, 0.4), {"a": 0.5, "joint": "prismatic", "name": "slide"}]
    robot = kt.from_dh(rows, name="short", tool=shift(0, 0, 0.7), base="floating")
    assert robot.name == "short" and robot.joint_names == ("joint1", "slide") and robot.nv == 8
    links = [kt.DHLink(a=0.1, alpha=0.2, d=0.3, theta=0.4), kt.DHLink(a=0.5, joint="prismatic")]
    q = robot.neutral()
    close(robot.frame("tool0").pose(q), frames(links, "standard", [0, 0])[-1] @ shift(0, 0, 0.7))


def test_a_table_in_a_file(tmp_path):
    file = tmp_path / "arm.toml"
    file.write_text('name = "arm"\nconvention = "modified"\n[[link]]\na = 0.3\nalpha = 0.1\n[[link]]\nd = 0.2\n')
    robot = kt.load(file)
    assert robot == kt.from_dh([(0.3, 0.1, 0, 0), (0, 0, 0.2, 0)], "modified", name="arm")


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: kt.from_dh([]), "links is empty; expected one row"),
        (lambda: kt.from_dh([(1, 2, 3)]), r"row 1 has shape \(3,\); expected \(4,\)"),
        (lambda: kt.from_dh([(0, 0, 0, 0), {"alfa": 1}]), "row 2: entry 'alfa' does not exist; did you mean 'alpha'"),
        (lambda: kt.from_dh([(0, 0, 0, 0)], "craig"), "convention is 'craig'; expected 'standard' or 'modified'"),
        (lambda: kt.from_dh([(0, np.inf, 0, 0)]), "row 1: alpha is inf; expected a finite number"),
        (lambda: kt.from_dh([{"a": "x"}]), "row 1: a is 'x'; expected a number"),
        (lambda: kt.from_dh([{"joint": "ball"}]), "row 1: joint is 'ball'; expected 'revolute' or 'prismatic'"),
        (lambda: kt.from_dh([{"mass": -1}]), "link 'link1': mass is -1 kg"),
        (lambda: kt.from_dh([{"inertia": [1, 2]}]), r"row 1: inertia has shape \(2,\); expected \(3, 3\)"),
        (lambda: kt.from_dh([{"motor_inertia": -1}]), "row 1: armature is -1; expected zero or more"),
        (lambda: kt.from_dh([(0, 0, 0, 0)], tool=np.zeros((4, 4))), "expected a pose"),
    ],
)
def test_tables_that_are_no_robots(call, sentence):
    with pytest.raises(kt.KinetreeError, match=sentence):
        call()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("link = 3", "table.toml: link is 3; expected tables"),
        ("[[link]]\na = \n", "table.toml: not well-formed TOML"),
        ("links = []", "table.toml: entry 'links' does not exist; did you mean 'link'"),
        ("[[link]]\nb = 1", "table.toml: row 1: entry 'b' does not exist"),
        ("", "table.toml is empty; expected a model file"),
        ("name = 'r'", "table.toml: links is empty"),
    ],
)
def test_files_that_are_no_tables(tmp_path, text, sentence):
    file = tmp_path / "table.toml"
    file.write_text(text)
    with pytest.raises(kt.ModelError, match=sentence):
        kt.load(file)
