"""LLVM is not asked twice for the same text, whatever the names in it are."""

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import samovar as sv
from samovar._native import numbered_names as canonical


def make():
    @sv.kernel
    def triple(a: sv.types.NDArray[sv.f64, 1]):
        for i in range(a.shape[0]):
            a[i] *= 3.0625

    return triple


def test_kernels_that_come_to_the_same_text_share_an_image():
    sv.reset()  # whatever options the test before has left
    a = np.ones(5)
    make()(a)
    before = sv.compile_count("llvm")
    make()(a)
    sv.reset()
    make()(a)
    assert sv.compile_count("llvm") == before
    assert (a == 3.0625**3).all()


def test_another_option_that_matters_is_another_image():
    a = np.ones(5)
    make()(a)
    before = sv.compile_count("llvm")
    sv.init(debug=True)
    try:
        make()(a)
    finally:
        sv.reset()
    assert sv.compile_count("llvm") == before + 1


def test_names_of_locals_and_labels_mean_nothing():
    one = "define i32 @f(i32 %x) {\nentry:\n  br label %loop\nloop:\n  %y = add i32 %x, 1\n  ret i32 %y\n}"
    two = one.replace("%y", "%other").replace("loop", "around")
    assert canonical(one) == canonical(two)


def test_a_name_means_something_in_its_function_only():
    one = "define i32 @f(i32 %x) {\n  ret i32 %x\n}\ndefine i32 @g(i32 %z) {\n  %y = add i32 %z, 1\n  ret i32 %y\n}"
    assert canonical(one) == canonical(one.replace("%x", "%y"))


def test_names_that_trade_places_are_another_program():
    one = "define i32 @f(i32 %x, i32 %y) {\n  %z = sub i32 %x, %y\n  ret i32 %z\n}"
    assert canonical(one) != canonical(one.replace("sub i32 %x, %y", "sub i32 %y, %x"))
    jump = "entry:\n  br label %a\na:\n  ret i32 1\nb:\n  ret i32 2\n"
    assert canonical(jump) != canonical(jump.replace("label %a", "label %b"))


def test_functions_and_globals_keep_their_names():
    assert canonical("call void @f()") != canonical("call void @g()")


#: The rule as a regular expression: a name that is used, or one that stands at the beginning of a line.
NAME = re.compile(r'%("[^"]*"|[-a-zA-Z$._0-9]+)|^("[^"]*"|[-a-zA-Z$._0-9]+):', re.MULTILINE)


def numbered(function):
    numbers = {}

    def number(found):
        used, stands = found.groups()
        known = numbers.setdefault(used or stands, len(numbers))
        return f"%{known}" if used else f"{known}:"

    return NAME.sub(number, function)


WORDS = st.sampled_from(
    ["%", "x", "%x", "%x.1", '%"a b"', '"a b":', '"', "y:", "x:", ":", "\n", "  ", "define ", "define", "@f(", "é", "%é"]
)


@given(st.lists(WORDS, max_size=60).map("".join))
def test_names_are_numbered_by_one_rule(text):
    expected = "".join(map(numbered, re.split(r"^(?=define )", text, flags=re.MULTILINE)))
    assert canonical(text) == expected


def test_thousands_of_names_are_told_apart():
    text = "define void @f() {\n" + "".join(f"  %x{n} = add i32 %x{n * 7 % 5000}, {n}\n" for n in range(5000)) + "}\n"
    assert canonical(text * 3) == numbered(text) * 3
