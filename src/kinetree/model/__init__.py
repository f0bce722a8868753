"""The robot's kinematic tree and the ways to make one."""

from kinetree.model.builder import ModelBuilder
from kinetree.model.description import Mimic
from kinetree.model.findings import Finding
from kinetree.model.joints import JointDynamics
from kinetree.model.random import random_model
from kinetree.model.tree import Limits, Model

__all__ = ["Finding", "JointDynamics", "Limits", "Mimic", "Model", "ModelBuilder", "random_model"]
