"""Integers of thousands of digits as compile-time values: Python refuses to write them out, and nothing here has to."""

import pytest
import worlds

import samovar as sv

HUGE = 10**5000 + 1


@sv.func
def last_digits(n: sv.template()):
    return sv.static(n % 1000)


def remainder(n):
    return n % 1009


@sv.kernel
def used() -> sv.i32:
    return sv.static(HUGE % 7) + last_digits(HUGE) * 10 + sv.static(remainder(HUGE)) * 100000


TABLE = {HUGE: 3, -HUGE: 4}


@sv.kernel
def as_a_key() -> sv.i32:
    return TABLE[HUGE] * 10 + TABLE[-HUGE]


@sv.kernel
def as_text() -> sv.i32:
    return sv.static(len(f"{HUGE}"))


@sv.kernel
def as_an_index() -> sv.i32:
    return sv.static((1, 2)[HUGE])


def test_a_huge_number_is_baked_and_guarded(monkeypatch):
    assert used() == HUGE % 7 + HUGE % 1000 * 10 + HUGE % 1009 * 100000
    monkeypatch.setitem(globals(), "HUGE", HUGE + 1)
    assert used() == HUGE % 7 + HUGE % 1000 * 10 + HUGE % 1009 * 100000
    assert "<16610 bits>" in used.explain()


def test_a_huge_number_is_a_key():
    assert as_a_key() == 34


@pytest.mark.parametrize("kernel", [as_text, as_an_index])
def test_an_error_about_a_huge_number_is_an_error_of_the_language(kernel):
    with pytest.raises(sv.SamovarError):
        kernel()


def test_a_huge_number_is_found_in_the_cache(tmp_path):
    text = "N = 10**5000 + {}\n@sv.kernel\ndef k() -> sv.i32:\n    return static(N % 7)\ndef main():\n    return k()\n"
    compiled = []
    for added in (1, 1, 2, 1):
        folder = worlds.write(tmp_path / "program", {"main.py": text.format(added)})
        found = worlds.run_elsewhere({"it": (folder, tmp_path / "cache")})["it"]
        assert found["result"] == (10**5000 + added) % 7
        compiled.append(found["kernels"])
    assert compiled == [1, 0, 1, 0]
