"""Options as a value: known names only, equal by what they say, and never changed."""

from __future__ import annotations

import pytest

from samovar._native import f32, f64
from samovar.language.options import LINE_OPTIONS, Options, do_lines_count


def test_an_option_that_does_not_exist_is_refused() -> None:
    with pytest.raises(TypeError, match="there is no option 'debag'"):
        Options(debag=True)


def test_options_do_not_change() -> None:
    options = Options()
    with pytest.raises(AttributeError, match=r"sv\.init"):
        options.debug = True
    assert options.debug is False


def test_options_are_equal_by_what_they_say() -> None:
    assert Options(debug=True) == Options(debug=True)
    assert Options(debug=True) != Options()
    assert Options(default_fp=f64) != Options(default_fp=f32)
    assert Options() != "Options()"


def test_what_is_not_the_default_is_shown() -> None:
    assert repr(Options()) == "Options()"
    assert repr(Options(debug=True, num_threads=3)) == "Options(debug=True, num_threads=3)"


@pytest.mark.parametrize("name", LINE_OPTIONS)
def test_lines_count_under_each_option_whose_messages_name_them(name: str) -> None:
    assert not do_lines_count(Options())
    assert do_lines_count(Options(**{name: True}))
