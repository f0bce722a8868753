"""What an MJCF file would cost, before MuJoCo is given it: MuJoCo reads what it gets, a billion bodies too.

Elements are counted as often as <replicate> repeats them, included files with them. MuJoCo's own reader says what
else is wrong with a file; this one finds only what it would not survive, or would take without a word.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from xml.parsers import expat

from kinetree.errors import ModelError

MOST_BYTES = 256 * 2**20
"""Meshes may stand in the file, number by number."""
MOST_ELEMENTS = 300_000
MOST_CELLS = 100_000_000
"""Pixels of a texture, points of a height field."""
GRIDS = {"texture": ("width", "height"), "hfield": ("nrow", "ncol")}
COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
NOT_A_NUMBER = re.compile(r"(?:^|[\s,])[+-]?nan(?:$|[\s,])", re.IGNORECASE)
WITH_NAMES = {"name", "class", "childclass", "model", "file", "site", "body", "joint", "geom", "material", "mesh"}
"""Attributes in which nan is a word."""


class _Found(Exception):
    """The root element was read; the rest does not matter."""


def is_mjcf(text: bytes | str) -> bool:
    """Whether the root element is <mujoco>, or begins to be; what is not XML at all is not."""
    data = text.encode("utf-8", "replace") if isinstance(text, str) else text
    parser = expat.ParserCreate("utf-8" if isinstance(text, str) else None)
    found: list[str] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        found.append(tag)
        raise _Found

    parser.StartElementHandler = start
    with suppress(_Found, expat.ExpatError, ValueError, LookupError):
        parser.Parse(_without_comments(data), True)
    unfinished = not found and re.match(rb"(?:\xef\xbb\xbf)?\s*(?:<\?[^>]*>\s*)?<(mujoco\w*)", _without_comments(data))
    return bool(unfinished) or (bool(found) and found[0].startswith("mujoco"))


def check_cost(text: bytes | str, source: str, folder: Path) -> None:
    """Raises for a document that is not XML, or would become too large; includes are looked for in the folder."""
    _Guard(folder).read(text if isinstance(text, bytes) else text.encode("utf-8", "replace"), source, 1)


class _Guard:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.elements = 0
        self.included: set[Path] = set()

    def read(self, text: bytes, source: str, times: int) -> None:
        """Count what is in a document that is used so many times."""
        if len(text) > MOST_BYTES:
            raise ModelError(f"{source} has {len(text) >> 20} MB; expected a model of at most {MOST_BYTES >> 20} MB")
        try:
            text.decode("utf-8")
        except UnicodeDecodeError as problem:
            line = text.count(b"\n", 0, problem.start) + 1
            raise ModelError(f"{source}, line {line}: it is not encoded in UTF-8, which MuJoCo expects") from None
        parser = expat.ParserCreate("utf-8")
        repeats = [times]

        def error(problem: str) -> ModelError:
            return ModelError(f"{source}, line {parser.CurrentLineNumber}: {problem}")

        def start(tag: str, attributes: dict[str, str]) -> None:
            counts = [_count(word) for word in attributes.get("count", "").split()]
            self.elements += repeats[-1] * (_product(counts) if tag in ("composite", "flexcomp") else 1)
            if self.elements > MOST_ELEMENTS:
                raise error(f"<{tag}>: with it there are more than {MOST_ELEMENTS} elements; no robot has that many")
            repeats.append(repeats[-1] * (_product(counts[:1]) if tag == "replicate" else 1))
            cells = _product([_count(attributes.get(side, "")) for side in GRIDS.get(tag, ())])
            if cells > MOST_CELLS or (tag == "size" and any(_count(n) > MOST_CELLS for n in attributes.values())):
                raise error(f"<{tag}>: it takes more memory than any model should")
            for name, value in attributes.items():
                if name not in WITH_NAMES and NOT_A_NUMBER.search(value[:MOST_ELEMENTS]):
                    raise error(f"<{tag}> {name} is {value[:60]!r}; expected numbers")
            if tag in ("include", "model") and "file" in attributes:
                self.include(attributes["file"], source, repeats[-1])

        def end(tag: str) -> None:
            repeats.pop()

        def document_type(*_: object) -> None:
            raise error("there is a document type declaration; MuJoCo would not read its entities")

        parser.StartElementHandler, parser.EndElementHandler = start, end
        parser.StartDoctypeDeclHandler = document_type
        try:
            parser.Parse(_without_comments(text), True)
        except expat.ExpatError as problem:
            reason = expat.ErrorString(problem.code)
            raise ModelError(f"{source}, line {problem.lineno}: not well-formed XML ({reason})") from None

    def include(self, file: str, source: str, times: int) -> None:
        """A file that is not where it is looked for first is left to MuJoCo, which knows more places."""
        for folder in (self.folder, Path(source).parent):
            try:
                path = (folder / file).resolve()
                if path in self.included or not path.is_file():
                    continue
                if path.stat().st_size > MOST_BYTES:
                    raise ModelError(f"{path} has {path.stat().st_size >> 20} MB; no model has that many")
                text = path.read_bytes()
            except (OSError, ValueError):
                continue
            self.included.add(path)
            if b"<" in text[:1000]:  # not a binary model
                self.read(text, str(path), times)


def _without_comments(text: bytes) -> bytes:
    """With as many lines; MuJoCo allows -- in a comment, which XML does not."""
    return COMMENT.sub(lambda comment: b"\n" * comment[0].count(b"\n"), text)


def _count(word: str) -> int:
    """The number a word begins with, as MuJoCo would read it; 1 if it is none, for MuJoCo to refuse."""
    digits = re.match(r"\s*\+?(\d{1,18})", word)
    return max(1, int(digits[1])) if digits else 1


def _product(numbers: list[int]) -> int:
    product = 1
    for number in numbers:
        product *= number
    return product
