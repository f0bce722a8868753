"""What people type into the search of the site, the page that should come first, and the order of results.

The order is that of Sphinx 9 with `docs/_ext/search_scorer.js`, on the text of the pages as they are written.
"""

import re
from functools import cache
from pathlib import Path

from sphinx.search.en import SearchEnglish

DOCS = Path(__file__).parents[1] / "docs"
TITLE, PARTIAL_TITLE, TERM, PARTIAL_TERM = 15, 7, 5, 2
FOLDERS = {"": 2, "course": 1, "tasks": 1}

QUERIES = {
    "forward kinematics": "kinematics",
    "Jacobian": "kinematics",
    "analytic Jacobian": "kinematics",
    "manipulability": "kinematics",
    "singularities": "kinematics",
    "inverse kinematics": "ik",
    "closed-form inverse kinematics": "closed_form_ik",
    "differential inverse kinematics": "differential_ik",
    "null space": "operational_space",
    "pseudo-inverse": "differential_ik",
    "task priorities": "differential_ik",
    "custom tasks": "custom_tasks",
    "inverse dynamics": "dynamics",
    "forward dynamics": "dynamics",
    "Coriolis matrix": "dynamics",
    "mass matrix": "dynamics",
    "regressor": "dynamics",
    "joint reactions": "dynamics",
    "RNEA": "course/rnea",
    "CRBA": "course/mass_matrix",
    "ABA": "course/forward_dynamics",
    "Newton-Euler": "course/newton_euler",
    "Lagrange": "equations",
    "spatial vectors": "course/spatial_vectors",
    "homogeneous transforms": "course/transforms",
    "DH": "dh",
    "Denavit-Hartenberg": "dh",
    "quaternions": "course/rotations",
    "Euler angles": "course/rotations",
    "exercises": "course/exercises",
    "textbooks": "course/lectures",
    "gravity compensation": "joint_control",
    "computed torque": "joint_control",
    "joint impedance": "joint_control",
    "operational-space control": "operational_space",
    "Cartesian impedance": "operational_space",
    "force control": "force_control",
    "admittance": "force_control",
    "whole-body control": "whole_body",
    "quadratic programs": "qp",
    "trajectories": "trajectories",
    "footsteps": "standing",
    "simulation": "simulation",
    "integrators": "simulation",
    "rigid contact": "contact",
    "closed loops": "constraints",
    "impacts": "constraints",
    "centroidal dynamics": "centroidal",
    "centroidal momentum": "centroidal",
    "load a robot": "models",
    "batches": "tasks/batches",
    "MuJoCo loop": "mujoco_loops",
    "export C code": "export_c",
    "xacro": "models",
    "MJCF": "mjcf",
    "SDFormat": "sdformat",
    "bundled robots": "bundled_robots",
    "friction": "joint_dynamics",
    "solids": "inertias",
    "lock joints": "editing",
    "automatic differentiation": "law_derivatives",
    "compiled functions": "laws",
    "cache": "cache",
    "viewer": "viewer",
    "Pinocchio": "coming_from/pinocchio",
    "conventions": "conventions",
    "command line": "command_line",
    "identification": "identification",
    "flight": "flight",
}


def _words(text: str) -> list[str]:
    return [word for word in re.split(r"[^\w]+", text.lower()) if word]


@cache
def pages() -> dict[str, tuple[list[str], frozenset[str], frozenset[str]]]:
    """Of every page: its title and headings, the stems of words in these, and the stems of all words."""
    stem, found = SearchEnglish({}).stem, {}
    for path in sorted(DOCS.rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        prose = re.sub(r"^(```+).*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)
        titles = [title.replace("`", "") for title in re.findall(r"^#+ (.+)$", prose, re.MULTILINE)]
        in_titles = frozenset(stem(word) for title in titles for word in _words(title))
        everywhere = frozenset(map(stem, set(_words(text))))
        found[path.relative_to(DOCS).with_suffix("").as_posix()] = titles, in_titles, everywhere
    return found


def _of_words(query: str, in_titles: frozenset[str], everywhere: frozenset[str]) -> int:
    """The best score of a word, if the page has all of them."""
    stem, best = SearchEnglish({}).stem, 0
    for word in map(stem, _words(query)):
        partial = len(word) > 2
        scores = [TITLE * (word in in_titles), TERM * (word in everywhere)]
        scores += [PARTIAL_TITLE * (partial and any(word in other for other in in_titles))]
        scores += [PARTIAL_TERM * (partial and any(word in other for other in everywhere))]
        if not max(scores):
            return 0
        best = max(best, *scores)
    return best


def ranking(query: str) -> list[tuple[float, str]]:
    """Pages with their scores, best first; pages of equal scores by title."""
    wanted, results = query.lower(), []
    for name, (titles, in_titles, everywhere) in pages().items():
        score = _of_words(query, in_titles, everywhere)
        for place, title in enumerate(titles):
            if wanted in title.lower() and len(wanted) >= len(title) / 2:
                score = max(score, 4 * (int(TITLE * len(wanted) / len(title) + 0.5) + (place == 0)))
        if score:
            results.append(
                (-score - FOLDERS.get(name.rpartition("/")[0].partition("/")[0], 0), titles[0].lower(), name)
            )
    return [(-score, name) for score, _, name in sorted(results)]
