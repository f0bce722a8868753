"""Inverse kinematics of six revolute joints in closed form: all branches at once."""

from kinetree.ik.closed_form.solver import ClosedForm, closed_form, out_of_reach

__all__ = ["ClosedForm", "closed_form", "out_of_reach"]
