"""What measurements can tell about a robot's parameters."""

from kinetree.identification.base_parameters import BaseParameters, base_parameters

__all__ = ["BaseParameters", "base_parameters"]
