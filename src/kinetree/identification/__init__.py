"""What measurements can tell about a robot's parameters."""

from kinetree.identification.base_parameters import BaseParameters, base_parameters
from kinetree.identification.calibration import Calibration, calibrate
from kinetree.identification.excitation import Excitation, excitation
from kinetree.identification.identify import identify, identify_payload
from kinetree.identification.recording import Measurements, read_recording
from kinetree.identification.result import Identification

__all__ = [
    "BaseParameters", "Calibration", "Excitation", "Identification", "Measurements", "base_parameters", "calibrate",
    "excitation", "identify", "identify_payload", "read_recording",
]  # fmt: skip
