import numpy as np
import pytest

import kinetree as kt
from flying import allocation, load, rotors
from kinetree import flight

WEIGHT = 0.5 * 9.81


def test_the_matrix_is_that_of_the_textbook():
    """Rows of z, roll, pitch, yaw of a quadrotor in X: 1, y, -x, -s k_Q/k_T."""
    B = allocation().matrix
    a, k = 0.17 / np.sqrt(2.0), 1.36e-7 / 5.57e-6
    assert np.allclose(B[2:], [[1, 1, 1, 1], [a, a, -a, -a], [-a, a, a, -a], [k, -k, k, -k]])
    assert np.allclose(B[:2], 0.0)


def test_speeds_give_the_wrench_that_was_asked_for():
    robot, craft = load("quadrotor")
    chosen, rng = allocation(), np.random.default_rng(0)
    still = flight.Aircraft([flight.Rotor(r.frame, r.thrust, r.torque, r.direction) for r in rotors(craft)])
    for _ in range(20):
        wrench = np.array([WEIGHT, 0, 0, 0]) + rng.normal(size=4) * [1.0, 0.05, 0.05, 0.01]
        tau = still.efforts(robot, robot.neutral(), np.zeros(6), 0.0, chosen.speeds(wrench))
        assert np.allclose(tau, [0, 0, *wrench], atol=1e-12)
    assert np.allclose(chosen.hover, WEIGHT / 4.0)


def test_yaw_is_given_up_first_then_lift_then_roll_and_pitch():
    chosen = allocation()
    B, limit = chosen.matrix[2:], 5.57e-6 * 1500.0**2
    much_yaw = np.array([WEIGHT, 0.05, -0.03, 5.0])
    given = B @ chosen.thrusts(much_yaw)
    assert np.allclose(given[:3], much_yaw[:3]) and 0.0 < given[3] < 5.0
    assert chosen.thrusts(much_yaw).min() == pytest.approx(0.0, abs=1e-12)
    high = np.array([4.0 * limit, 0.3, 0.0, 0.0])
    given = B @ chosen.thrusts(high)
    assert np.allclose(given[1:], high[1:]) and given[0] < high[0]
    low = np.array([0.0, 0.3, -0.2, 0.0])
    given = B @ chosen.thrusts(low)
    assert np.allclose(given[1:], low[1:], atol=1e-12) and given[0] > 0.0
    wild = np.array([WEIGHT, 30.0, -60.0, 0.0])
    f = chosen.thrusts(wild)
    given = B @ f
    assert given[1] / given[2] == pytest.approx(-0.5) and f.min() >= 0.0 and f.max() <= limit * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_thrusts_are_within_limits_whatever_is_asked(seed):
    chosen, rng = allocation("hexarotor"), np.random.default_rng(seed)
    wrench = rng.normal(size=4) * [30.0, 10.0, 10.0, 5.0]
    f = chosen.thrusts(wrench)
    assert (f >= 0.0).all() and (f <= chosen.limits * (1 + 1e-12)).all() and np.isfinite(f).all()
    law = kt.compile(lambda w: chosen.thrusts(w) + 0.0, shapes={"w": (4,)})
    assert np.allclose(law(wrench), f, atol=1e-12)


def layout(places, tilts=(), speeds=()):
    """Rotors at places (x, y, z) that turn alternately, tilted about the arm, with their largest speeds."""
    builder, parts = kt.ModelBuilder("layout"), []
    builder.link("body", kt.Inertia(2.0, np.zeros(3), 0.02 * np.eye(3)))
    for k, at in enumerate(places):
        angle, tilt = np.arctan2(at[1], at[0]), tilts[k] if tilts else 0.0
        builder.link(f"r{k}")
        builder.joint(f"m{k}", "fixed", "body", f"r{k}", xyz=at, rpy=(tilt * np.cos(angle), tilt * np.sin(angle), 0))
        top = speeds[k] if speeds else 1500.0
        parts.append(flight.Rotor(f"r{k}", 1e-5, 2e-7, direction=(-1) ** k, max_speed=top))
    return flight.Allocation(kt.Robot(builder.build("floating")), parts)


