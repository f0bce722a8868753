"""XML with line numbers, read and written, with nothing in it but elements: document types and entities are refused.

What a file can cost is bounded: its size, and the number and depth of its elements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from kinetree.errors import ModelError

MOST_BYTES = 32 * 2**20
"""The largest description of a robot known to us has 0.2 MB."""
MOST_ELEMENTS = 300_000
DEEPEST = 200
DEEPEST_INDENT = 100
"""Below it lines start where they started above: indents would make up most of a long chain's file."""
SPACE = " \t\r\n"
LONGEST_TEXT = 200
"""Of the text in an element this much is kept: no model needs any of it, but whoever wrote it is told."""


@dataclass(eq=False, slots=True)
class Element:
    """One XML element with the line it starts on; `text` is the beginning of what stands in it beside its children."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    line: int = 0
    text: str = ""
    children: list[Element] = field(default_factory=list)
    size: int = 0
    """Bytes from the start of its first tag to that of its last, if they are asked for."""

    def all(self, tag: str) -> list[Element]:
        return [child for child in self.children if child.tag == tag]


def check_size(size: int, source: str, most_bytes: int = MOST_BYTES) -> None:
    """Raises for a document that is too large to be a robot."""
    if size > most_bytes:
        megabytes, most = size / 2**20, most_bytes // 2**20
        raise ModelError(f"{source} has {megabytes:.0f} MB; expected a robot's description, of at most {most} MB")


def parse(
    text: bytes | str,
    source: str,
    foreign: Callable[[str], str | None] = lambda tag: None,
    most_bytes: int = MOST_BYTES,
    sizes: bool = False,
) -> Element:
    """The root element; `source` names the file in errors.

    `foreign` says of the tag of a root element what kind of file that would be, so that a page of HTML is called so
    instead of ill-formed.
    """
    check_size(len(text), source, most_bytes)
    begun, above = without_space_before(text)
    parser = expat.ParserCreate("utf-8" if isinstance(text, str) else None)
    parser.buffer_text = True
    roots, opened, count = list[Element](), list[Element](), 0

    def error(problem: str, line: int | None = None) -> ModelError:
        return ModelError(f"{source}, line {above + (line or parser.CurrentLineNumber)}: {problem}")

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if count > MOST_ELEMENTS:
            raise error(f"there are more than {MOST_ELEMENTS} elements; no robot has that many")
        element = Element(tag, attributes, above + parser.CurrentLineNumber)
        element.size = -parser.CurrentByteIndex if sizes else 0
        if opened:
            opened[-1].children.append(element)
            if len(opened) == DEEPEST:
                raise error(f"the elements are nested more than {DEEPEST} deep; no robot is")
        else:
            if kind := foreign(tag):
                raise error(f"this is {kind}; expected URDF")
            roots.append(element)
        opened.append(element)

    def end(tag: str) -> None:
        opened.pop().size += parser.CurrentByteIndex if sizes else 0

    def characters(text: str) -> None:
        element = opened[-1]
        if len(element.text) < LONGEST_TEXT and not text.isspace():
            element.text += text[:LONGEST_TEXT]

    def document_type(name: str, system: str | None, public: str | None, internal: int) -> None:
        if kind := foreign(name):
            raise error(f"this is {kind}; expected URDF")
        if system or public or internal:
            raise error("there is a document type declaration; its entities and external files are not read")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.StartDoctypeDeclHandler = document_type
    try:
        parser.Parse(begun, True)
    except expat.ExpatError as problem:
        if _looks_like_html(text) and (kind := foreign("html")):
            raise error(f"this is {kind}; expected URDF", 1) from None
        raise error(f"not well-formed XML ({expat.ErrorString(problem.code)})", problem.lineno) from None
    except (LookupError, ValueError, UnicodeError) as problem:
        if isinstance(problem, ModelError):
            raise
        raise ModelError(f"{source}: cannot be read as XML ({problem})") from None
    return roots[0]


def without_space_before(text: bytes | str) -> tuple[bytes | str, int]:
    """The text from its first character that is no space, and how many lines there were before: a declaration <?xml …?>
    must stand first, though other readers do not insist."""
    begun = text.lstrip(SPACE) if isinstance(text, str) else text.lstrip(SPACE.encode())
    before = text[: len(text) - len(begun)]
    return begun, before.count("\n") if isinstance(before, str) else before.count(b"\n")


def written(root: Element) -> str:
    """The document, two spaces deeper with every level."""
    return '<?xml version="1.0" encoding="utf-8"?>\n' + "".join(_lines(root))


def number(value: float) -> str:
    """As short as it can be to be read as the same number."""
    return repr(float(value) + 0.0).removesuffix(".0")  # + 0.0: no -0


def numbers(values: Iterable[float]) -> str:
    """Each as short as it can be, spaces in between."""
    return " ".join(map(number, values))


def _lines(root: Element) -> Iterator[str]:
    """Line by line, with a list of what is still to come: a chain of bodies may be deeper than Python's stack."""
    waiting: list[tuple[Element | str, int]] = [(root, 0)]
    while waiting:
        element, depth = waiting.pop()
        indent = "  " * min(depth, DEEPEST_INDENT)
        if isinstance(element, str):
            yield f"{indent}</{element}>\n"
            continue
        attributes = "".join(f' {name}="{_escaped(value)}"' for name, value in element.attributes.items())
        if not element.children:
            text = f">{_escaped(element.text)}</{element.tag}>" if element.text else "/>"
            yield f"{indent}<{element.tag}{attributes}{text}\n"
            continue
        yield f"{indent}<{element.tag}{attributes}>\n"
        waiting.append((element.tag, depth))
        waiting += [(child, depth + 1) for child in reversed(element.children)]


def _escaped(value: str) -> str:
    unsafe = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
    return "".join(unsafe.get(character, character) for character in value)


def _looks_like_html(text: bytes | str) -> bool:
    """Pages of HTML start with what would be a document type, were it in capitals."""
    start = text[:100].lstrip().lower()
    return start.startswith("<!doctype html") if isinstance(start, str) else start.startswith(b"<!doctype html")
