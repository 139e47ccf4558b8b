"""Views in kernels: what they do, what is refused and where, what debug mode says, and that they cost nothing without it."""

import dataclasses
import inspect
import re

import numpy as np
import pytest

import samovar as sv

from . import view_programs
from .source import define

A1 = sv.types.NDArray[sv.f32, 1]


@pytest.fixture(params=["", "debug"])
def mode(request):
    sv.init(debug=request.param == "debug")
    yield
    sv.reset()


@pytest.fixture
def data():
    array = sv.ndarray(sv.f32, 32)
    array.from_numpy(np.arange(32, dtype=np.float32))
    return array


def test_programs_do_what_numpy_does(mode):
    for name, found, expected in view_programs.outcomes():
        assert found == expected, name


# --- one code for all parts, one for each dtype


def test_another_part_never_compiles(data):
    @sv.kernel
    def k(v: sv.BufferView, w: sv.BufferView[sv.f32]) -> sv.f32:
        return v[0] * 2 + v[1] + v[2] + w[0] + v.offset

    k(data[:16], data[16:])
    before = sv.compile_count()
    for first in range(20):
        for size in range(3, 9):
            assert k(data[first : first + size], data[30:]) == 5 * first + 3 + 30
    assert k(sv.ndarray(sv.f32, 300)[8:], data[2:3]) == 2 + 8
    assert sv.compile_count() == before


def test_plain_annotations_take_any_dtype_with_a_code_for_each():
    @sv.kernel
    def double(v: sv.BufferView):
        for i in v:
            v[i] += v[i]

    before = sv.compile_count()
    for dtype in (sv.f32, sv.i64, sv.u8):
        array = sv.ndarray(dtype, 8)
        array.fill(3)
        double(array[2:4])
        double(array[3:])
        assert array.to_numpy().tolist() == [3, 3, 6, 12, 6, 6, 6, 6]
    assert sv.compile_count() == before + 3


def test_dtypes_from_options_and_precompiled_types():
    @sv.kernel
    def k(v: sv.BufferView[float], w: sv.BufferView[sv.math.vec2]) -> float:
        return v[1] + w[0].y

    assert sv.precompile([(k, sv.BufferView[sv.f32], sv.BufferView[sv.math.vec2])]) == 1
    before = sv.compile_count()
    assert k(sv.ndarray(sv.f32, 4)[2:], sv.ndarray(sv.math.vec2, 4)[1:]) == 0
    assert sv.compile_count() == before


# --- what is refused before a launch


@sv.kernel
def takes_view(v: sv.BufferView[sv.f32]):
    v[0] = 1


@sv.kernel
def takes_any_view(v: sv.BufferView):
    v[0] = 1


@sv.kernel
def takes_array(a: A1):
    a[0] = 1


@sv.kernel
def takes_tensor(a: sv.Tensor):
    a[0] = 1


@pytest.mark.parametrize(
    ("kernel", "argument", "said"),
    [
        (takes_view, lambda: sv.ndarray(sv.f32, 4),
         r"expected a view \(BufferView\[f32\]\), got an array of shape \(4,\); pass a view of it, `a\[:\]`, or annotate the"
         r" parameter as an array: `sv.types.NDArray"),
        (takes_any_view, lambda: sv.ndarray(sv.f32, 4), r"expected a view \(BufferView\), got an array"),
        (takes_any_view, lambda: np.zeros(4), r"got an array of shape \(4,\); a view is a slice of a 1-D sv.ndarray"),
        (takes_any_view, lambda: [1.0], "expected a view .* got a list"),
        (takes_any_view, lambda: None, "expected a view .* got None"),
        (takes_view, lambda: sv.ndarray(sv.f64, 4)[:], "expected elements of type f32, got f64"),
        (takes_view, lambda: sv.ndarray(sv.math.vec3, 4)[:], r"expected numbers, got elements of shape \(3,\)"),
        (takes_array, lambda: sv.ndarray(sv.f32, 4)[1:3],
         r"expected an array \(NDArray\[f32, 1\]\), got a BufferView \(offset=1, size=2\); annotate the parameter as a view,"
         r" `sv.BufferView\[sv.f32\]`, or pass the whole array, `view.array`"),
        (takes_tensor, lambda: sv.ndarray(sv.f32, 4)[1:3], r"expected an array or a field, got a BufferView \(offset=1"),
    ],
)  # fmt: skip
def test_an_argument_that_does_not_fit_says_what_to_write(mode, kernel, argument, said):
    with pytest.raises(sv.SamovarTypeError, match=rf"{kernel.__name__}\(\): argument `\w`: .*{said}"):
        kernel(argument())
    # Nor does what a launch has compiled before let it through.
    kernel(sv.ndarray(sv.f32, 4) if kernel in (takes_array, takes_tensor) else sv.ndarray(sv.f32, 4)[:])
    with pytest.raises(sv.SamovarTypeError, match=said):
        kernel(argument())


