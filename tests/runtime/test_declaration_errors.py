"""Errors of declarations: at the parameter, with what to write, and without a frame of ours above the user's line."""

import inspect
import os
import pickle
import pydoc
import subprocess
import sys
import traceback

import numpy as np
import pytest

import samovar as sv
import samovar.compat.taichi as ti


def no_annotation():
    @ti.kernel
    def k(a, n: sv.f32):
        pass


def of_numpy():
    @sv.kernel
    def k(a: np.ndarray):
        pass


def of_text():
    @sv.kernel(fastcache=True)
    def k(n: sv.i32, mode: str):
        pass


def of_a_list():
    @sv.func
    def f(a: list):
        pass


def a_result():
    @sv.kernel
    def k(n: sv.i32) -> "no_such_type":  # noqa: F821
        return n


def many():
    @sv.func(requires_top_level=True)
    def f(*numbers):
        pass


def several():
    @sv.kernel
    def k(pair: tuple[sv.f32, sv.f32]):
        pass


def checkpoints():
    @sv.kernel(checkpoints=True)
    def k():
        pass


DECLARATIONS = [
    (no_annotation, "parameter `a` of kernel `.*k` has no annotation", "a", "`a: sv.f32`"),
    (of_numpy, "annotation of parameter `a` .* not supported", "a: np.ndarray", "sv.types.NDArray[sv.f32, 1]"),
    (of_text, "annotation of parameter `mode` .* not supported", "mode: str", "sv.Template"),
    (of_a_list, "annotation of parameter `a` .* not supported", "a: list", "sv.types.NDArray[sv.f32, 1]"),
    (a_result, "annotation 'no_such_type' of the result .*: NameError", '"no_such_type"', "before the function"),
    (many, "has .args or ..kwargs", "numbers", "declare each parameter by name"),
    (several, "annotation of parameter `pair` .* only results", "pair: tuple[sv.f32, sv.f32]", "one parameter per value"),
    (checkpoints, "`checkpoints` requires `graph=True`", "def k():", "graph=True, checkpoints=True"),
]


@pytest.mark.parametrize(
    ("declares", "message", "marked", "advice"), DECLARATIONS, ids=[row[0].__name__ for row in DECLARATIONS]
)
def test_a_declaration_that_is_wrong_says_where_and_what_to_write(declares, message, marked, advice):
    with pytest.raises(sv.SamovarError, match=message) as caught:
        declares()
    assert [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)][1:] == [declares.__name__]
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    _, place, line, carets, help_, *_ = str(caught.value).splitlines()
    assert place.startswith(f"  --> {__file__}:")
    begin = carets.index("^")
    assert line[begin : begin + carets.count("^")] == marked
    assert advice in help_


@pytest.mark.parametrize(
    ("decorated", "message"),
    [
        (staticmethod(len), "not a staticmethod: write @staticmethod above @sv.kernel"),
        (classmethod(len), "not a classmethod: write @classmethod above @sv.kernel"),
        (int, "not a type"),
        (lambda a: a, "not a lambda: write it with def"),
    ],
)
def test_only_a_function_becomes_a_kernel(decorated, message):
    with pytest.raises(sv.SamovarTypeError, match=message) as caught:
        sv.kernel(decorated)
    assert len(traceback.extract_tb(caught.value.__traceback__)) == 1


def test_a_declaration_without_a_text_is_an_error_with_its_place():
    names = {"ti": ti}
    lines = ["def k(a):", "    pass", "k = ti.kernel(k)"]
    code = compile(chr(10).join(lines), "<nowhere>", "exec")
    with pytest.raises(sv.SamovarSyntaxError, match=r"has no annotation\n  --> <nowhere>:1\n  help: annotate it"):
        exec(code, names)


def test_options_that_do_not_exist_have_no_frame_of_ours():
    with pytest.raises(sv.SamovarOptionError) as caught:
        sv.init(debgu=True)
    assert len(traceback.extract_tb(caught.value.__traceback__)) == 1


