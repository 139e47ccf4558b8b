"""A variable that a parallel loop gathers is not read in it: that is an error, with both lines."""

from __future__ import annotations

import numpy as np
import pytest

import samovar as sv

from .source import define

HEADER = """
Pair = sv.types.struct(x=sv.f32, v=sv.math.vec3)

@sv.func
def twice(x):
    return 2.0 * x

@sv.func
def add(s: sv.template(), x):
    s += x

@sv.kernel{}
def k(a: sv.types.NDArray[sv.f32, 1], out: sv.types.NDArray[sv.f32, 1]):
"""
LINES = HEADER.count("\n")

#: Statements before the loop, statements in it, and the lines of those that are named: where it is read, and updated.
REFUSED = {
    "after the update": ("s = 0.0", "s += a[i]\nout[i] = s", (2, 1)),
    "before the update": ("s = 0.0", "out[i] = s\ns += a[i]", (1, 2)),
    "another spelling": ("s = 0.0", "s = s + a[i]\nout[i] = s", (2, 1)),
    "a minimum": ("s = 1e9", "s = min(s, a[i])\nout[i] = s", (2, 1)),
    "a maximum": ("s = 0.0", "s = max(s, a[i])\nout[i] = s * 2.0", (2, 1)),
    "a product": ("s = 1.0", "s *= a[i]\nout[i] = s", (2, 1)),
    "an atomic": ("s = 0.0", "sv.atomic_add(s, a[i])\nout[i] = s", (2, 1)),
    "a condition": ("found = False", "found = found or a[i] > 1\nif found:\n    out[i] = 1.0", (2, 1)),
    "a member": ("s = Pair()", "s.x += a[i]\nout[i] = s.x", (2, 1)),
    "a vector in a struct": ("s = Pair()", "s.v += sv.math.vec3(a[i])\nout[i] = s.v.norm()", (2, 1)),
    "a vector": ("s = sv.Vector([0.0, 0.0])", "s += sv.Vector([a[i], 1.0])\nout[i] = s[1]", (2, 1)),
    "an entry": ("s = sv.Vector([0.0, 0.0])", "s[1] += a[i]\nout[i] = s.y", (2, 1)),
    "a large vector": ("s = sv.Vector([0.0 for _ in range(40)])", "s[3] += a[i]\nout[i] = s[3]", (2, 1)),
    "in an `if`": ("s = 0.0", "s += a[i]\nif a[i] > 0.0:\n    out[i] = s", (3, 1)),
    "as a condition": ("n = 0", "if a[i] > 0.0:\n    n += 1\nif n < 3:\n    out[i] = 1.0", (3, 2)),
    "in an inner loop": ("s = 0.0", "for j in range(3):\n    s += a[i]\n    out[i] += s", (3, 2)),
    "in a `while`": ("s = 0.0", "while s < 5.0:\n    s += a[i]", (1, 2)),
    "a copy": ("s = 0.0", "s += a[i]\nt = s\nu = t + 1.0\nout[i] = u", (2, 1)),
    "its own update": ("s = 0.0", "s += s * a[i]", (1, 1)),
    "an index": ("n = 0", "n += 1\nout[n] = a[i]", (2, 1)),
    "an argument of a func": ("s = 0.0", "s += a[i]\nout[i] = twice(s)", (2, 1)),
    "updated in a func": ("s = 0.0", "add(s, a[i])\nout[i] = s", (2, 10 - LINES - 2)),  # line 10 of the header
}  # fmt: skip

ALLOWED = {
    "what an update gives back": ("n = 0", "k = sv.atomic_add(n, 1)\nout[k] = a[i]"),
    "after the loop": ("s = 0.0", "s += a[i]"),
    "one that nobody changes": ("s = 2.0\nt = 0.0", "out[i] = s\nt += s"),
    "one that begins inside": ("t = 0.0", "s = 0.0\nfor j in range(3):\n    s += a[i]\n    out[i] = s\nt += s"),
    "one value for all": ("found = False", "if not found:\n    out[i] = 1.0\nif a[i] > 2.0:\n    found = True"),
}


