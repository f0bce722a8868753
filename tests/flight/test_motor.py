import numpy as np
import pytest

import kinetree as kt
from flying import load
from kinetree import flight


def test_a_first_order_motor_follows_its_closed_form():
    motor = flight.FirstOrderMotor(0.05)
    assert motor.after(100.0, 300.0, 0.05) == pytest.approx(300.0 - 200.0 / np.e)
    speed, dt = 100.0, 1e-5
    total = 0.0
    for _ in range(5000):
        total += speed * dt
        speed += dt * motor.rate(speed, 300.0)
    assert speed == pytest.approx(motor.after(100.0, 300.0, 0.05), rel=1e-4)
    assert total / 0.05 == pytest.approx(motor.mean(100.0, 300.0, 0.05), rel=1e-4)


def test_a_machine_turns_electric_into_mechanical_power_and_heat():
    motor = flight.DCMotor(0.07, 0.04, inertia=1e-3)
    speed, voltage = 400.0, 40.0
    i = motor.current(speed, voltage)
    assert voltage * i == pytest.approx(motor.torque(speed, voltage) * speed + 0.04 * i**2)
    assert motor.rate(speed, voltage, motor.torque(speed, voltage)) == 0.0
    with pytest.raises(kt.ArgumentError, match="inertia is 0"):
        flight.DCMotor(0.07, 0.04).rate(1.0, 1.0, 0.0)


def test_the_steady_speed_balances_the_load():
    motor = flight.DCMotor(0.07, 0.04, no_load_current=1.5)
    speed = motor.steady_speed(30.0, 1e-6, 2e-4, 0.01)
    assert motor.torque(speed, 30.0) == pytest.approx(1e-6 * speed**2 + 2e-4 * speed + 0.01)
    assert motor.steady_speed(0.0, 1e-6) == 0.0
    assert motor.steady_speed(30.0, 0.0) == pytest.approx((30.0 - 1.5 * 0.04) / 0.07)


def test_a_battery_sags_and_empties():
    battery = flight.Battery(full=16.8, empty=13.2, capacity=100.0, resistance=0.1)
    assert battery.voltage(100.0) == 16.8 and battery.voltage(50.0, 10.0) == pytest.approx(15.0 - 1.0)
    assert battery.after(5.0, 10.0, 1.0) == 0.0
    with pytest.raises(kt.ArgumentError, match="empty is 20 V"):
        flight.Battery(full=16.8, empty=20.0, capacity=100.0)


def test_a_quadrotor_on_machines_and_a_battery_sinks_as_the_battery_empties():
    """Speeds and charge are states of the law; speeds settle where torque and drag balance at the sagging voltage."""
    robot, craft = load("quadrotor")
    motor = flight.DCMotor(0.008, 0.12, inertia=4e-5)
    battery = flight.Battery(full=8.4, empty=6.0, capacity=1000.0, resistance=0.01)
    dt = 1e-3

    @kt.compile(shapes={"speeds": (4,), "charge": ()})
    def fly(robot, q, v, speeds, charge):
        current = sum(motor.current(w, battery.voltage(charge)) for w in speeds)
        voltage = battery.voltage(charge, current)
        drag = 1.36e-7 * speeds * speeds
        after = speeds + dt * motor.rate(speeds, voltage, drag)
        level = np.concatenate([craft.efforts(robot, q, v, 0.0, speeds)[:3], -0.1 * v[3:]])
        return {"tau": level, "speeds": after, "charge": battery.after(charge, current, dt), "voltage": voltage}

    first = {"speeds": np.full(4, 500.0), "charge": 1000.0}
    record = ("q", "v", "speeds", "charge", "voltage")
    path = robot.rollout(robot.neutral(), np.zeros(6), fly, dt, 6000, states=first, record=record, every=100)
    assert (np.diff(path["charge"]) < 0.0).all() and (np.diff(path["speeds"][5:, 0]) < 0.0).all()
    steady = motor.steady_speed(path["voltage"][-1], 1.36e-7)
    assert path["speeds"][-1] == pytest.approx(np.full(4, steady), rel=5e-3)
    power = path["voltage"][-1] * 4 * motor.current(path["speeds"][-1, 0], path["voltage"][-1])
    assert power > 4 * 1.36e-7 * path["speeds"][-1, 0] ** 3, "some of it is heat"
