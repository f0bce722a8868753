"""What an MJCF file would cost, before MuJoCo is given it: a quick word, with the line, about what is far too large.

Elements are counted as often as <replicate> repeats them, included files with them. The limits themselves are held by
the process that MuJoCo compiles in; this reader says where the trouble stands, and finds what MuJoCo would take without
a word. It reads every byte a bounded number of times.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from xml.parsers import expat

from kinetree.errors import ModelError, short

MOST_BYTES = 256 * 2**20
"""Meshes may stand in the file, number by number; included files count with it."""
MOST_ELEMENTS = 300_000
MOST_CELLS = 100_000_000
"""Pixels of all textures, points of all height fields."""
MOST_OF_EACH = dict.fromkeys(("nkey", "nuser_body", "nuser_jnt", "nuser_geom", "nuser_site"), 1000)
"""Keyframes, and numbers of the user's own for each element."""
REPEATING = re.compile(rb"<\s*(?:replicate|composite|flexcomp|size|attach|model|plugin|user)\b")
"""Elements of which one may stand for many."""
GRIDS = {"texture": ("width", "height"), "hfield": ("nrow", "ncol")}
TOKEN = re.compile(
    rb"""(?P<comment><!--.*?(?:-->|\Z)) | <!\[CDATA\[.*?(?:\]\]>|\Z) | <\?.*?(?:\?>|\Z)
    | <(?:[^"'>]++|"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))*+(?:>|\Z)""",
    re.DOTALL | re.VERBOSE,
)
"""Whatever begins with < in XML. Each begins where the last one ended and none can fail, so a text is read once."""
PROLOGUE = re.compile(
    rb"\s*+(?:<\?.*?\?>\s*+|<!--.*?-->\s*+|<!DOCTYPE[^\[>]*+(?:\[.*?\]\s*+)?>\s*+)*+<(?P<root>[^\s<>/!?]++)", re.DOTALL
)
NOT_A_NUMBER = re.compile(r"(?:^|[\s,])[+-]?nan(?:$|[\s,])", re.IGNORECASE)
WITH_NAMES = {"name", "class", "childclass", "model", "file", "site", "body", "joint", "geom", "material", "mesh"}
"""Attributes in which nan is a word."""


def is_mjcf(text: bytes | str, tag: str = "mujoco") -> bool:
    """Whether the root element is <mujoco>, or begins to be; what is not XML at all is not."""
    data = text.encode("utf-8", "replace") if isinstance(text, str) else text
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in data[:4]:
        data = data.decode("utf-16", "replace").encode("utf-8", "replace")  # refused later, as what it is
    root = PROLOGUE.match(data.removeprefix(b"\xef\xbb\xbf"))
    return root is not None and root["root"].startswith(tag.encode())


def check_cost(text: bytes | str, source: str, folder: Path) -> ModelError | None:
    """Raises for a document that would become too large; includes are looked for in the folder.

    An error is returned if it is not XML, for MuJoCo may read it nonetheless.
    """
    guard = _Guard(folder)
    guard.add(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"), source, 1)
    while guard.waiting:
        guard.read(*guard.waiting.pop())
    return guard.ill_formed


class _Guard:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bytes = self.elements = self.cells = 0
        self.ill_formed: ModelError | None = None
        self.included: set[Path] = set()
        self.waiting: list[tuple[bytes, str, int]] = []

    def add(self, text: bytes, source: str, times: int) -> None:
        self.bytes += len(text)
        if self.bytes > MOST_BYTES:
            raise ModelError(f"{source} has {self.bytes >> 20} MB; expected a model of at most {MOST_BYTES >> 20} MB")
        self.waiting.append((text, source, times))

    def read(self, text: bytes, source: str, times: int) -> None:
        """Count what is in a document that is used so many times; what it includes waits for its turn."""
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
            counts = [_count(word) for word in attributes.get("count", "").split(maxsplit=3)[:3]]
            self.elements += repeats[-1] * (math.prod(counts) if tag in ("composite", "flexcomp") else 1)
            if self.elements > MOST_ELEMENTS:
                raise error(f"<{tag}>: with it there are more than {MOST_ELEMENTS} elements; no robot has that many")
            repeats.append(repeats[-1] * (math.prod(counts[:1]) if tag == "replicate" else 1))
            if tag in GRIDS:
                self.cells += repeats[-1] * math.prod([_count(attributes.get(side, "")) for side in GRIDS[tag]])
            sizes = {name: _count(value) for name, value in attributes.items()} if tag == "size" else {}
            if self.cells > MOST_CELLS or any(n > MOST_OF_EACH.get(name, MOST_CELLS) for name, n in sizes.items()):
                raise error(f"<{tag}>: it takes more memory than any model should")
            for name, value in attributes.items():
                if name not in WITH_NAMES and NOT_A_NUMBER.search(value[:MOST_ELEMENTS]):
                    raise error(f"<{tag}> {name} is {short(value)}; expected numbers")
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
            ill_formed = ModelError(f"{source}, line {problem.lineno}: not well-formed XML ({reason})")
            if REPEATING.search(text):  # behind the fault nothing was counted
                raise ill_formed from None
            self.ill_formed = self.ill_formed or ill_formed

    def include(self, file: str, source: str, times: int) -> None:
        """A file that is not where it is looked for first is left to MuJoCo, which knows more places."""
        for folder in (self.folder, Path(source).parent):
            try:
                path = (folder / file).resolve()
                if path in self.included or not path.is_file():
                    continue
                with path.open("rb") as document:
                    text = document.read(MOST_BYTES - self.bytes + 1)
            except (OSError, ValueError):
                continue
            self.included.add(path)
            if b"<" in text[:1000]:  # not a binary model
                self.add(text, str(path), times)


def _without_comments(text: bytes) -> bytes:
    """With as many lines; MuJoCo allows -- in a comment, which XML does not."""
    return TOKEN.sub(lambda token: b"\n" * token[0].count(b"\n") if token["comment"] else token[0], text)


def _count(word: str) -> int:
    """The number a word begins with, as MuJoCo would read it; 1 if it is none, for MuJoCo to refuse."""
    digits = re.match(r"\s*\+?(\d{1,18}(?:\.\d{0,18})?(?:[eE]\+?\d{1,2})?)", word)
    return max(1, int(float(digits[1]))) if digits else 1
