"""Where in the user's text a question came up: what explanations point at."""

import samovar as sv
from samovar.frontend import lower
from samovar.language.options import Options
from samovar.lens import Lens, Path

SCALE = 3
OFFSET = 5


@sv.func
def scaled(x: sv.f32) -> sv.f32:
    return x * SCALE


@sv.kernel
def fill(
    a: sv.types.NDArray[sv.f32, 1],
):
    for i in a:
        b = scaled(1.0)
        a[i] = b + OFFSET


def test_a_question_is_asked_where_the_name_is_used():
    lens = Lens(fill.__wrapped__, {"a": sv.ndarray(sv.f32, 3)}, fill.state.signature, Options())
    lower(lens)
    kernel, func = fill.__wrapped__.__code__.co_firstlineno, scaled.__wrapped__.__code__.co_firstlineno
    places = {str(asked.path): lens.trace.position(asked.path, asked.question) for asked in lens.trace}
    assert lens.trace.position(Path(None, "parameter", "a"), "tensor") == (__file__, kernel)
    assert places["global scaled"] == (__file__, kernel + 5)
    assert places["global OFFSET"] == (__file__, kernel + 6)
    assert places["global SCALE"] == (__file__, func + 2)


def test_a_trace_keeps_nothing_of_the_compile():
    lens = Lens(fill.__wrapped__, {"a": sv.ndarray(sv.f32, 3)}, fill.state.signature, Options())
    lower(lens)
    assert lens.trace.where is None
