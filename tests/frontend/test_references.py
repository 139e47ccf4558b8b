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
def with_default(x: sv.template() = 3):
    x += 1


def test_an_element_changes_where_it_is():
    @sv.kernel
    def k(a: sv.types.NDArray[sv.i32, 1], v: sv.types.NDArray[sv.math.ivec2, 1]):
        for i in range(a.shape[0]):
            increment(a[i])
            pass_on(v[i])
            assign(v[i].y)
            change_and_pass_on(a[0], v[i][0])

    a, v = np.arange(3, dtype=np.int32), np.zeros((3, 2), np.int32)
    k(a, v)
    assert a.tolist() == [31, 2, 3]
    assert v.tolist() == [[2, 2]] * 3


#: The call, and what cannot be assigned.
REFUSED = {
    "a literal": ("increment(3)", "the compile-time value 3"),
    "an expression": ("increment(local + 1)", "a value that is not a variable"),
    "a parameter of the kernel": ("assign(n)", "a value that is not a variable"),
    "a loop variable": ("for i in a:\n        increment(i)", "a value that is not a variable"),
    "a member": ("increment(numbers.n)", "the member `numbers.n`"),
    "a baked member": ("assign(solver.n)", "the compile-time value 3"),
    "a captured number": ("increment(captured)", "the compile-time value 7"),
    "a compile-time name": ("known = sv.static(4)\n    increment(known)", "the compile-time value 4"),
    "through two funcs": ("pass_on(3)", "the compile-time value 3"),
    "a default": ("with_default()", "the compile-time value 3"),
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
    assert f"`x` is a template parameter, so assigning it would change the caller's variable, but {named} cannot" in message
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


# --- variables that come back


@sv.func
def countdown(x: sv.template(), limit):
    """Leaves in the middle, with the variable changed."""
    for _ in range(100):
        if x <= limit:
            return True
        x -= 1
    return False


@sv.func
def swap(x: sv.template(), y: sv.template()):
    x, y = y, x


@sv.func
def order(x: sv.template(), y: sv.template()):
    if x > y:
        swap(x, y)


@sv.func
def add_twice(x: sv.template(), y: sv.template()):
    x += 1
    y += 10


@sv.func
def step(x: sv.template()):
    x += 1


@sv.func
def own(p: sv.i32):
    step(p)
    increment(p)
    return p


@sv.kernel
def comes_back(a: sv.types.NDArray[sv.i32, 2]):
    for i in range(a.shape[0]):
        x = i + 5
        found = countdown(x, i)
        y = 3
        order(x, y)
        z = 1
        add_twice(z, z)
        a[i, 0] = x
        a[i, 1] = y
        a[i, 2] = found
        a[i, 3] = z
        a[i, 4] = own(i)


def test_a_func_may_return_early_and_change_variables():
    a = np.zeros((6, 5), np.int32)
    comes_back(a)
    assert a.tolist() == [[min(i, 3), max(i, 3), 1, 12, i + 2] for i in range(6)]


@sv.kernel
def total_of(n: sv.i32) -> sv.i32:
    total = 0
    for _ in range(n):
        add_atomically(total)
        increment(total)
    return total


def test_a_variable_that_iterations_share_is_changed_atomically():
    assert total_of(100_000) == 600_000


@sv.kernel
def named_like_a_function_of_the_language() -> sv.i32:
    n = 1
    for _ in range(sv.static(3)):
        step(n)
    if n > 0:
        step(x=n)
    return n


def test_a_func_may_have_the_name_of_a_known_function():
    assert named_like_a_function_of_the_language() == 5


@sv.func
def leaf(x: sv.template()):
    return x * 2


def doubled(depth):
    below = leaf if depth == 0 else doubled(depth - 1)

    @sv.func
    def branch(x: sv.template()):
        return below(x) + below(x)

    return branch


def test_a_tree_of_funcs_with_template_parameters_is_lowered_once_per_func():
    tree = doubled(20)

    @sv.kernel
    def k(n: sv.i32) -> sv.i64:
        x = sv.i64(n)
        x += 1
        return tree(x)

    assert k(1) == 2**23
    assert k.inspect("ir").count("func ") <= 23


@sv.func
def searched(a, wanted):
    for i in range(a.shape[0]):
        if a[i] == wanted:
            return i
    return -1


@sv.func
def filled(a, value):
    """Its loop is a task, and it returns before where the compiler knows it."""
    if sv.static(value is None):
        return 0
    for i in a:
        a[i] = value
    return a.shape[0]


@sv.func
def first_above(a, limit):
    found = -1
    for i in range(a.shape[0]):
        if a[i] > limit:
            found = i
            break
    return found


@sv.kernel
def at_the_top_level(a: sv.types.NDArray[sv.i32, 1], o: sv.types.NDArray[sv.i32, 1]):
    o[0] = searched(a, 30)
    o[1] = searched(a, 31)
    o[2] = first_above(a, 50)
    o[3] = filled(a, None)
    o[4] = filled(a, 9)


def test_a_func_that_leaves_a_loop_can_be_called_at_the_top_level():
    a, o = np.arange(0, 100, 10, dtype=np.int32), np.zeros(5, np.int32)
    at_the_top_level(a, o)
    assert o.tolist() == [3, -1, 6, 0, 10]
    assert a.tolist() == [9] * 10
    assert "parallel" in at_the_top_level.inspect("ir")


@sv.func
def filled_if(a, some: sv.i32):
    if some == 0:
        return 0
    for i in a:
        a[i] = some
    return 1


def test_a_func_that_becomes_serial_because_it_returns_early_says_so():
    @sv.kernel
    def k(a: sv.types.NDArray[sv.i32, 1], n: sv.i32) -> sv.i32:
        return filled_if(a, n)

    a = np.zeros(3, np.int32)
    with pytest.warns(sv.SamovarWarning, match="filled_if.*serial"):
        assert k(a, 0) == 0
    assert k(a, 4) == 1
    assert a.tolist() == [4, 4, 4]


@sv.func
def pair(a, b):
    return a * 100 + b


@sv.func
def raised(x: sv.template()):
    x += 1
    return x


@sv.kernel
def evaluated_in_order() -> tuple[sv.i32, sv.i32, sv.i32, sv.i32]:
    x = 1
    first = pair(x, (x := 5))
    y = 1
    second = pair(y, raised(y))
    z = 1
    third = pair(b=raised(z), a=z)
    w = 1
    fourth = w * 100 + raised(w)
    return first, second, third, fourth


def test_an_argument_is_the_value_at_the_time_it_is_evaluated():
    assert evaluated_in_order() == (105, 102, 202, 102)
