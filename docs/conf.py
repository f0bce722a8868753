"""How the site is built: `make docs` writes it to site/, and a warning is an error."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import kinetree

project = "kinetree"
author = "the kinetree authors"
project_copyright = f"{author}, BSD-3-Clause"
release = version = kinetree.__version__
html_title = f"kinetree {version}"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "mathml",
    "sources",
    "executed",
    "live_cell",
    "public_names",
    "plain_docstrings",
    "benchmark_tables",
]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_ext", "_static"]
keep_warnings = True
suppress_warnings = ["ref.python"]  # a type in a signature, named as another of another module

myst_enable_extensions = ["dollarmath", "amsmath", "deflist", "colon_fence"]
myst_heading_anchors = 4
myst_dmath_double_inline = True

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_type_aliases = {"ArrayLike": "ArrayLike", "DTypeLike": "DTypeLike", "Array": "Array", "Scalar": "Scalar"}
python_maximum_signature_line_length = 88
add_module_names = False
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["copy.js", "breaks.js"]
html_copy_source = False
html_show_sourcelink = False
html_search_scorer = str(Path(__file__).parent / "_ext" / "search_scorer.js")
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
pygments_style = "friendly"
pygments_dark_style = "github-dark"
