"""Names become identifiers of C that mean nothing else; texts become comments and literals that end as they should."""

import subprocess

import pytest

import kinetree as kt
from c_libraries import needs_gcc, run
from kinetree.interop import c_names


def test_identifiers():
    assert c_names.identifier("ur5_left") == "ur5_left"
    for wrong in ("", "5", "_a", "a b", "a-b", "für", "int", "class", None, 3, b"a"):
        with pytest.raises(kt.KinetreeError, match="name is"):
            c_names.identifier(wrong)
    assert c_names.as_word("g1-29dof") == "g1_29dof"
    assert c_names.as_word("5 µm") == "robot_5_m" and c_names.as_word("int") == "robot_int"


def test_parameters_differ_and_mean_nothing_else():
    given = [
        "q",
        "q",
        "w",
        "t1",
        "b22",
        "sum",
        "double",
        "fma",
        "sines0",
        "τ",
        "",
        "1st",
        "refused_0",
        "between_x",
        "q_",
    ]
    names = c_names.parameters(given)
    assert len(set(names)) == len(given) and names[0] == "q"
    for name in names:
        assert name.isascii() and name.isidentifier()
    assert not set(names) & {"w", "t1", "b22", "sum", "double", "fma", "sines0", "refused_0", "between_x"}


def test_codes_have_the_words_of_their_sentences():
    assert c_names.code_name("the mass matrix is singular at this state, or nearly so") == "MASS_MATRIX_SINGULAR"
    assert c_names.code_name("q has a quaternion that is not of unit length") == "Q_HAS_QUATERNION_NOT_UNIT_LENGTH"
    assert c_names.code_name("…") == "REFUSED"
    assert c_names.unique(["A", "A", "B", "A"]) == ["A", "A_2", "B", "A_3"]


@needs_gcc
def test_comments_and_strings_end_where_they_should(tmp_path):
    text = 'a*/ b /* c \\ d \n e "f" ??/ g\x07 ä'
    (tmp_path / "p.c").write_text(
        f"/* {c_names.comment(text)} */\n#include <stdio.h>\n"
        f"int main(void) {{ fputs({c_names.string(text)}, stdout); return 0; }}\n"
    )
    run("gcc", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "p.c", "-o", "p", folder=tmp_path)
    assert subprocess.run([tmp_path / "p"], capture_output=True, check=True).stdout == text.encode()
