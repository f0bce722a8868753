"""The search of the site finds what people look for on the page about it."""

import pytest

from search_queries import QUERIES, pages, ranking


@pytest.mark.parametrize("query", QUERIES)
def test_the_page_about_it_comes_first(query):
    found = ranking(query)
    assert found and found[0][1] == QUERIES[query], found[:4]


def test_every_expected_page_exists_and_is_asked_for_by_enough_queries():
    assert set(QUERIES.values()) <= set(pages())
    assert len(QUERIES) >= 60


def test_a_title_that_is_the_query_comes_before_a_word_in_the_text():
    scores = dict((name, score) for score, name in ranking("Quadratic programs"))
    assert scores["qp"] > 2 * scores["whole_body"]