def test_a_variable_with_a_value_that_it_cannot_have(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import samovar as sv\n@sv.kernel\ndef k() -> sv.i32:\n    return 1\nk()\n")
    done = subprocess.run(
        [sys.executable, program], env={**os.environ, "SAMOVAR_NUM_THREADS": "two"}, capture_output=True, text=True
    )
    assert done.stderr.count("File ") == 1
    assert "SamovarError: SAMOVAR_NUM_THREADS: 'two' is not a non-negative integer" in done.stderr


def test_what_nobody_has_foreseen_keeps_its_frames():
    class Strange(type):
        @property
        def __name__(cls):
            raise ValueError("of the user")

    class Odd(metaclass=Strange):
        pass

    with pytest.raises(ValueError, match="of the user") as caught:
        sv.kernel(Odd())
    assert len(traceback.extract_tb(caught.value.__traceback__)) > 2


@pytest.mark.parametrize("decorator", [sv.kernel, sv.func, sv.real_func, sv.pyfunc, sv.pure, sv.init])
def test_decorators_look_like_the_functions_that_they_are(decorator):
    name = decorator.__name__
    assert getattr(sv, name) is decorator
    assert decorator.__doc__ == decorator.__wrapped__.__doc__
    assert inspect.signature(decorator) == inspect.signature(decorator.__wrapped__)
    assert inspect.isroutine(decorator)
    assert f"{name}(" in pydoc.render_doc(decorator, renderer=pydoc.plaintext)
    assert pickle.loads(pickle.dumps(decorator)) is decorator
    assert repr(decorator).startswith(f"<function {name} at ")
    with pytest.raises(AttributeError, match="no_such_attribute"):
        _ = decorator.no_such_attribute


def test_a_decorator_in_a_class_is_not_a_method():
    class Tools:
        kernel = sv.kernel

    @Tools().kernel
    def k() -> sv.i32:
        return 3

    assert k() == 3


@pytest.mark.parametrize(
    ("module", "name", "meant"),
    [(sv, "kernl", "kernel"), (sv.math, "sine", "sin"), (sv.types, "NDarray", "NDArray"), (sv.algorithms, "sorted", "sort")],
)
def test_a_name_that_does_not_exist_is_an_error_of_the_line_that_asks(module, name, meant):
    with pytest.raises(AttributeError, match=f"no attribute {name!r}: did you mean {meant!r}") as caught:
        getattr(module, name)
    # CPython 3.10 does not let a function take its own frame off.
    assert len(traceback.extract_tb(caught.value.__traceback__)) == (1 if sys.version_info >= (3, 11) else 2)


MISTAKES = [
    (lambda: sv.ndarray(sv.f32, -1), ValueError, "negative extent"),
    (lambda: sv.zeros(3, dtype="f99"), TypeError, "'f99' is not a dtype"),
    (lambda: sv.full(3, "x"), TypeError, "real number"),
    (lambda: sv.array([[1, 2], [3]]), ValueError, "must have the same shape"),
    (lambda: sv.from_numpy(3), TypeError, "not int"),
    (lambda: sv.field(3, 4), TypeError, "3 is not a dtype"),
    (lambda: sv.tensor(sv.f32, 2, backend=3), TypeError, "sv.Backend.NDARRAY"),
    (lambda: sv.algorithms.argmax(3), TypeError, "int"),
    (lambda: sv.types.vector(3, 3), sv.SamovarTypeError, "dtype of a vector"),
    (lambda: sv.types.struct(a=3), sv.SamovarTypeError, "member `a`"),
    (lambda: sv.zeros(4).reshape(3), ValueError, "cannot reshape an array of shape"),
    (lambda: sv.ndarray(sv.math.vec3, 2).__setitem__(0, "x"), TypeError, "not a str"),
    (lambda: sv.Matrix([[1, 2], [3]]), sv.SamovarTypeError, "different shapes"),
    (lambda: sv.dataclass(3), sv.SamovarTypeError, "decorates a class"),
    (lambda: sv.data_oriented(stable_members=True)(3), sv.SamovarTypeError, "decorates a class"),
]


pair, triple = sv.Vector([1.0, 2.0]), sv.Vector([1.0, 2.0, 3.0])
MISTAKES += [
    (lambda: triple[7], IndexError, "out of bounds"),
    (lambda: triple.__setitem__(7, 1), IndexError, "out of bounds"),
    (lambda: pair + triple, sv.SamovarTypeError, "2 and 3"),
    (lambda: pair.dot(triple), sv.SamovarTypeError, "2 and 3"),
    (lambda: sv.Matrix.identity(sv.f32, 2) @ triple, sv.SamovarTypeError, "do not match"),
    (lambda: sv.Matrix([[1, 2, 3], [4, 5, 6]]).inverse(), sv.SamovarCompilationError, "square matrix"),
    (lambda: pair.fill("x"), TypeError, "real number"),
    (lambda: pair.z, AttributeError, "has no attribute 'z'"),
    (lambda: setattr(pair, "x", "y"), sv.SamovarTypeError, "an assignment to `.x`"),
    (lambda: sv.math.vec3(1, 2), sv.SamovarTypeError, "3 elements"),
    (lambda: sv.root.dense(sv.i, "x"), TypeError, "integer"),
    (lambda: sv.root.place(3), TypeError, "takes fields"),
    (lambda: sv.ndrange("x"), TypeError, "integer"),
]

#: Functions that kernels know. CPython 3.10 does not let a function take its own frame off.
if sys.version_info >= (3, 11):
    MISTAKES += [
        (lambda: sv.sin("x"), TypeError, "real number"),
        (lambda: sv.math.clamp("x", 0, 1), TypeError, "'>' not supported"),
        (lambda: sv.svd(3), AttributeError, "'n'"),
        (lambda: sv.grouped(3), AttributeError, "'shape'"),
        (lambda: sv.cast(1, "x"), TypeError, "not callable"),
        (lambda: sv.static_assert(False, "so"), sv.SamovarCompilationError, "so"),
        (lambda: sv.atomic_add(1, 2), sv.SamovarRuntimeError, "inside kernels"),
    ]


@pytest.mark.parametrize(("mistake", "kind", "message"), MISTAKES)
def test_what_makes_arrays_and_types_shows_no_frame_of_ours(mistake, kind, message):
    with pytest.raises(kind, match=message) as caught:
        mistake()
    assert [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)][1:] == ["<lambda>"]


class Odd:
    def __gt__(self, other):
        raise ValueError("of the user")

    def __float__(self):
        raise ValueError("of the user")

    __lt__ = __gt__


@pytest.mark.parametrize(
    ("uses", "raises"),
    [(lambda: sv.Vector([1.0]).fill(Odd()), "__float__"), (lambda: sv.max(Odd(), 1), "__gt__")],
)
def test_what_users_code_raises_shows_their_lines(uses, raises):
    with pytest.raises(ValueError, match="of the user") as caught:
        uses()
    frames = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)][1:]
    assert frames[0] == "<lambda>"
    assert frames[-1] == raises
    if sys.version_info >= (3, 11):
        assert len(frames) == 2