def test_views_of_structs_that_do_not_fit(data):
    kind, other = sv.types.struct(x=sv.f32, n=sv.i32), sv.types.struct(x=sv.f32, n=sv.i64)

    @sv.kernel
    def k(v: sv.BufferView[kind]):
        v[0].n = 1

    @sv.kernel
    def whole(a: sv.types.NDArray[kind, 1]):
        a[0].n = 1

    @sv.kernel
    def numbers(v: sv.BufferView[sv.f32]):
        v[0] = 1

    array = kind.ndarray(4)
    k(array[1:])
    for launch, said in [
        (lambda: k(array), r"expected a view \(BufferView\[struct\]\), got an array of structs; pass a view of it"),
        (lambda: k(data[1:]), "got an array or a view of numbers"),
        (lambda: k(other.ndarray(4)[1:]), "`v` must contain struct"),
        (lambda: numbers(array[1:]), r"expected a view \(BufferView\[f32\]\), got one of structs"),
        (lambda: whole(array[1:]), r"expected an array of structs .* got a BufferView \(offset=1, size=3\)"),
        (lambda: takes_tensor(array[1:]), r"expected an array or a field, got a BufferView \(offset=1, size=3\)"),
    ]:
        with pytest.raises(sv.SamovarTypeError, match=said):
            launch()
    assert sv.precompile([(k, sv.BufferView[kind])]) == 0
    sv.init(debug=True)
    try:
        with pytest.raises(sv.SamovarAssertionError, match=r"got index 0 \(offset=4, size=0\)"):
            k(array[4:])
    finally:
        sv.reset()


MISTAKES = [
    ("for i in v: w = v[::2]", "SamovarSyntaxError", "does not support a slice step", "2"),
    ("for i in v: w = v[0:4:1]", "SamovarSyntaxError", "does not support a slice step", "1"),
    ("w = v[-4:]", "SamovarSyntaxError", "the bound -4 of a slice of `v` is negative", "-4"),
    ("w = v[:-4]", "SamovarSyntaxError", "negative", "-4"),
    ("w = v.subview(-1, 2)", "SamovarSyntaxError", "negative", "-1"),
    ("w = sv.BufferView(a, 0, -2)", "SamovarSyntaxError", "negative", "-2"),
    ("w = v.subview(1)", "SamovarSyntaxError", "`subview` takes an offset and a size", "v.subview(1)"),
    ("w = v.subview(1, size=2, offset=3)", "SamovarSyntaxError", "`subview` takes", "v.subview(1, size=2, offset=3)"),
    ("w = sv.BufferView(v, 0, 1)", "SamovarTypeError", "takes an array, got the BufferView `v`", "v"),
    ("w = sv.BufferView(n, 0, 1)", "SamovarTypeError", "`BufferView` takes an array", "n"),
    ("w = f[1:2]", "SamovarTypeError", "`f` is a field and cannot be sliced", "f[1:2]"),
    ("w = v[1.5:]", "SamovarTypeError", "must be an integer", "1.5"),
    ("x = v[0.5]", "SamovarTypeError", "must be an integer", "0.5"),
    ("x = v[0, 1]", "SamovarAxesError", "`v` is 1-dimensional but was indexed with 2 indices", "v[0, 1]"),
    ("x = v[-1]", "SamovarTypeError", "index -1 is out of bounds", "v[-1]"),
    ("v.size = 2", "SamovarSyntaxError", "cannot be assigned in a kernel", "v.size"),
    ("x = v.array", "SamovarSyntaxError", "a BufferView has no attribute `array` in a kernel", "v.array"),
    ("x = array_only(v)", "SamovarTypeError", "`x` of `array_only` must be an array, got the BufferView `v`",
     "array_only(v)"),
    ("x = view_only(a)", "SamovarTypeError", "`x` of `view_only` must be a BufferView (BufferView[f32]), got the array `a`",
     "view_only(a)"),
    ("x = view_only(n)", "SamovarTypeError", "must be a BufferView", "view_only(n)"),
    ("x = view_only(d)", "SamovarTypeError", "must have dtype f32, but `d` has dtype f64", "view_only(d)"),
    ("w = v\n    for i in range(2): w = w[1:]", "SamovarSyntaxError", "cannot change inside a run-time loop", "w"),
]  # fmt: skip


