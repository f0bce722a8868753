"""Robots that the tests of several libraries export."""

import pytest

import kinetree as kt


@pytest.fixture(scope="session")
def arm():
    return kt.load("arm6")


@pytest.fixture(scope="session")
def walker():
    return kt.load("quadruped", base="floating")