def made(case, is_serial=False):
    before, body = case[:2]
    lines = [*before.split("\n"), "for i in range(a.shape[0]):", *("    " + line for line in body.split("\n"))]
    return define(HEADER.format("(serial=True)" if is_serial else "") + "\n".join("    " + line for line in lines) + "\n")


def arrays(size=40):
    return np.random.default_rng(1).integers(1, 4, size).astype(np.float32), np.zeros(size + 1, np.float32)


@pytest.mark.parametrize("name", REFUSED)
def test_reading_what_the_loop_gathers_is_an_error(name):
    *_, (read, updated) = REFUSED[name]
    first = LINES + 1 + REFUSED[name][0].count("\n") + 1
    with pytest.raises(sv.SamovarSyntaxError) as caught:
        made(REFUSED[name])(*arrays())
    text = str(caught.value)
    assert f":{first + read}, in k" in text
    assert f"(line {first + updated})" in text
    assert "^" in text
    assert "`sv.loop_config(serialize=True)`" in text
    assert "`@sv.kernel(serial=True)`" in text


@pytest.mark.parametrize("name", REFUSED)
def test_a_serial_kernel_does_what_python_does(name):
    if name in ("in a `while`", "its own update", "updated in a func"):
        pytest.skip("grows beyond f32, or changes a number of the caller, which Python does not do")
    kernel = made(REFUSED[name], is_serial=True)
    (a, out), (b, expected) = arrays(), arrays()
    kernel(a, out)
    sv.init(arch=sv.python)
    kernel(b, expected)
    sv.reset()
    assert np.allclose(out, expected, rtol=1e-5)


SERIAL = ["after the update", "a maximum", "a member", "a vector", "a large vector", "updated in a func"]


@pytest.mark.filterwarnings("ignore:this loop runs serially:samovar.SamovarWarning")
@pytest.mark.parametrize("name", SERIAL)
def test_such_a_loop_is_serial_where_shared_variables_are(name):
    sv.init(shared_variables="serial")
    (a, out), (b, expected) = arrays(), arrays()
    made(REFUSED[name])(a, out)
    sv.reset()
    made(REFUSED[name], is_serial=True)(b, expected)
    assert (out == expected).all()


@pytest.mark.parametrize("name", ALLOWED)
def test_other_reads_are_fine(name):
    made(ALLOWED[name])(*arrays())


ELEMENTS = {
    "a constant index": ("", "out[0] += a[i]\na[i] = out[0]", (2, 1)),
    "one index for all": ("n = a.shape[0]", "a[i] = out[n] + 1.0\nout[n] += 2.0", (1, 2)),
    "a copy": ("", "out[3] += a[i]\nt = out[3] * 2.0\na[i] = t", (2, 1)),
}


@pytest.mark.parametrize("name", ELEMENTS)
def test_an_element_that_all_iterations_update_and_read_is_warned_of(name):
    before, body, (read, updated) = ELEMENTS[name]
    first = LINES + 1 + 1
    with pytest.warns(sv.SamovarWarning, match=rf"is read in the parallel loop .*\(line {first + updated}\)") as caught:
        made((before or "pass", body))(*arrays())
    assert [each.lineno for each in caught] == [first + read]


@pytest.mark.parametrize(
    "body",
    [
        "out[i] += a[i]\na[i] = out[i]",  # its own
        "out[0] += a[i]\na[i] = out[1]",  # another one
        "out[0] += 1.0\nif out[0] < 7.0:\n    a[i] = 1.0",  # a limit that need not be exact
        "out[0] = out[0] + a[i]",  # the update itself
        "old = sv.atomic_add(out[0], 1.0)\na[i] = old",
    ],
)
def test_other_elements_are_not(body):
    made(("pass", body))(*arrays())


@sv.kernel
def one_iteration(x: sv.types.NDArray[sv.i32, 1]):
    for _ in range(1):
        x[0] += 1
        x[1] = x[0]


def test_a_loop_of_one_iteration_reads_what_it_has_written():
    x = np.zeros(2, np.int32)
    one_iteration(x)
    one_iteration(x)
    assert x.tolist() == [2, 2]
