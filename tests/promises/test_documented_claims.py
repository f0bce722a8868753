"""What the documents claim in strong words or numbers stands beside the test that shows it, in `claims.txt`."""

import re

import pytest

from claims import LIST, PAGES, ROOT, Claim, claims, evidence, functions_of, is_claim, listed, sentences, written


@pytest.mark.parametrize("page", PAGES)
def test_every_claim_of_a_page_has_its_evidence(page):
    missing = [(claim, "?") for claim in claims() if claim.page == page and evidence(claim) is None]
    hint = f"add evidence for these sentences to {LIST.relative_to(ROOT)}, or reword them:\n"
    assert not missing, hint + written(missing)


def test_every_listed_sentence_still_stands_in_its_page():
    stand = set(claims())
    general = {claim.sentence for claim in stand}
    gone = [claim for claim in listed() if claim not in stand and not (claim.page == "*" and claim.sentence in general)]
    assert not gone, "python tests/claims.py --tidy takes these out:\n" + written([(c, "") for c in gone])


@pytest.mark.parametrize("page", ["*", *PAGES])
def test_evidence_exists(page):
    for claim, shown in listed().items():
        if claim.page != page or shown in ("words", "once"):
            continue
        kind, _, name = shown.partition(" ")
        if kind == "page":
            assert re.search(r"^```python$", (ROOT / page).read_text(), re.MULTILINE), claim.sentence
        elif kind == "record":
            assert (ROOT / "benchmarks" / "results" / name).is_file(), claim.sentence
        elif kind == "measured":
            assert (ROOT / name).is_file(), claim.sentence
        else:
            for test in shown.split(", "):
                path, _, function = test.partition("::")
                assert (ROOT / path).is_file(), f"{test} is said to show: {claim.sentence}"
                assert function in functions_of(path), f"{test} is said to show: {claim.sentence}"


def test_most_claims_are_shown_by_tests():
    kinds = [shown.split()[0] for shown in listed().values()]
    assert sum("::" in kind for kind in kinds) > 0.8 * len(kinds)
    assert kinds.count("once") <= 8


def test_what_counts_as_a_claim():
    page = "# All is a title\n\nIt never fails. It may.\nTakes 3 ms\n\n- any\n- some `all`\n\n| 2 | of 1e-9 |\n"
    page += "\n```python\nall()\n```\n"
    assert sentences(page) == ["It never fails.", "It may.", "Takes 3 ms", "any", "some `all`", "| 2 | of 1e-9 |"]
    assert [is_claim(sentence) for sentence in sentences(page)] == [True, False, True, True, False, True]
    assert {Claim("*", "All code on this page runs in the tests.")} <= set(listed())
