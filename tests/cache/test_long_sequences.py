"""Captured lists and tuples of many elements: one question, one guard, and each change of an element is seen."""

import pytest
from changes import Change, check_between_processes, check_in_one_process, loaded

import samovar as sv

IN = "@sv.kernel\ndef k() -> sv.i32:\n    return 5 if static({} in L) else 1\n"
LONG = "L = list(range({}))\n"

CHANGES = {
    "an element": Change(LONG.format(1000) + IN.format(-7), "L[500] = -7", 1, 5),
    "the last element": Change(LONG.format(65) + IN.format(-7), "L[-1] = -7", 1, 5),
    "an element of a short one": Change(LONG.format(64) + IN.format(-7), "L[-1] = -7", 1, 5),
    "from short to long": Change(LONG.format(64) + IN.format(64), "L.append(64)", 1, 5),
    "from long to short": Change(LONG.format(65) + IN.format(64), "del L[64]", 5, 1),
    "a list that becomes a tuple": Change(
        LONG.format(100) + "@sv.kernel\ndef k() -> sv.i32:\n    return 5 if static(L == list(range(100))) else 1\n",
        "L = tuple(L)",
        5,
        1,
    ),
    "a tuple": Change("L = tuple(range(100))\n" + IN.format(-7), "L = (*L, -7)", 1, 5),
    "a type of an element": Change(
        "L = [1] * 100\n@sv.kernel\ndef k() -> sv.f64:\n    return static(len(f'{L[3:][96]}'))\n", "L[99] = 1.0", 1, 3
    ),
    "texts": Change("L = [str(i) for i in range(100)]\n" + IN.format("'x'"), "L[50] = 'x'", 1, 5),
    "members of an enum": Change(
        "class E(enum.Enum):\n    A = 1\n    B = 2\nL = [E.A] * 100\n" + IN.format("E.B"), "L[50] = E.B", 1, 5
    ),
    "NumPy numbers": Change(
        "import numpy as np\nL = [np.float32(0.5)] * 100\n" + IN.format("0.1"), "L[50] = np.float64(0.1)", 1, 5
    ),
    "an element that is no simple value": Change(LONG.format(100) + IN.format("0") + "L[0] = 0\n", "L[0] = -1", 5, 1),
    "a slice": Change(
        LONG.format(1000) + "@sv.kernel\ndef k() -> sv.i32:\n    return static(sum(L[998:]))\n", "L[998] = 0", 1997, 999
    ),
    "an unrolled loop": Change(
        LONG.format(100)
        + "@sv.kernel\ndef k() -> sv.i32:\n    n = 0\n    for x in static(L):\n        n += x\n    return n\n",
        "L[0] = 5",
        4950,
        4955,
    ),
    "given to a plain function": Change(
        LONG.format(100) + "def f(l): return sum(l)\n@sv.kernel\ndef k() -> sv.i32:\n    return static(f(L))\n",
        "L[0] = 5",
        4950,
        4955,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_between_two_launches_is_seen(tmp_path, name):
    check_in_one_process(tmp_path, CHANGES[name])


def test_a_change_between_two_processes_is_seen_and_nothing_is_compiled_twice(tmp_path):
    check_between_processes(tmp_path, CHANGES)


def test_a_list_of_many_elements_is_one_question_and_one_guard(tmp_path):
    module = loaded(tmp_path, LONG.format(70_000) + IN.format(69_999))
    assert module.k() == 5
    (specialization,) = module.k.specializations
    assert len(specialization.keep.trace) < 30
    assert specialization.keep.guards.registers < 10


def test_too_many_objects_are_an_error_of_the_language(tmp_path):
    text = "L = [(i, [i]) for i in range(22000)]\n"
    text += "@sv.kernel\ndef k() -> sv.i32:\n    return static(len([x[1][0] for x in L]))\n"
    with pytest.raises(sv.SamovarCompilationError, match="cannot depend on") as caught:
        loaded(tmp_path, text).k()
    assert "array" in str(caught.value)


def test_a_length_looks_at_no_element(tmp_path):
    text = "L, D = [object()] * 100000, dict.fromkeys(range(100000))\n"
    text += "@sv.kernel\ndef k() -> sv.i32:\n    return static(len(L) + len(D))\n"
    module = loaded(tmp_path, text)
    assert module.k() == 200_000
    module.L.append(1)
    module.D[-1] = 1
    assert module.k() == 200_002


def test_a_float_in_a_long_list_is_baked(tmp_path):
    sv.init(raise_on_templated_floats=True)
    with pytest.raises(sv.SamovarCompilationError, match=r"would be specialized on the float .*L"):
        loaded(tmp_path, "L = [1.5] * 100\n" + IN.format(2)).k()


def test_an_explanation_names_the_sequence(tmp_path):
    sv.init(offline_cache_file_path=tmp_path / "cache")
    module = loaded(tmp_path, LONG.format(100) + IN.format(-7))
    module.k()
    module.L[3] = -7
    module.k()
    assert "the elements of global L changed" in module.k.explain()
