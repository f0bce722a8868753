"""Looks at a built site: every link and anchor leads somewhere, and no page loads anything from another host.

python docs/_ext/check_site.py site
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADS = {"src", "srcset", "poster", "data", "xlink:href"}
"""Attributes whose address a browser fetches by itself; so is the href of anything but a link that is clicked."""


@dataclass
class Page(HTMLParser):
    """What one page offers and asks for."""

    ids: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    formulas: list[str] = field(default_factory=list)
    in_math: int = 0

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids |= {given[name] for name in ("id", "name") if given.get(name)}
        self.in_math += tag == "math"
        for name, value in given.items():
            if name == "style":
                self.loaded += addresses(value)
            elif name in LOADS or (name == "href" and tag not in ("a", "area", "base")):
                self.loaded.append(value)
            elif name == "href":
                self.links.append(value)

    def handle_endtag(self, tag: str) -> None:
        self.in_math -= tag == "math"

    def handle_data(self, data: str) -> None:
        if self.in_math:
            self.formulas.append(data)


def addresses(css: str) -> list[str]:
    """What a style sheet loads."""
    found = re.findall(r"""url\(\s*['"]?([^'")]+)|@import\s+['"]([^'"]+)""", css)
    return [address for pair in found for address in pair if address]


def problems(site: Path) -> list[str]:
    """One sentence each; none for a good site."""
    pages = {}
    for path in sorted(site.rglob("*.html")):
        pages[path] = page = Page()
        page.feed(path.read_text(encoding="utf-8"))
    found = []
    for path, page in pages.items():
        name = path.relative_to(site).as_posix()
        found += [f"{name}: {why}" for address in page.loaded if (why := _load(path.parent, address))]
        found += [f"{name}: {why}" for address in page.links if (why := _link(path, address, pages))]
        found += [
            f"{name}: the formula has {text.strip()!r}, which was not understood"
            for text in page.formulas
            if "\\" in text or "&" in text
        ]
    for path in sorted(site.rglob("*.css")):
        name = path.relative_to(site).as_posix()
        text = path.read_text(encoding="utf-8")
        found += [f"{name}: {why}" for address in addresses(text) if (why := _load(path.parent, address))]
    return found


def _load(folder: Path, address: str) -> str | None:
    parts = urlsplit(address)
    if parts.scheme == "data" or address.startswith("#"):
        return None
    if parts.scheme or parts.netloc:
        return f"{address} is loaded from another host"
    return None if (folder / unquote(parts.path)).exists() else f"{address} does not exist"


def _link(path: Path, address: str, pages: dict[Path, Page]) -> str | None:
    parts = urlsplit(address)
    if parts.scheme in ("http", "https", "mailto"):
        return None
    if parts.scheme or parts.netloc:
        return f"{address} is no address"
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.exists():
        return f"{address} does not exist"
    anchor = unquote(parts.fragment)
    if anchor and target in pages and anchor not in pages[target].ids:
        return f"{address}: there is no such place on that page"
    return None


def main(site: Path) -> int:
    """Prints what is wrong; 1 if anything is."""
    found = problems(site.resolve())
    for problem in found:
        print(problem)
    print(f"{len(list(site.rglob('*.html')))} pages, {len(found)} problems")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
