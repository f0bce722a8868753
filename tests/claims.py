"""Sentences of the documents that claim something in strong words or numbers, and the list of what shows each of them.

`claims.txt` beside this file has a section for every page, `== docs/ik.md`, and in it, for every such sentence, a line
`- sentence` and under it a line with its evidence:

    tests/path.py::test_name    that test, or several of them with commas between
    page                        code of the same page, which runs in the tests and asserts it
    record calls.json           a record in benchmarks/results, from which the numbers are copied
    measured benchmarks/ik.py   a script that measures it where it is run
    once                        measured by hand on the machine that the page names; nothing checks it
    words                       it defines or introduces something, or says what is not promised

    python tests/claims.py          sentences without evidence, in the format of the list
    python tests/claims.py --tidy   rewrites the list: what is gone leaves it, the rest in the order of pages
"""

import ast
import re
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
LIST = Path(__file__).with_name("claims.txt")
PAGES = ["README.md", *(path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*.md")))]

STRONG = re.compile(
    r"\b(always|never|any|anything|exactly|exact|every|everything|all|nothing|none|bit for bit|bitwise)\b",
    re.IGNORECASE,
)
UNIT = r"(?:ns|µs|ms|s|MB|GB|kB|%|×|mm|cm|ulp|N|kHz|Hz|times|operations|lines|steps|states|threads|nodes)"
NUMBER = re.compile(rf"\d ?{UNIT}(?![\w×])|\de-?\d|\b(?:two|three|four|five|six|ten|hundred|thousand) times\b")
QUIET = re.compile(r"`[^`]*`|\$[^$]*\$|\]\([^)]*\)|\*\*?\[.*?\]")
"""Code, formulas and addresses of links: no words of a sentence."""


class Claim(NamedTuple):
    page: str
    sentence: str


def sentences(text: str) -> list[str]:
    """Of a page: sentences of paragraphs and items, rows of tables; headings and blocks of code are left out."""
    text = re.sub(r"^(```+).*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^\$\$$.*?^\$\$$", "", text, flags=re.DOTALL | re.MULTILINE)
    found = []
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*|#]|\d+\.) ?)", text):
        line = " ".join(block.split())
        if line.startswith("|"):
            found.append(line)
        elif line and not line.startswith("#"):
            found += re.split(r"(?<=[.!?])\s+(?=[^a-z\s])", line.removeprefix("- "))
    return found


def is_claim(sentence: str) -> bool:
    plain = QUIET.sub(" ", sentence)
    return bool(STRONG.search(plain) or NUMBER.search(plain))


@cache
def claims() -> tuple[Claim, ...]:
    """All there are, in the order of pages."""
    return tuple(
        dict.fromkeys(
            Claim(page, sentence)
            for page in PAGES
            for sentence in sentences((ROOT / page).read_text(encoding="utf-8"))
            if is_claim(sentence)
        )
    )


@cache
def listed() -> dict[Claim, str]:
    """Evidence by claim; the page `*` is any page."""
    found, page, sentence = {}, "", ""
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            page = line[3:]
        elif line.startswith("- "):
            sentence = line[2:]
        elif line.strip():
            found[Claim(page, sentence)] = line.strip()
    return found


def evidence(claim: Claim) -> str | None:
    return listed().get(claim) or listed().get(Claim("*", claim.sentence))


@cache
def functions_of(path: str) -> frozenset[str]:
    """Names of the test functions in a file."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def written(wanted: list[tuple[Claim, str]]) -> str:
    """In the format of the list."""
    lines, page = [], ""
    for claim, shown in wanted:
        if claim.page != page:
            page = claim.page
            lines += ["", f"== {page}"]
        lines += [f"- {claim.sentence}", f"  {shown}"]
    return "\n".join(lines).lstrip() + "\n"


def main() -> None:
    if "--tidy" in sys.argv:
        general = [(claim, shown) for claim, shown in listed().items() if claim.page == "*"]
        own = [(claim, listed()[claim]) for claim in claims() if claim in listed()]
        LIST.write_text(written(general + own), encoding="utf-8")
    print(written([(claim, "?") for claim in claims() if evidence(claim) is None]), end="")


if __name__ == "__main__":
    main()
