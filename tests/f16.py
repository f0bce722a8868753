"""The F-16 of Stevens and Lewis, Aircraft Control and Simulation: its tables, as parts of kinetree.flight.

Tables are those of the book's appendix A (2015 edition, after NASA TP 1538, low speeds), by angle of attack from -10°
to 45°, digit by digit as they are printed there. Where prints differ, the book's own results decide: J_xx is 9,496 slug
ft², as its moment equations have it, not 9,456. C_Yp at 45° and C_mq at -5° stand as in the book, though NASA
TM-2003-212145 has -0.227 and -5.40.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import kinetree as kt
from kinetree import flight
from kinetree.flight import BodyCoefficients, Part, Table, Table2

FOOT, POUND, SLUG = 0.3048, 4.4482216152605, 14.593902937
ALPHA = tuple(np.arange(-10.0, 46.0, 5.0))
ELEVATOR = (-24.0, -12.0, 0.0, 12.0, 24.0)
BETA, WIDE = (0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0), (-30.0, -20.0, -10.0, 0.0, 10.0, 20.0, 30.0)


def rows(text):
    return np.array([[float(x) for x in line.split()] for line in text.strip().splitlines()])


X = Table2(ALPHA, ELEVATOR, rows("""
-.099 -.081 -.081 -.063 -.025 .044 .097 .113 .145 .167 .174 .166
-.048 -.038 -.040 -.021 .016 .083 .127 .137 .162 .177 .179 .167
-.022 -.020 -.021 -.004 .032 .094 .128 .130 .154 .161 .155 .138
-.040 -.038 -.039 -.025 .006 .062 .087 .085 .100 .110 .104 .091
-.083 -.073 -.076 -.072 -.046 .012 .024 .025 .043 .053 .047 .040
""").T)  # fmt: skip
Z = Table(ALPHA, (0.770, 0.241, -0.100, -0.416, -0.731, -1.053, -1.366, -1.646, -1.917, -2.120, -2.248, -2.229))
M = Table2(ALPHA, ELEVATOR, rows("""
.205 .168 .186 .196 .213 .251 .245 .238 .252 .231 .198 .192
.081 .077 .107 .110 .110 .141 .127 .119 .133 .108 .081 .093
-.046 -.020 -.009 -.005 -.006 .010 .006 -.001 .014 .000 -.013 .032
-.174 -.145 -.121 -.127 -.129 -.102 -.097 -.113 -.087 -.084 -.069 -.006
-.259 -.202 -.184 -.193 -.199 -.150 -.160 -.167 -.104 -.076 -.041 -.005
""").T)  # fmt: skip


def odd(text):
    """A table by |β| that changes its sign with β."""
    half = rows(text).T
    beta = (*(-b for b in BETA[:0:-1]), *BETA)
    return Table2(ALPHA, beta, np.hstack([-half[:, :0:-1], half]))


L = odd("""
0 0 0 0 0 0 0 0 0 0 0 0
-.001 -.004 -.008 -.012 -.016 -.019 -.020 -.020 -.015 -.008 -.013 -.015
-.003 -.009 -.017 -.024 -.030 -.034 -.040 -.037 -.016 -.002 -.010 -.019
-.001 -.010 -.020 -.030 -.039 -.044 -.050 -.049 -.023 -.006 -.014 -.027
.000 -.010 -.022 -.034 -.047 -.046 -.059 -.061 -.033 -.036 -.035 -.035
.007 -.010 -.023 -.034 -.049 -.046 -.068 -.071 -.060 -.058 -.062 -.059
.009 -.011 -.023 -.037 -.050 -.047 -.074 -.079 -.091 -.076 -.077 -.076
""")
N = odd("""
0 0 0 0 0 0 0 0 0 0 0 0
.018 .019 .018 .019 .019 .018 .013 .007 .004 -.014 -.017 -.033
.038 .042 .042 .042 .043 .039 .030 .017 .004 -.035 -.047 -.057
.056 .057 .059 .058 .058 .053 .032 .012 .002 -.046 -.071 -.073
.064 .077 .076 .074 .073 .057 .029 .007 .012 -.034 -.065 -.041
.074 .086 .093 .089 .080 .062 .049 .022 .028 -.012 -.002 -.013
.079 .090 .106 .106 .096 .080 .068 .030 .064 .015 .011 -.001
""")
L_AILERON = Table2(ALPHA, WIDE, rows("""
-.041 -.052 -.053 -.056 -.050 -.056 -.082 -.059 -.042 -.038 -.027 -.017
-.041 -.053 -.053 -.053 -.050 -.051 -.066 -.043 -.038 -.027 -.023 -.016
-.042 -.053 -.052 -.051 -.049 -.049 -.043 -.035 -.026 -.016 -.018 -.014
-.040 -.052 -.051 -.052 -.048 -.048 -.042 -.037 -.031 -.026 -.017 -.012
-.043 -.049 -.048 -.049 -.043 -.042 -.042 -.036 -.025 -.021 -.016 -.011
-.044 -.048 -.048 -.047 -.042 -.041 -.020 -.028 -.013 -.014 -.011 -.010
-.043 -.049 -.047 -.045 -.042 -.037 -.003 -.013 -.010 -.003 -.007 -.008
""").T)  # fmt: skip
L_RUDDER = Table2(ALPHA, WIDE, rows("""
.005 .017 .014 .010 -.005 .009 .019 .005 -.000 -.005 -.011 .008
.007 .016 .014 .014 .013 .009 .012 .005 .000 .004 .009 .007
.013 .013 .011 .012 .011 .009 .008 .005 -.002 .005 .003 .005
.018 .015 .015 .014 .014 .014 .014 .015 .013 .011 .006 .001
.015 .014 .013 .013 .012 .011 .011 .010 .008 .008 .007 .003
.021 .011 .010 .011 .010 .009 .008 .010 .006 .005 .000 .001
.023 .010 .011 .011 .011 .010 .008 .010 .006 .014 .020 .000
""").T)  # fmt: skip
N_AILERON = Table2(ALPHA, WIDE, rows("""
.001 -.027 -.017 -.013 -.012 -.016 .001 .017 .011 .017 .008 .016
.002 -.014 -.016 -.016 -.014 -.019 -.021 .002 .012 .015 .015 .011
-.006 -.008 -.006 -.006 -.005 -.008 -.005 .007 .004 .007 .006 .006
-.011 -.011 -.010 -.009 -.008 -.006 .000 .004 .007 .010 .004 .010
-.015 -.015 -.014 -.012 -.011 -.008 -.002 .002 .006 .012 .011 .011
-.024 -.010 -.004 -.002 -.001 .003 .014 .006 -.001 .004 .004 .006
-.022 .002 -.003 -.005 -.003 -.001 -.009 -.009 -.001 .003 -.002 .001
""").T)  # fmt: skip
N_RUDDER = Table2(ALPHA, WIDE, rows("""
-.018 -.052 -.052 -.052 -.054 -.049 -.059 -.051 -.030 -.037 -.026 -.013
-.028 -.051 -.043 -.046 -.045 -.049 -.057 -.052 -.030 -.033 -.030 -.008
-.037 -.041 -.038 -.040 -.040 -.038 -.037 -.030 -.027 -.024 -.019 -.013
-.048 -.045 -.045 -.045 -.044 -.045 -.047 -.048 -.049 -.045 -.033 -.016
-.043 -.044 -.041 -.041 -.040 -.038 -.034 -.035 -.035 -.029 -.022 -.009
-.052 -.034 -.036 -.036 -.035 -.028 -.024 -.023 -.020 -.016 -.010 -.014
-.062 -.034 -.027 -.028 -.027 -.027 -.023 -.023 -.019 -.009 -.025 -.010
""").T)  # fmt: skip
DAMPING = [
    Table(ALPHA, row)  # X_q, Y_r, Y_p, Z_q, l_r, l_p, m_q, n_r, n_p
    for row in rows("""
