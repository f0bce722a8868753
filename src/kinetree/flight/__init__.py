"""Flight: rotorcraft and fixed-wing aircraft, modelled and controlled.

A reading list, one idea a file:

    atmosphere        temperature, pressure and density by height
    wind, dryden      wind, gusts and turbulence
    part              parts on frames, the air around them, what they do to a robot
    momentum          rotors as discs: induced velocity and power
    rotor             thrust and torque by ω², hub force, flapping, ground effect
    blade_element     the same from the blades
    motor, propeller  what turns them; thrust by advance ratio
    body_drag         drag of a body
    table, polar      coefficients: tables, lines with stall
    lifting_surface   wings, tails and fins
    airframe          a whole aircraft by its stability derivatives
    bundled           the parts of the bundled robots
    allocation        wrenches to rotor speeds
    flatness          attitude, rates and wrench from a path
    minimum_snap      paths through waypoints
    geometric         tracking on SE(3)
    cascaded, lqr     loops in loops; linear-quadratic regulators
    incremental       attitude by measured accelerations
    aerospace         Euler angles and body axes x forward, y right, z down
    trim              steady flight
    linearize, modes  small motions about it, and their names
    stability         neutral point
    performance       glide, range, endurance, turn, ceiling
    autopilot         inner loops
    total_energy      height and airspeed
    path_following    lines and orbits
"""

from kinetree.flight.aerospace import (
    LATERAL,
    LONGITUDINAL,
    STATES,
    euler_angles,
    euler_matrix,
    flight_attitude,
    flight_state,
    robot_state,
    state_rates,
)
from kinetree.flight.airframe import AirData, Airframe, BodyCoefficients, Coefficients, StabilityDerivatives
from kinetree.flight.allocation import Allocation
from kinetree.flight.atmosphere import AirState, standard_atmosphere
from kinetree.flight.autopilot import Autopilot
from kinetree.flight.blade_element import BladeCoefficients, BladeRotor
from kinetree.flight.body_drag import BodyDrag
from kinetree.flight.bundled import HEXAROTOR_MOTOR, QUADROTOR_MOTOR, aircraft
from kinetree.flight.cascaded import CascadedControl
from kinetree.flight.dryden import Dryden, WaveGusts
from kinetree.flight.flatness import AttitudeMotion, FlatMotion, FlatState, attitude, flat_motion
from kinetree.flight.geometric import GeometricControl
from kinetree.flight.incremental import IncrementalAttitude
from kinetree.flight.lifting_surface import LiftingSurface
from kinetree.flight.linearize import LinearModel, linearize
from kinetree.flight.lqr import HoverLQR, lqr
from kinetree.flight.minimum_snap import FlatPath, instants_for, minimum_snap
from kinetree.flight.modes import Mode, modes
from kinetree.flight.momentum import axial_velocity, figure_of_merit, forward_velocity, hover_power, hover_velocity
from kinetree.flight.motor import Battery, DCMotor, FirstOrderMotor
from kinetree.flight.part import Air, Aircraft, Airflow, Part
from kinetree.flight.path_following import (
    bank_for_acceleration,
    bank_for_course,
    guidance_acceleration,
    line_course,
    line_error,
    orbit_course,
    target_on_line,
    target_on_orbit,
)
from kinetree.flight.performance import BestFlight, Performance
from kinetree.flight.polar import LinearPolar, Polar, Section, TablePolar
from kinetree.flight.propeller import Propeller
from kinetree.flight.rotor import Rotor, ground_effect
from kinetree.flight.stability import StaticStability, static_stability
from kinetree.flight.table import Table, Table2
from kinetree.flight.total_energy import EnergyRates, TotalEnergyControl, energy_rates
from kinetree.flight.trim import NoTrimError, Trim, trim
from kinetree.flight.wind import DiscreteGust, UniformWind, Wind, Winds, WindShear

__all__ = [
    "HEXAROTOR_MOTOR", "LATERAL", "LONGITUDINAL", "QUADROTOR_MOTOR", "STATES", "Air", "AirData", "AirState",
    "Aircraft", "Airflow", "Airframe", "Allocation", "AttitudeMotion", "Autopilot", "Battery", "BestFlight",
    "BladeCoefficients", "BladeRotor", "BodyCoefficients", "BodyDrag", "CascadedControl", "Coefficients", "DCMotor",
    "DiscreteGust", "Dryden", "EnergyRates", "FirstOrderMotor", "FlatMotion", "FlatPath", "FlatState",
    "GeometricControl", "HoverLQR", "IncrementalAttitude", "LiftingSurface", "LinearModel", "LinearPolar", "Mode",
    "NoTrimError", "Part", "Performance", "Polar", "Propeller", "Rotor", "Section", "StabilityDerivatives",
    "StaticStability", "Table", "Table2", "TablePolar", "TotalEnergyControl", "Trim", "UniformWind", "WaveGusts",
    "Wind", "WindShear", "Winds", "aircraft", "attitude", "axial_velocity", "bank_for_acceleration",
    "bank_for_course", "energy_rates", "euler_angles", "euler_matrix", "figure_of_merit", "flat_motion",
    "flight_attitude", "flight_state", "forward_velocity", "ground_effect", "guidance_acceleration", "hover_power",
    "hover_velocity", "instants_for", "line_course", "line_error", "linearize", "lqr", "minimum_snap", "modes",
    "orbit_course", "robot_state", "standard_atmosphere", "state_rates", "static_stability", "target_on_line",
    "target_on_orbit", "trim",
]  # fmt: skip