@sv.func
def array_only(x: A1):
    return x[0]


@sv.func
def view_only(x: sv.BufferView[sv.f32]):
    return x[0]


@pytest.mark.parametrize(("code", "error", "said", "span"), MISTAKES, ids=[each[0] for each in MISTAKES])
def test_mistakes_are_shown_where_they_are(code, error, said, span):
    parameters = "v: sv.BufferView, d: sv.BufferView, a: Array, m: Array, f: sv.Template, n: sv.i32"
    text = f"@sv.kernel\ndef k({parameters}):\n    {code}\n"
    kernel = define(text, array_only=array_only, view_only=view_only, Array=sv.types.NDArray)
    line = sv.ndarray(sv.f32, 8)
    with pytest.raises(sv.SamovarError) as caught:
        kernel(line[2:], sv.ndarray(sv.f64, 4)[:], line, sv.ndarray(sv.f32, (2, 3)), sv.field(sv.f32, 3), 4)
    message = str(caught.value)
    assert type(caught.value).__name__ == error
    assert said in message
    told = message.splitlines()
    carets = next(line for line in told if "^" in line)
    shown = told[told.index(carets) - 1]
    place = carets.index("^"), carets.rindex("^") + 1
    assert shown[slice(*place)] == span


def test_a_member_is_what_it_is_declared_to_be(data):
    @dataclasses.dataclass
    class Views:
        v: sv.BufferView[sv.f32]

    @dataclasses.dataclass
    class Arrays:
        v: A1

    @sv.kernel
    def k(x: Views):
        x.v[0] = 1

    @sv.kernel
    def m(x: Arrays):
        x.v[0] = 1

    k(Views(data[3:]))
    m(Arrays(data))
    with pytest.raises(sv.SamovarTypeError, match=r"`x.v` must be a BufferView .* got the array `x.v`(.|\n)*help: pass"):
        k(Views(data))
    with pytest.raises(sv.SamovarTypeError, match=r"`x.v` must have dtype f32, but `x.v` has dtype f64"):
        k(Views(sv.ndarray(sv.f64, 4)[:]))
    with pytest.raises(sv.SamovarTypeError, match=r"`x.v` must be an array (.|\n)*sv.BufferView\[sv.f32\]"):
        m(Arrays(data[2:]))


# --- debug mode


@sv.func
def writer(v, i):
    v[i] = -1.0


@sv.func
def outer(w, i):
    writer(w, i)


@sv.kernel
def write(v: sv.BufferView[sv.f32], i: sv.i32):
    for _ in range(1):
        writer(v, i)


@sv.kernel
def write_outside_of_loops(v: sv.BufferView[sv.f32], i: sv.i32):
    writer(v, i)


@sv.kernel
def write_deep(v: sv.BufferView[sv.f32], first: sv.i32, i: sv.i32):
    for j, k in sv.ndrange(3, (2, 4)):
        if j == 1 and k == 3:
            outer(v[first:], i)


@sv.kernel
def read_from(v: sv.BufferView[sv.f32], i: sv.i32) -> sv.f32:
    return v[i]


@sv.kernel
def update(v: sv.BufferView[sv.f32], i: sv.i32):
    for j in range(4):
        if j == 2:
            v[i] += 1.0


@sv.kernel
def cut(v: sv.BufferView[sv.f32], a: sv.i32, b: sv.i32):
    w = v[a:b]
    w[0] = -1.0


@sv.kernel
def cut_in_a_loop(v: sv.BufferView[sv.f32], a: sv.i32, n: sv.i32):
    for i in range(7):
        if i == 5:
            v.subview(a, n).fill(-1.0)


@sv.kernel
def construct(a: A1, first: sv.i32, n: sv.i32):
    w = sv.BufferView(a, first, n)
    w[0] = -1.0


@sv.kernel
def slice_array(a: A1, first: sv.i32, end: sv.i32):
    w = a[first:end]
    w[0] = -1.0


