"""The linear model and its modes. Covers: flight/modes.py"""

import numpy as np
import pytest

import kinetree as kt
from flying import aerosonde, level, load
from kinetree import flight


@pytest.fixture(scope="module")
def model():
    return flight.linearize(*load("fixed_wing"), level())


def test_it_is_the_derivative_by_differences(model):
    robot, craft = load("fixed_wing")
    law = kt.compile(lambda robot, x, u: flight.state_rates(robot, craft, "aero", x, u), shapes={"x": (12,), "u": (4,)})
    about, h = level(), 1e-5
    A = np.stack(
        [(law(robot, about.x + h * e, about.u) - law(robot, about.x - h * e, about.u)) / (2 * h) for e in np.eye(12)],
        axis=1,
    )
    B = np.stack(
        [(law(robot, about.x, about.u + h * e) - law(robot, about.x, about.u - h * e)) / (2 * h) for e in np.eye(4)],
        axis=1,
    )
    assert np.allclose(model.A, A, atol=1e-5) and np.allclose(model.B, B, atol=1e-5)


def test_published_coefficients_of_transfer_functions():
    """a_φ1, a_φ2, a_θ1, a_θ3, a_β1, a_β2 of Beard and McLain, section 5.4, at 25 m/s: entries of A and B."""
    robot, craft = aerosonde()
    model = flight.linearize(robot, craft, flight.trim(robot, craft, 25.0))
    row = {name: k for k, name in enumerate(model.states)}
    A, B = model.A, model.B
    assert -A[row["p"], row["p"]] == pytest.approx(22.62885, rel=1e-4)
    assert B[row["p"], 1] == pytest.approx(130.88368, rel=1e-4)
    assert -A[row["q"], row["q"]] == pytest.approx(5.294738, rel=1e-4)
    assert B[row["q"], 0] == pytest.approx(-36.11239, rel=1e-4)
    assert -A[row["v"], row["v"]] == pytest.approx(0.7767725, rel=1e-3)
    pitch = -A[row["q"], row["w"]] * 25.0  # a_θ2, per angle of attack: w = V sin α
    assert pitch / np.cos(level().alpha) == pytest.approx(99.947, rel=5e-3)


def test_longitudinal_and_lateral_motion_are_apart(model):
    row = {name: k for k, name in enumerate(model.states)}
    mixed = [model.A[row[a], row[b]] for a in flight.LONGITUDINAL for b in flight.LATERAL]
    mixed += [model.A[row[b], row[a]] for a in flight.LONGITUDINAL for b in flight.LATERAL]
    assert np.abs(mixed).max() < 0.01 * np.abs(model.A).max()  # but for the torque of the propeller
    assert model.longitudinal.states == ("u", "w", "q", "θ") and model.lateral.A.shape == (4, 4)


def test_modes_have_their_names(model):
    found = flight.modes(model)
    assert set(found) == {"short period", "phugoid", "dutch roll", "roll", "spiral"}
    assert found["short period"].frequency > 10 * found["phugoid"].frequency
    assert found["roll"].time_constant == pytest.approx(1 / 22.6, rel=0.05)
    assert found["short period"].is_stable and found["dutch roll"].is_stable and not found["spiral"].is_stable
    assert np.abs(found["phugoid"].vector[1]) < 0.1 * np.abs(found["phugoid"].vector[0])  # constant angle of attack
    assert "phugoid" in str(found["phugoid"]) and "time constant" in str(found["roll"])
    values = np.concatenate([np.linalg.eigvals(model.longitudinal.A), np.linalg.eigvals(model.lateral.A)])
    for mode in found.values():
        assert np.abs(values - mode.eigenvalue).min() < 1e-9


def test_the_phugoid_of_lanchester():
    """Under constant thrust at a fixed angle of attack ω = √2 g/V and ζ = (D/L)/√2, whatever the aircraft."""
    robot, craft = load("fixed_wing")
    part = craft.parts[0]
    d = part.coefficients
    # strong in pitch and damped, so that α stays; a propeller whose thrust does not depend on the airspeed
    stiff = flight.StabilityDerivatives(
        (d.lift[0], d.lift[1], 0.0, 0.0), (0.03, 0.0, 0.0), (70.0, -2000.0, -3000.0, -0.99), d.side, d.roll, d.yaw, 1e9
    )
    propeller = flight.Propeller("aero", 0.5, (0.1, 0, 0), (0, 0, 0))
    clean = flight.Aircraft((flight.Airframe("aero", part.area, part.span, part.chord, stiff), propeller), craft.air)
    for V in (25.0, 40.0):
        about = flight.trim(robot, clean, V, bounds={"elevator": (-90.0, 90.0), "speed": (10.0, 2000.0)})
        assert about.success, about.reason
        slow = flight.modes(flight.linearize(robot, clean, about))["phugoid"]
        drag_to_lift = 0.03 / (11.0 * 9.81 / (0.5 * 1.2682 * V**2 * 0.55))
        assert slow.frequency == pytest.approx(np.sqrt(2.0) * 9.81 / V, rel=0.02)
        assert slow.damping == pytest.approx(drag_to_lift / np.sqrt(2.0), rel=0.1)


def test_transfer_functions_by_frequency(model):
    s = 1j * np.array([0.1, 1.0, 10.0])
    direct = [np.linalg.solve(z * np.eye(12) - model.A, model.B[:, 0])[model.states.index("θ")] for z in s]
    assert np.allclose(model.transfer("θ", "elevator", s), direct)
    with pytest.raises(kt.UnknownNameError, match="gamma"):
        model.transfer("gamma", "elevator", s)


def test_real_modes_get_numbers():
    A = np.zeros((12, 12))
    row = {name: k for k, name in enumerate(flight.STATES)}
    for name, value in zip(("u", "w", "q", "θ", "v", "p", "r", "φ"), (-1, -2, -3, -4, -5, -6, -7, -8.0), strict=True):
        A[row[name], row[name]] = value
    found = flight.modes(flight.LinearModel(A, np.zeros((12, 1)), flight.STATES, ("x",), 1.0))
    assert found["short period 1"].eigenvalue == -4.0 and found["phugoid 2"].eigenvalue == -1.0
    assert sum(name.startswith("lateral") for name in found) == 4
