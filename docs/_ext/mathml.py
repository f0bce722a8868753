"""Mathematics as MathML, made when the site is built: browsers set it without scripts and without a network.

The fonts of most devices have no measures for mathematics, so the site carries one that has: STIX Two Math, cut down to
the characters that formulas use.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ziamath
from docutils import nodes
from fontTools.subset import Options, Subsetter, load_font, save_font
from latex2mathml.converter import convert
from sphinx.application import Sphinx

CHARACTERS = [
    *range(0x20, 0x180),  # Latin
    *range(0x2B0, 0x400),  # accents, Greek
    *range(0x2000, 0x2400),  # signs, letters, arrows, operators
    *range(0x27C0, 0x2B00),  # brackets and more operators
    *range(0x1D400, 0x1D800),  # letters in italics, bold, script
]


ALIGNED = {"right": "text-align: right; padding-right: 0", "left": "text-align: left; padding-left: 0.2em"}
"""How browsers are told what LaTeX means by & in aligned equations."""


def mathml(latex: str, display: str = "inline") -> str:
    """A formula; aligned equations are a table."""
    is_aligned = "{aligned}" in latex
    text = convert(latex.strip().replace("{aligned}", "{align*}"), display=display)
    for side, style in ALIGNED.items():
        text = text.replace(f'columnalign="{side}"', f'style="{style if is_aligned else f"text-align: {side}"}"')
    return text


def _inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def _block(translator: Any, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="math-block">{mathml(node.astext(), "block")}</div>\n')
    raise nodes.SkipNode


def _write_font(app: Sphinx) -> None:
    font_file = Path(ziamath.__file__).parent / "fonts" / "STIXTwoMath-Regular.ttf"
    options = Options(flavor="woff", layout_features=["*"], notdef_outline=True)
    font = load_font(str(font_file), options)
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=CHARACTERS)
    subsetter.subset(font)
    target = app.outdir / "_static"
    target.mkdir(parents=True, exist_ok=True)
    save_font(font, str(target / "stix-two-math.woff"), options)


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    app.config.html_math_renderer = "mathml"
    app.connect("builder-inited", _write_font)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
