"""Compile errors: the right class, the place with a caret, and advice."""

import linecache
import textwrap
from pathlib import Path

import numpy as np
import pytest

import samovar as sv

COUNT = 0


def define(body: str, **names):
    """A kernel (and whatever else the text defines) from a source of its own, so that wrong programs are data here."""
    global COUNT
    COUNT += 1
    file = f"<case {COUNT}>"
    text = textwrap.dedent(body).strip() + "\n"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    namespace = {"sv": sv, "__name__": __name__, **names}
    exec(compile(text, file, "exec"), namespace)
    return namespace["k"]


def failure(body: str, kind=sv.SamovarError, *arguments, **names) -> str:
    with pytest.raises(kind) as caught:
        define(body, **names)(*arguments)
    return str(caught.value)


def in_kernel(statement: str) -> str:
    return "@sv.kernel\ndef k():\n" + textwrap.indent(textwrap.dedent(statement).strip(), "    ")


REFUSED = {
    "try": ("try:\n    x = 1\nexcept ValueError:\n    x = 2", "`try`"),
    "raise": ("raise ValueError", "`raise`"),
    "with": ("with open('f') as f:\n    pass", "`with`"),
    "yield": ("x = (yield 1)", "`yield`"),
    "import": ("import os", "`import`"),
    "from import": ("from os import path", "`import`"),
    "del": ("x = 1\ndel x", "`del`"),
    "global": ("global y\ny = 1", "`global`"),
    "nested def": ("def inner():\n    pass", "nested `def`"),
    "nested class": ("class Inner:\n    pass", "nested `class`"),
    "lambda": ("f = lambda x: x", "`lambda`"),
    "set": ("x = {1, 2}", "a set"),
    "is": ("x = 1\ny = x is None", "`is`"),
    "match": ("x = 1\nmatch x:\n    case 1:\n        pass", "`match`"),
    "bytes": ("x = b'a'", "bytes"),
    "matrix product": ("x = 1.0\ny = x @ x", "`@`"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refused_construct_is_named_with_its_place(case):
    statement, named = REFUSED[case]
    message = failure(in_kernel(statement), sv.SamovarSyntaxError)
    assert named in message
    assert "^" in message
    assert "<case" in message


def test_the_caret_is_under_the_fault():
    message = failure("@sv.kernel\ndef k():\n    x = 1 + missing\n", sv.SamovarCompilationError)
    lines = message.splitlines()
    place = next(number for number, line in enumerate(lines) if "x = 1 + missing" in line)
    start = lines[place].index("missing")
    assert lines[place + 1][start:] == "^" * len("missing")
    assert ":3" in message


def test_an_undefined_name_suggests_a_close_one():
    message = failure(in_kernel("value = 1\nx = valeu + 1"), sv.SamovarCompilationError)
    assert "`valeu` is not defined" in message
    assert "did you mean `value`" in message


def test_the_call_chain_of_funcs_is_shown():
    message = failure(
        """
        @sv.func
        def deep(x):
            return x + nothing

        @sv.func
        def middle(x):
            return deep(x)

        @sv.kernel
        def k():
            y = middle(1)
        """,
        sv.SamovarCompilationError,
    )
    assert message.index("nothing") < message.index("middle")
    assert ":7" in message
    assert ":11" in message


def test_recursion_names_the_cycle():
    message = failure(
        """
        @sv.func
        def even(n):
            return odd(n - 1)

        @sv.func
        def odd(n):
            return even(n - 1)

        @sv.kernel
        def k():
            x = even(3)
        """,
        sv.SamovarCompilationError,
    )
    assert "even → odd → even" in message


@pytest.mark.parametrize(
    ("annotation", "argument", "words"),
    [
        ("sv.types.NDArray[sv.f32, 1]", np.zeros(3), ("a", "f32", "f64")),
        ("sv.types.NDArray[sv.f32, 2]", np.zeros(3, np.float32), ("a", "2", "1")),
        ("sv.types.NDArray[sv.f32, 1]", 3.0, ("a", "array")),
        ("sv.i32", 1.5, ("a",)),
        ("sv.i32", "text", ("a",)),
        ("sv.f32", np.zeros(3), ("a",)),
    ],
)
def test_a_wrong_argument_is_a_type_error(annotation, argument, words):
    text = f"@sv.kernel\ndef k(a: {annotation}):\n    x = a[0] if False else 0\n" if "NDArray" in annotation else (
        f"@sv.kernel\ndef k(a: {annotation}) -> {annotation}:\n    return a\n"
    )
    message = failure(text, TypeError, argument)
    for word in words:
        assert word in message


def test_arity_and_keywords():
    k = define("@sv.kernel\ndef k(a: sv.i32, b: sv.i32 = 2) -> sv.i32:\n    return a + b\n")
    assert k(1) == 3
    assert k(b=5, a=1) == 6
    for call in (lambda: k(), lambda: k(1, 2, 3), lambda: k(1, c=3), lambda: k(1, a=2)):
        with pytest.raises(TypeError, match="k\\(\\)"):
            call()


def test_a_parameter_of_a_kernel_cannot_be_assigned():
    message = failure("@sv.kernel\ndef k(a: sv.i32):\n    a = 3\n", sv.SamovarSyntaxError, 1)
    assert "`a` is a parameter" in message
    message = failure("@sv.kernel\ndef k(a: sv.i32):\n    a += 3\n", sv.SamovarSyntaxError, 1)
    assert "`a` is a parameter" in message


def test_break_in_a_parallel_loop():
    message = failure(in_kernel("for i in range(10):\n    if i > 3:\n        break"), sv.SamovarSyntaxError)
    assert "`break` in a parallel loop" in message
    assert "serialize" in message


def test_static_of_a_run_time_value():
    message = failure("@sv.kernel\ndef k(a: sv.i32):\n    x = sv.static(a + 1)\n", sv.SamovarSyntaxError, 1)
    assert "static" in message
    assert "Template" in message


@pytest.mark.parametrize(
    "body",
    [
        "if x > 0:\n        return 1\n    return 1, 2",
        "if x > 0:\n        return 1\n    return",
        "if x > 0:\n        return 1",
    ],
)
def test_inconsistent_returns(body):
    text = f"@sv.func\ndef f(x):\n    {body}\n\n@sv.kernel\ndef k(a: sv.i32):\n    y = f(a)\n"
    message = failure(text, sv.SamovarError, 1)
    assert "return" in message


def test_return_inside_a_parallel_loop():
    message = failure("@sv.kernel\ndef k() -> sv.i32:\n    for i in range(3):\n        return i\n    return 0\n")
    assert "parallel loop" in message


def test_source_that_is_not_available():
    namespace = {"sv": sv}
    exec("".join(["@sv.kernel\n", "def k():\n", "    x = 1\n"]), namespace)  # a text that nobody holds
    with pytest.raises(sv.SamovarError, match="source"):
        namespace["k"]()


def test_a_name_assigned_in_one_branch_only():
    message = failure("@sv.kernel\ndef k(a: sv.i32):\n    if a > 0:\n        x = 1\n    y = x\n", sv.SamovarNameError, 1)
    assert "`x` may be unassigned here" in message


def test_wrong_number_of_indices():
    message = failure(
        "@sv.kernel\ndef k(a: sv.types.NDArray[sv.f32, 2]):\n    a[0, 0, 0] = 1\n", TypeError, np.zeros((2, 2), np.float32)
    )
    assert "2-dimensional" in message


def test_a_float_index():
    message = failure(
        "@sv.kernel\ndef k(a: sv.types.NDArray[sv.f32, 1]):\n    a[0.5] = 1\n", TypeError, np.zeros(2, np.float32)
    )
    assert "integer" in message


def test_a_function_that_is_not_written_in_python_is_not_compiled():
    body = "import operator\n\n@sv.kernel\ndef k():\n    x = operator.indexOf((1, 2), 2)\n"
    assert "cannot be compiled" in failure(body, sv.SamovarTypeError)


def test_a_function_of_a_library_module_is_not_compiled_and_the_message_says_what_to_do():
    message = failure("import time\n\n@sv.kernel\ndef k():\n    x = time.time()\n", sv.SamovarTypeError)
    assert "`time.time` is a built-in function and cannot be compiled" in message
    assert "help: call it before or after the launch" in message


def test_bit_operations_need_integers():
    assert "integers" in failure(in_kernel("x = 1.5\ny = x & 1"), TypeError)


def test_a_constant_that_fails_at_compile_time():
    assert "division" in failure(in_kernel("x = 1 // 0"), TypeError)


def test_static_assert():
    message = failure(in_kernel("sv.static_assert(1 > 2, 'one is less')"), sv.SamovarCompilationError)
    assert "one is less" in message


def test_a_func_that_must_be_called_at_the_top():
    text = """
    @sv.func(requires_top_level=True)
    def f(a):
        for i in range(a.shape[0]):
            a[i] = 1

    @sv.kernel
    def k(a: sv.types.NDArray[sv.i32, 1]):
        for i in range(2):
            f(a)
    """
    assert "top level" in failure(text, sv.SamovarSyntaxError, np.zeros(3, np.int32))


def test_wrong_arguments_of_a_func():
    text = "@sv.func\ndef f(a, b):\n    return a\n\n@sv.kernel\ndef k():\n    x = f({})\n"
    assert "is missing the argument `b`" in failure(text.format("1"), TypeError)
    assert "takes 2 arguments" in failure(text.format("1, 2, 3"), TypeError)
    assert "no parameter `c`" in failure(text.format("1, c=2"), TypeError)
    assert "multiple values" in failure(text.format("1, 2, a=2"), TypeError)


MARKED = "@sv.func\ndef f(a, /, b, c=7, *, d, e=9):\n    return a * 10000 + b * 1000 + c * 100 + d * 10 + e\n\n"
MARKED_CALLS = [
    "1, 2, d=3", "1, b=2, d=3", "1, 2, 3, d=4, e=5", "1, c=3, b=2, e=5, d=4",
    "1, 2, 3", "1, 2, 3, 4", "1, 2, 3, 4, 5", "a=1, b=2, d=3", "1, 2, a=1, d=3", "1, d=3", "1, 2",
    "1, 2, b=3, d=4", "b=2, d=3",
]  # fmt: skip


@pytest.mark.parametrize("arguments", MARKED_CALLS)
def test_a_func_with_markers_takes_what_python_takes(arguments):
    text = MARKED + f"@sv.kernel\ndef k() -> sv.i32:\n    return f({arguments})\n"
    k = define(text)
    try:
        expected = eval(f"f({arguments})", {"f": k.__wrapped__.__globals__["f"].__wrapped__})
    except TypeError:
        with pytest.raises(sv.SamovarTypeError, match=r"`f` (takes|is missing|got)") as caught:
            k()
        assert "^" in str(caught.value)
    else:
        assert k() == expected


def test_arguments_given_in_the_wrong_way_are_named():
    text = MARKED + "@sv.kernel\ndef k():\n    x = f({})\n"
    assert "takes 3 positional arguments, got 4" in (message := failure(text.format("1, 2, 3, 4"), TypeError))
    assert "help: pass `d`, `e` by name: `d=…`" in message
    assert "takes `a` by position only" in (message := failure(text.format("a=1, b=2, d=3"), TypeError))
    assert "help: pass the value without the name" in message


def test_a_lossy_assignment_warns_once_at_its_line():
    k = define("@sv.kernel\ndef k(a: sv.f32) -> sv.i32:\n    x: sv.i32 = 1\n    x = a\n    return x\n")
    with pytest.warns(sv.SamovarWarning, match="`x` is i32") as caught:
        assert k(2.75) == 2
    assert len(caught) == 1
    assert caught[0].lineno == 4


def test_the_traceback_ends_at_the_call_and_not_in_the_compiler():
    with pytest.raises(sv.SamovarError) as caught:
        define(in_kernel("x = missing"))()
    package = Path(sv.__file__).parent
    assert sum(package in Path(entry.path).parents for entry in caught.traceback) <= 1


# --- numbers that do not fit

ARRAY = "@sv.kernel\ndef k(a: sv.types.NDArray[sv.{}, 1]):\n    for i in a:\n        {}\n"
RESULT = "@sv.kernel\ndef k() -> sv.{}:\n    {}\n"

DOES_NOT_FIT = {
    "an element": (ARRAY.format("i32", "a[i] = 3000000000"), "3000000000 does not fit in i32", "u32"),
    "an element updated": (ARRAY.format("u8", "a[i] += 300"), "300 does not fit in u8", "u16"),
    "a negative number": (ARRAY.format("u32", "a[i] = -1"), "-1 does not fit in u32", "i32"),
    "a float": (ARRAY.format("i32", "a[i] = 1e10"), "10000000000.0 does not fit in i32", "i64"),
    "an infinity": (ARRAY.format("i32", "a[i] = sv.math.inf"), "inf does not fit in i32", "sv.cast(inf"),
    "an atomic": (ARRAY.format("i8", "sv.atomic_max(a[i], 128)"), "128 does not fit in i8", "u8"),
    "a result": (RESULT.format("i32", "return 2**31"), "2147483648 does not fit in i32", "u32"),
    "a result under a name": (RESULT.format("i32", "b = 0x80000000\n    return b"), "2147483648 does not fit in i32", "u32"),
    "a dtype": (RESULT.format("u16", "return sv.u16(-1)"), "-1 does not fit in u16", "sv.cast(-1, sv.u16)"),
    "an annotation": (RESULT.format("i64", "x: sv.i8 = 200\n    return x"), "200 does not fit in i8", "u8"),
    "a variable": (RESULT.format("i32", "x = 1\n    x = 2**40\n    return x"), "1099511627776 does not fit in i32", "i64"),
    "an argument": (
        "@sv.func\ndef f(x: sv.u8):\n    return x\n" + RESULT.format("i32", "return f(256)"),
        "256 does not fit in u8",
        "u16",
    ),
    "a captured number": (ARRAY.format("i32", "a[i] = BIG"), "4294967296 does not fit in i32", "i64"),
}


@pytest.mark.parametrize("case", DOES_NOT_FIT)
def test_a_known_number_that_does_not_fit_is_an_error(case):
    text, message, advice = DOES_NOT_FIT[case]
    dtype = text.partition("NDArray[sv.")[2].partition(",")[0]
    arguments = (sv.ndarray(getattr(sv, dtype), 2),) if dtype else ()
    found = failure(text, sv.SamovarTypeError, *arguments, BIG=2**32)
    assert message in found
    assert advice in found.partition("help:")[2]


def test_a_number_is_wrapped_on_purpose():
    assert define(RESULT.format("u16", "return sv.cast(-1, sv.u16)"))() == 65535
    assert define(RESULT.format("i32", "return sv.cast(3000000000, sv.i32)"))() == 3000000000 - 2**32
    assert define(RESULT.format("u32", "x = sv.u32(5)\n    return x & -4"))() == 4


@pytest.mark.parametrize("body", ["x = 1.0", "return", "if sv.static(False):\n        return 1.0"])
def test_a_declared_result_that_is_not_returned_is_an_error(body):
    declared = "is declared to return f32, but returns nothing"
    assert declared in failure(RESULT.format("f32", body))
    in_func = "@sv.func\ndef f() -> sv.f32:\n    {}\n@sv.kernel\ndef k() -> sv.f32:\n    return f()\n"
    assert declared in failure(in_func.format(body))
    with_loop = in_func.replace("    {}", "    for i in range(3):\n        print(i)\n    {}", 1)
    assert declared in failure(with_loop.format(body))


WRONG_FORMATS = [("i32", ".10d"), ("f32", "d"), ("i32", "s"), ("f64", "x"), ("u1", ".2d"), ("i32", "q")]


@pytest.mark.parametrize(("dtype", "form"), WRONG_FORMATS)
def test_a_format_that_does_not_go_with_the_type_is_an_error(dtype, form):
    for line in (f"print(f'{{x:{form}}}')", f"assert x == 0, f'{{x:{form}}}'"):
        sv.init(debug=True)
        message = failure(f"@sv.kernel\ndef k(x: sv.{dtype}):\n    {line}\n", sv.SamovarTypeError, 0)
        sv.reset()
        assert f"type {dtype} cannot be formatted with `{form}`" in message
