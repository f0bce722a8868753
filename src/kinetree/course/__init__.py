"""The exercises of the course, with automatic checks.

from kinetree.course import check, given
data = given("3.2")                  robots, states and numbers
check("3.2", J)                      ✓, or ✗ with a hint of the mistake that it looks like

`exercises()` lists them, `write_notebooks(folder)` writes them as notebooks with blanks. Solutions are not part of the
package: they lie in `teaching/` of the repository.
"""

from kinetree.course.check import Verdict, check, given
from kinetree.course.exercise import Exercise, find
from kinetree.course.notebooks import write_notebooks
from kinetree.course.sheets import SHEETS
from kinetree.course.sheets.listed import exercises

__all__ = ["SHEETS", "Exercise", "Verdict", "check", "exercises", "find", "given", "write_notebooks"]
