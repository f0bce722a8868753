"""The sheets: one file each."""

SHEETS = {
    "1": "Positions and rotations",
    "2": "Homogeneous transforms",
    "3": "Kinematics and Jacobians",
    "4": "Inverse kinematics",
    "5": "Dynamics",
    "6": "Floating base and contacts",
    "7": "Centroidal dynamics",
    "8": "Control",
    "9": "Rotors and multicopters",
    "10": "Aerodynamics and fixed-wing aircraft",
}
"""Titles by number."""