def lines(*functions):
    """The call stack that leads through these functions, as (function, text of the line)."""
    stack = ["Callstack:"]
    for depth, (function, text) in enumerate(functions):
        found, first = inspect.getsourcelines(function.__wrapped__)
        line = next(first + offset for offset, line in enumerate(found) if text in line)
        stack.append(f"{'  ' * depth}{function.__wrapped__.__name__} (test_views_in_kernels.py:{line})")
    return "\n".join(stack)


HERE = (writer, "v[i] = -1.0")
FAILURES = [
    (write, (16,), "BufferView Out Of Range: kernel[write] tid=0, got index 16 (offset=4, size=16).",
     [(write, "writer("), HERE]),
    (write, (-1,), "BufferView Out Of Range: kernel[write] tid=0, got index -1 (offset=4, size=16).",
     [(write, "writer("), HERE]),
    (write_outside_of_loops, (16,),
     "BufferView Out Of Range: kernel[write_outside_of_loops], got index 16 (offset=4, size=16).",
     [(write_outside_of_loops, "writer("), HERE]),
    (write_deep, (3, 13), "BufferView Out Of Range: kernel[write_deep] tid=3, got index 13 (offset=7, size=13).",
     [(write_deep, "outer("), (outer, "writer("), HERE]),
    (write_deep, (17, 0), "BufferView subview Out Of Range: kernel[write_deep] tid=3, got offset=17, size=-1 (length=16).",
     [(write_deep, "outer(")]),
    (read_from, (2**31 - 1,), "BufferView Out Of Range: kernel[read_from], got index 2147483647 (offset=4, size=16).",
     [(read_from, "return")]),
    (update, (20,), "BufferView Out Of Range: kernel[update] tid=2, got index 20 (offset=4, size=16).", [(update, "+=")]),
    (cut, (4, 17), "BufferView subview Out Of Range: kernel[cut], got offset=4, size=13 (length=16).", [(cut, "v[a:b]")]),
    (cut, (-1, 2), "BufferView subview Out Of Range: kernel[cut], got offset=-1, size=3 (length=16).", [(cut, "v[a:b]")]),
    (cut, (5, 3), "BufferView subview Out Of Range: kernel[cut], got offset=5, size=-2 (length=16).", [(cut, "v[a:b]")]),
    (cut, (4, 4), "BufferView Out Of Range: kernel[cut], got index 0 (offset=8, size=0).", [(cut, "w[0]")]),
    (cut_in_a_loop, (16, 1),
     "BufferView subview Out Of Range: kernel[cut_in_a_loop] tid=5, got offset=16, size=1 (length=16).",
     [(cut_in_a_loop, "subview")]),
    (construct, (30, 8), "BufferView construction out of range: kernel[construct], got offset=30, size=8 (length=32).",
     [(construct, "sv.BufferView(a")]),
    (construct, (-1, 8), "BufferView construction out of range: kernel[construct], got offset=-1, size=8 (length=32).",
     [(construct, "sv.BufferView(a")]),
    (construct, (0, -1), "BufferView construction out of range: kernel[construct], got offset=0, size=-1 (length=32).",
     [(construct, "sv.BufferView(a")]),
    (construct, (2**31 - 1, 2**31 - 1),
     "BufferView construction out of range: kernel[construct], got offset=2147483647, size=2147483647 (length=32).",
     [(construct, "sv.BufferView(a")]),
    (slice_array, (30, 33), "BufferView subview Out Of Range: kernel[slice_array], got offset=30, size=3 (length=32).",
     [(slice_array, "a[first:end]")]),
]  # fmt: skip


@pytest.fixture(scope="module")
def debugged():
    sv.init(debug=True)
    yield
    sv.reset()


@pytest.mark.parametrize(("kernel", "arguments", "said", "stack"), FAILURES, ids=[each[2][:60] for each in FAILURES])
def test_debug_mode_says_what_was_wrong_and_the_access_does_not_happen(debugged, data, kernel, arguments, said, stack):
    argument = data if kernel in (construct, slice_array) else data[4:20]
    with pytest.raises(sv.SamovarAssertionError) as caught:
        kernel(argument, *arguments)
    assert str(caught.value) == f"{said}\n{lines(*stack)}"
    assert (data.to_numpy() == np.arange(32)).all()