-.267 -.110 .308 1.34 2.08 2.91 2.76 2.05 1.50 1.49 1.83 1.21
.882 .852 .876 .958 .962 .974 .819 .483 .590 1.21 -.493 -1.04
-.108 -.108 -.188 .110 .258 .226 .344 .362 .611 .529 .298 -2.27
-8.80 -25.8 -28.9 -31.4 -31.2 -30.7 -27.7 -28.2 -29.0 -29.8 -38.3 -35.3
-.126 -.026 .063 .113 .208 .230 .319 .437 .680 .100 .447 -.330
-.360 -.359 -.443 -.420 -.383 -.375 -.329 -.294 -.230 -.210 -.120 -.100
-7.21 -.540 -5.23 -5.26 -6.11 -6.64 -5.69 -6.00 -6.20 -6.40 -6.60 -6.00
-.380 -.363 -.378 -.386 -.370 -.453 -.550 -.582 -.595 -.637 -1.02 -.840
.061 .052 .052 -.012 -.013 -.024 .050 .150 .130 .158 .240 .150
""")
]
CHORD, SPAN, AREA = 11.32 * FOOT, 30.0 * FOOT, 300.0 * FOOT**2


@dataclass(frozen=True)
class Coefficients:
    """With the centre of gravity at a part of the chord; the tables are about 0.35."""

    center: float = 0.35
    inputs: ClassVar[tuple[str, ...]] = ("elevator", "aileron", "rudder")

    def at(self, data, u):
        a, b = np.degrees(1.0) * data.alpha, np.degrees(1.0) * data.beta
        p, q, r = data.rates
        elevator, aileron, rudder = (np.degrees(1.0) * each for each in u)
        aileron, rudder = aileron / 20.0, rudder / 30.0
        Xq, Yr, Yp, Zq, lr, lp, mq, nr, np_ = (table(a) for table in DAMPING)
        x = X(a, elevator) + Xq * q
        y = -0.02 * b + 0.021 * aileron + 0.086 * rudder + Yr * r + Yp * p
        z = Z(a) * (1.0 - (b / 57.3) * (b / 57.3)) - 0.19 * elevator / 25.0 + Zq * q
        shift = 0.35 - self.center
        roll = L(a, b) + L_AILERON(a, b) * aileron + L_RUDDER(a, b) * rudder + lr * r + lp * p
        pitch = M(a, elevator) + mq * q + z * shift
        yaw = N(a, b) + N_AILERON(a, b) * aileron + N_RUDDER(a, b) * rudder + nr * r + np_ * p
        return BodyCoefficients(x, y, z, roll, pitch, yaw - y * shift * CHORD / SPAN)


IDLE = Table2(
    (0.0, 0.2, 0.4, 0.6, 0.8, 1.0),
    (0.0, 1e4),
    [[1060, 670], [635, 425], [60, 25], [-1020, -710], [-2700, -1900], [-3600, -1400]],
)
MILITARY = Table2(
    (0.0, 0.2, 0.4, 0.6, 0.8, 1.0),
    (0.0, 1e4),
    [[12680, 9150], [12680, 9150], [12610, 9312], [12640, 9839], [12390, 10176], [11680, 9848]],
)
MAXIMUM = Table2(
    (0.0, 0.2, 0.4, 0.6, 0.8, 1.0),
    (0.0, 1e4),
    [[20000, 15000], [21420, 15700], [22700, 16860], [24240, 18910], [26070, 21075], [28886, 23319]],
)


@dataclass(frozen=True)
class Engine(Part):
    """Steady thrust along x by throttle, Mach number and height below 10,000 ft; the momentum of its shaft."""

    frame: str
    inputs = ("throttle",)

    def force(self, flow, u):
        V = kt.sqrt(flow.velocity @ flow.velocity) / FOOT
        mach, height = V / np.sqrt(1.4 * 1716.3 * 519.0), flow.height / FOOT
        power = kt.where(kt.less_equal(u[0], 0.77), 64.94 * u[0], 217.38 * u[0] - 117.38)
        military = MILITARY(mach, height)
        low = IDLE(mach, height) + (military - IDLE(mach, height)) * power * 0.02
        high = military + (MAXIMUM(mach, height) - military) * (power - 50.0) * 0.02
        thrust = POUND * kt.where(kt.less(power, 50.0), low, high)
        spin = 160.0 * SLUG * FOOT**2
        _, q, r = flow.rate
        return kt.Force(np.array([thrust, 0.0 * thrust, 0.0 * thrust]), np.array([0.0 * thrust, -spin * r, spin * q]))


def f16(center=0.35):
    """The robot, in axes x forward, y right, z down, and the aircraft."""
    unit = SLUG * FOOT**2
    inertia = np.array([[9496.0, 0, -982.0], [0, 55814.0, 0], [-982.0, 0, 63100.0]]) * unit
    R = np.diag([1.0, -1.0, -1.0])
    builder = kt.ModelBuilder("f16")
    builder.link("body", kt.Inertia(SLUG / 1.57e-3, np.zeros(3), R @ inertia @ R.T))
    builder.link("aero")
    builder.joint("axes", "fixed", "body", "aero", rpy=(np.pi, 0, 0))
    robot = kt.Robot(builder.build("floating", gravity=(0, 0, -32.17 * FOOT)))
    air = flight.Air(density=2.377e-3 * SLUG / FOOT**3)
    wing = flight.Airframe("aero", AREA, SPAN, CHORD, Coefficients(center))
    return robot, flight.Aircraft((wing, Engine("aero")), air)
