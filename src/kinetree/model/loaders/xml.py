"""XML with line numbers, read and written, with nothing in it but elements: entities and external references are
refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from kinetree.errors import ModelError


@dataclass(eq=False)
class Element:
    """One XML element with the line it starts on; `text` is what stands in it outside of its children."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    line: int = 0
    text: str = ""
    children: list[Element] = field(default_factory=list)

    def all(self, tag: str) -> Iterator[Element]:
        return (child for child in self.children if child.tag == tag)

    def first(self, tag: str) -> Element | None:
        return next(self.all(tag), None)


def parse(text: bytes | str, source: str) -> Element:
    """The root element; `source` names the file in errors."""
    parser = expat.ParserCreate("utf-8" if isinstance(text, str) else None)
    open_elements: list[Element] = []
    roots: list[Element] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, parser.CurrentLineNumber)
        (open_elements[-1].children if open_elements else roots).append(element)
        open_elements.append(element)

    def end(tag: str) -> None:
        open_elements.pop()

    def characters(text: str) -> None:
        open_elements[-1].text += text

    def refuse(*_: object) -> None:
        raise ModelError(f"{source}, line {parser.CurrentLineNumber}: entity declarations are not accepted")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.buffer_text = True
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(text, True)
    except expat.ExpatError as problem:
        reason = expat.ErrorString(problem.code)
        raise ModelError(f"{source}, line {problem.lineno}: not well-formed XML ({reason})") from None
    except (LookupError, ValueError, UnicodeError) as problem:
        raise ModelError(f"{source}: cannot be read as XML ({problem})") from None
    return roots[0]


def written(root: Element) -> str:
    """The document, two spaces deeper with every level."""
    return '<?xml version="1.0" encoding="utf-8"?>\n' + "".join(_lines(root, ""))


def _lines(element: Element, indent: str) -> Iterator[str]:
    attributes = "".join(f' {name}="{_escaped(value)}"' for name, value in element.attributes.items())
    if not element.children:
        yield f"{indent}<{element.tag}{attributes}/>\n"
        return
    yield f"{indent}<{element.tag}{attributes}>\n"
    for child in element.children:
        yield from _lines(child, indent + "  ")
    yield f"{indent}</{element.tag}>\n"


def _escaped(value: str) -> str:
    unsafe = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
    return "".join(unsafe.get(character, character) for character in value)
