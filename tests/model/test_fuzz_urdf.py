"""Damaged documents are robots or errors of this library, never anything else; more of the same with -m long."""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fuzz_urdf
import kinetree as kt
from peers import readable_urdfs, urdf_files

AT_LENGTH = settings(max_examples=30_000, suppress_health_check=list(HealthCheck), derandomize=False)


@settings(max_examples=600, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_damaged_documents(rng):
    fuzz_urdf.run(rng)


@given(st.binary(max_size=200) | st.text(max_size=200))
def test_anything_at_all(document):
    with pytest.raises(kt.KinetreeError):
        kt.load(document)


def test_the_fuzzer_sees_both_outcomes():
    outcomes = [fuzz_urdf.run(random.Random(seed)) for seed in range(120)]
    assert outcomes.count("loaded") > 20
    assert outcomes.count("refused") > 40


def test_the_undamaged_documents_load():
    for text in fuzz_urdf.documents():
        assert fuzz_urdf.check(text, "floating") == "loaded"


@pytest.mark.long
@AT_LENGTH
@given(st.randoms(use_true_random=True))
def test_very_many_damaged_documents(rng):
    fuzz_urdf.run(rng)


@pytest.mark.long
@pytest.mark.parametrize("name", readable_urdfs())
def test_damaged_real_robots(name):
    text = urdf_files()[name].read_text()
    for seed in range(60):
        rng = random.Random(seed)
        fuzz_urdf.check(fuzz_urdf.damaged(text, rng), rng.choice(("fixed", "floating")))