def test_what_is_in_range_is_not_complained_about(debugged, data):
    for i in range(16):
        write(data[4:20], i)
    write_deep(data[4:20], 15, 0)
    cut_in_a_loop(data[4:20], 16, 0)
    construct(data, 31, 1)
    assert (np.flatnonzero(data.to_numpy() == -1) == [*range(4, 20), 31]).all()


def test_an_index_error_of_an_array_is_caught_by_the_same_except(debugged, data):
    @sv.kernel
    def array_write(a: A1, i: sv.i32):
        a[i] = 1.0

    for kernel, argument in ((array_write, data), (write, data[2:])):
        with pytest.raises(sv.SamovarAssertionError, match="index 40"):
            kernel(argument, 40)
    with pytest.raises(AssertionError):
        array_write(data, -1)


def test_frames_of_one_name_in_different_files_are_kept_apart(debugged, data, tmp_path):
    texts = {
        "a/steps.py": "import samovar as sv\n@sv.func\ndef step(v, i):\n    v[i] = 1.0\n",
        "b/steps.py": "import samovar as sv\ndef made(other):\n    @sv.func\n    def step(v, i):\n        other(v, i)\n"
        "    return step\n",
        "main.py": "import samovar as sv\ndef made(step):\n    @sv.kernel\n    def step_all(v: sv.BufferView):\n"
        "        for i in range(1):\n            step(v, v.size)\n    return step_all\n",
    }
    spaces = {}
    for name, text in texts.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        spaces[name] = {"__name__": name}
        exec(compile(text, str(path), "exec"), spaces[name])
    kernel = spaces["main.py"]["made"](spaces["b/steps.py"]["made"](spaces["a/steps.py"]["step"]))
    with pytest.raises(sv.SamovarAssertionError) as caught:
        kernel(data[2:5])
    assert str(caught.value) == (
        "BufferView Out Of Range: kernel[step_all] tid=0, got index 3 (offset=2, size=3).\n"
        "Callstack:\nstep_all (main.py:6)\n  step (b/steps.py:5)\n    step (a/steps.py:4)"
    )


def test_bounds_alone_can_be_asked_for(data):
    sv.init(check_out_of_bound=True)
    try:
        with pytest.raises(sv.SamovarAssertionError, match=r"tid=0, got index 16 \(offset=4, size=16\)"):
            write(data[4:20], 16)
    finally:
        sv.reset()


def test_without_debug_there_are_no_checks(data):
    sv.init()
    text = write_deep.inspect("ir", data[4:20], 0, 0)
    assert "check" not in text
    write(data[4:8], 4)  # beyond the part, and within the array
    assert data[8] == -1


# --- what it costs


@sv.kernel
def scale_view(v: sv.BufferView[sv.f32], f: sv.f32):
    for i in range(v.size):
        v[i] = v[i] * f


@sv.kernel
def scale_array(v: A1, f: sv.f32):
    for i in range(v.shape[0]):
        v[i] = v[i] * f


@sv.kernel
def scale_part(v: sv.BufferView[sv.f32], f: sv.f32, n: sv.i32):
    w = v[n:]
    for i in range(w.size):
        w[i] = w[i] * f


@sv.kernel
def scale_rest(v: A1, f: sv.f32, n: sv.i32):
    for i in range(v.shape[0] - n):
        v[i + n] = v[i + n] * f


def vector_loops(assembly):
    """The instructions of the innermost loops on vectors: from a label to the jump back to it, registers left out."""
    found = []
    blocks = re.split(r"^(\.\w+):", assembly, flags=re.M)
    for label, body in zip(blocks[1::2], blocks[2::2], strict=True):
        code = [line.strip() for line in body.splitlines() if line.startswith("\t") and not line.startswith("\t.")]
        end = next((place for place, line in enumerate(code) if re.match(rf"j\w+\s+{re.escape(label)}$", line)), None)
        if end is not None and any("mulps" in line for line in code[:end]):
            found.append([line.split()[0] for line in code[: end + 1]])
    return found


def test_a_loop_over_a_view_is_the_vector_loop_of_an_array(data):
    sv.reset()
    of_array = vector_loops(scale_array.inspect("asm", data, 2.0))
    assert of_array
    assert vector_loops(scale_view.inspect("asm", data[4:20], 2.0)) == of_array
    of_rest = vector_loops(scale_rest.inspect("asm", data, 2.0, 3))
    assert of_rest
    assert vector_loops(scale_part.inspect("asm", data[4:20], 2.0, 3)) == of_rest
