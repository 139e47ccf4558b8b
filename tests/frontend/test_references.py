"""Template parameters of funcs: the caller's variable changes, and where there is none, assigning one is refused."""

import dataclasses
import textwrap

import numpy as np
import pytest

import samovar as sv


@sv.func
def increment(x: sv.template()):
    x += 1


@sv.func
def assign(x: sv.template()):
    x = x + 1


@sv.func
def pass_on(x: sv.template()):
    increment(x)


@sv.func
def change_and_pass_on(x: sv.template(), y: sv.template()):
    x += 10
    increment(x=y)


@sv.func
def add_atomically(x: sv.template()):
    sv.atomic_add(x, 5)


@sv.func
def pass_on_a_copy(x):
    y = x
    assign(y)
    return y


@sv.func
def only_where_it_is_asked_for(x: sv.template(), asked: sv.template()):
    if sv.static(asked):
        x += 1
    return x


@sv.kernel
def at_the_top() -> sv.i32:
    x = 1
    y = 2
    increment(x)
    assign(y)
    pass_on(x)
    change_and_pass_on(x, y)
    add_atomically(y)
    return x * 1000 + y * 10 + pass_on_a_copy(x) - x


@sv.kernel
def in_a_loop(a: sv.types.NDArray[sv.i32, 1]):
    for i in a:
        x = i
        y = 2
        pass_on(x)
        change_and_pass_on(y=x, x=y)
        only_where_it_is_asked_for(x, True)
        a[i] = x * 100 + y


def test_a_variable_of_the_caller_changes_also_through_two_funcs():
    assert at_the_top() == 13 * 1000 + 9 * 10 + 1
    a = np.zeros(4, np.int32)
    in_a_loop(a)
    assert a.tolist() == [(i + 3) * 100 + 12 for i in range(4)]


@dataclasses.dataclass
class Numbers:
    n: int = 3


@sv.data_oriented
class Solver:
    def __init__(self):
        self.n = 3


class Names:
    captured = 7


@sv.func
def with_a_copy(x):
    increment(x)
    return x


@sv.func
def with_default(x: sv.template() = 3):
    x += 1


#: The call, and what cannot be assigned.
REFUSED = {
    "a literal": ("increment(3)", "the compile-time value 3"),
    "an expression": ("increment(local + 1)", "a value that is no variable"),
    "an element": ("increment(a[0])", "a value that is no variable"),
    "a parameter of the kernel": ("assign(n)", "a value that is no variable"),
    "a loop variable": ("for i in a:\n        increment(i)", "a value that is no variable"),
    "a member": ("increment(numbers.n)", "the member `numbers.n`"),
    "a baked member": ("assign(solver.n)", "the compile-time value 3"),
    "a captured number": ("increment(captured)", "the compile-time value 7"),
    "a compile-time name": ("known = sv.static(4)\n    increment(known)", "the compile-time value 4"),
    "a parameter by value": ("with_a_copy(local)", "a value that is no variable"),
    "through two funcs": ("pass_on(3)", "the compile-time value 3"),
    "a default": ("with_default()", "the compile-time value 3"),
    "an array": ("increment(a)", "the array `a`"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_variable_of_the_caller_cannot_be_assigned(tmp_path, case):
    call, named = REFUSED[case]
    names = dict(globals(), captured=Names.captured)
    text = textwrap.dedent(
        """
        @sv.kernel
        def k(a: sv.types.NDArray[sv.i32, 1], n: sv.i32, numbers: Numbers, solver: sv.Template):
            local = 1
            {}
        """
    ).format(call)
    path = tmp_path / "case.py"
    path.write_text(text)
    exec(compile(text, str(path), "exec"), names)
    with pytest.raises(sv.SamovarSyntaxError) as caught:
        names["k"](np.zeros(2, np.int32), 1, Numbers(), Solver())
    message = str(caught.value)
    assert f"`x` is a template parameter, through which the caller's variable would change, and {named} cannot" in message
    function = with_default if case == "a default" else assign if "assign(" in call else increment
    line = function.__wrapped__.__code__.co_firstlineno + 2
    assert f"{__file__}:{line}" in message
    assert "| " + " " * 4 + "^\n" in message
    assert "help: pass a variable" in message
    assert f"called from k at {path}:" in message


def test_a_branch_that_is_not_taken_assigns_nothing():
    @sv.kernel
    def k() -> sv.i32:
        return only_where_it_is_asked_for(3, False)

    assert k() == 3