def around(count, radius=0.3, height=0.0):
    angles = np.arange(count) * 2 * np.pi / count
    return [(radius * np.cos(a), radius * np.sin(a), height) for a in angles]


SQUARE = [(0.3, 0.3, 0), (-0.3, 0.3, 0), (-0.3, -0.3, 0), (0.3, -0.3, 0)]
LAYOUTS = {
    "a long nose": lambda: layout([(0.6, 0.25, 0), (-0.2, 0.25, 0), (-0.2, -0.25, 0), (0.6, -0.25, 0)]),
    "weak and strong rotors": lambda: layout(SQUARE, speeds=(900.0, 1500.0, 900.0, 1500.0)),
    "a rotor without a limit": lambda: layout(SQUARE, speeds=(900.0, np.inf, 900.0, 1500.0)),
    "six, one failed": lambda: layout(around(6)).without(0, axes=("z", "roll", "pitch")),
    "eight, one failed": lambda: layout([at for at in SQUARE for _ in range(2)]).without(3),
    "fully actuated": lambda: layout(around(6), tilts=[0.4 * (-1) ** k for k in range(6)]),
    "lift is not controlled": lambda: flight.Allocation(allocation().robot, allocation().rotors, ("roll", "pitch")),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_desaturation_gives_parts_of_what_was_asked_and_nothing_else(name):
    """B f has one share of roll and pitch, one of the forces across, one of yaw; all of the wrench where lift and tilt
    are within limits, with forces across, and with yaw. A small roll or pitch is there in full at no lift, too."""
    chosen, rng = LAYOUTS[name](), np.random.default_rng(0)
    rows = [("x", "y", "z", "roll", "pitch", "yaw").index(axis) for axis in chosen.axes]
    B, tilt = chosen.matrix[rows], [chosen.axes.index("roll"), chosen.axes.index("pitch")]
    others = [[k for k, axis in enumerate(chosen.axes) if axis in group] for group in (("x", "y"), ("yaw",))]
    size = {"x": 3.0, "y": 3.0, "z": 30.0, "roll": 6.0, "pitch": 6.0, "yaw": 0.5}
    kept = [[k for k, axis in enumerate(chosen.axes) if axis not in left] for left in (("x", "y", "yaw"), ("yaw",), ())]
    scaled = 0
    for _ in range(100):
        wrench = rng.normal(size=len(rows)) * [size[axis] for axis in chosen.axes]
        f = chosen.thrusts(wrench)
        assert (f >= 0.0).all() and (f <= chosen.limits * (1 + 1e-12)).all()
        given = B @ f
        stages = [chosen.inverse[:, keep] @ wrench[keep] for keep in kept]
        if all((plain >= 0.0).all() and (plain <= chosen.limits).all() for plain in stages):
            assert np.allclose(given, wrench)
        for group in filter(None, (tilt, *others)):
            asked = wrench[group]
            share = given[group] @ asked / (asked @ asked)
            assert -1e-9 < share < 1.0 + 1e-9 and np.allclose(given[group], share * asked, atol=1e-9)
            scaled += share < 0.99
        small = np.zeros(len(rows))
        small[tilt] = 0.02 * wrench[tilt] / np.linalg.norm(wrench[tilt])
        assert np.allclose((B @ chosen.thrusts(small))[tilt], small[tilt])
    assert scaled > 20


def hexa(senses):
    """A symmetric hexarotor whose rotors turn as the word says: P clockwise, N counter-clockwise, from the front."""
    builder = kt.ModelBuilder("hexa")
    builder.link("body", kt.Inertia(1.535, np.zeros(3), np.diag([0.0411, 0.0478, 0.0599])))
    parts = []
    for k, sense in enumerate(senses):
        angle = -k * np.pi / 3
        builder.link(f"r{k}")
        at = (0.275 * np.cos(angle), 0.275 * np.sin(angle), 0)
        builder.joint(f"m{k}", "fixed", "body", f"r{k}", xyz=at)
        parts.append(flight.Rotor(f"r{k}", 1.0, 0.1, direction=-1 if sense == "P" else 1, max_speed=np.sqrt(6.125)))
    robot = kt.Robot(builder.build("floating"))
    return flight.Allocation(robot, parts), np.array([1.535 * 9.8, 0, 0, 0])


def test_the_margins_published_for_hexarotors_with_one_failure():
    """Du, Quan, Cai (2015): PNPNPN has a margin of 1.4861 and of 0 without one rotor; PPNNPN has 1.1295, and without
    one of its first four rotors 0.7221, 0.4510, 0.4510 and 0.7221; without the fifth or sixth none."""
    symmetric, hover = hexa("PNPNPN")
    assert symmetric.margin(hover) == pytest.approx(1.4861, abs=1e-3)
    assert symmetric.without(0).margin(hover) == pytest.approx(0.0, abs=1e-3)
    other, hover = hexa("PPNNPN")
    assert other.margin(hover) == pytest.approx(1.1295, abs=1e-3)
    left = [other.without(k).margin(hover) for k in range(6)]
    assert left[:4] == pytest.approx([0.7221, 0.4510, 0.4510, 0.7221], abs=1e-3) and max(left[4:]) < 0.0


def test_a_quadrotor_without_a_rotor_keeps_all_but_yaw():
    chosen = allocation()
    lame = chosen.without(2)
    assert lame.rank == 3
    assert lame.margin([WEIGHT, 0, 0, 0]) < 0.0
    reduced = chosen.without(2, axes=("z", "roll", "pitch"))
    assert reduced.rank == 3
    assert reduced.margin([WEIGHT, 0, 0]) == pytest.approx(0.0, abs=1e-9)  # level, only with the opposite rotor off
    f = reduced.thrusts([WEIGHT, 0.0, 0.0])
    assert f[2] == 0.0 and np.allclose(f, [0, WEIGHT / 2, 0, WEIGHT / 2], atol=1e-9)


def test_tilted_rotors_give_all_six():
    full = LAYOUTS["fully actuated"]()
    assert full.axes == ("x", "y", "z", "roll", "pitch", "yaw") and full.rank == 6
    wrench = np.array([0.5, -0.3, 20.0, 0.1, 0.05, -0.02])
    assert np.allclose(full.matrix @ full.thrusts(wrench), wrench)


def test_coaxial_rotors_share_the_thrust():
    """Eight rotors in four pairs, one above the other: yaw by the difference within a pair, which costs no lift."""
    places = [(x, y, z) for x, y, _ in around(4) for z in (0.05, -0.05)]
    chosen = layout(places, speeds=[1200.0] * 8)
    assert chosen.rank == 4 and np.allclose(chosen.hover, 2.0 * 9.81 / 8)
    f = chosen.thrusts([19.62, 0.0, 0.0, 0.05])
    assert np.allclose(f[0::2], f[0]) and np.allclose(f[1::2], f[1]) and f[1] > f[0] and f.sum() == pytest.approx(19.62)
    assert min(chosen.without(k).margin([19.62, 0, 0, 0]) for k in range(8)) > 0.0, "any one of them may fail"


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda r, p: flight.Allocation(r, []), "rotors is empty"),
        (lambda r, p: flight.Allocation(r, ["a"]), "rotors has 'a'"),
        (lambda r, p: flight.Allocation(r, p, axes=("zz",)), "axes has 'zz'"),
        (lambda r, p: flight.Allocation(r, p, failed=(9,)), "failed is"),
        (lambda r, p: flight.Allocation(kt.load("quadrotor"), p), "fixed base"),
        (lambda r, p: flight.Allocation(r, p).thrusts(np.zeros(3)), "wrench has shape"),
        (lambda r, p: flight.Allocation(r, [flight.Rotor("rotor_1", 1.0, 0.0)]).margin(np.zeros(4)), "no max_speed"),
    ],
)
def test_what_makes_no_sense_is_refused(call, words):
    robot, craft = load("quadrotor")
    with pytest.raises(kt.KinetreeError, match=words):
        call(robot, rotors(craft))
