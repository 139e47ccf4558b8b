"""The reference has all that is public: names, functions for kernels, options, variables of the environment, errors."""

import re
from pathlib import Path

import pytest
from public_names import all_names, comment_above, error_classes, first_sentence, handles, names_of, public_modules
from reference import (
    ERRORS,
    FUNCTIONS,
    OPTIONS,
    kernel_functions,
    option_texts,
    options,
    page_of,
    pages,
    section_title,
)

import samovar as sv

ROOT = Path(__file__).parents[2]
PACKAGE = Path(sv.__file__).parent
PAGES = pages()
NAMES = [*all_names(), *handles()]


def test_public_modules_are_found():
    assert {"samovar", "samovar.math", "samovar.types", "samovar.fingerprint"} <= set(public_modules())


@pytest.mark.parametrize("name", NAMES, ids=lambda name: name.path)
def test_a_public_name_has_a_text_and_a_page(name):
    assert name.text, f"{name.path} has no docstring"
    assert name.summary in " ".join(name.text.split())
    page = PAGES[page_of(name)]
    assert name.kind == "module" or f"{{ #{name.anchor} " in page or f'id="{name.anchor}"' in page


def test_methods_of_public_classes_have_docstrings():
    undocumented = [
        f"{name.path}.{member.name}" for name in NAMES for member in name.members if member.signature and not member.text
    ]
    assert undocumented == []


def test_every_name_is_in_the_index():
    index = PAGES["reference/index.md"]
    assert [name.path for name in all_names() if f"[`{name.path}`](" not in index] == []


def test_anchors_are_different():
    for text in PAGES.values():
        anchors = re.findall(r"\{ #(\S+) |id=\"(\S+)\"", text)
        assert len(anchors) == len(set(anchors))


def test_the_sections_of_the_package_have_titles():
    homes = {name.home for name in names_of("samovar") if name.kind != "module"}
    assert all(section_title(home) and "\n" not in section_title(home) for home in homes)


def test_every_function_of_kernels_is_told_of():
    functions = [each for group in kernel_functions().values() for each in group]
    assert [name for name, _, text in functions if not text] == []
    assert {"samovar.sin", "samovar.math.mix", "builtins.min", "math.sqrt"} <= {name for name, _, _ in functions}
    assert "`a // b`" in PAGES[FUNCTIONS]
    assert "`.normalized()`" in PAGES[FUNCTIONS]


def test_every_option_is_explained_by_init():
    assert set(option_texts()) == set(options())
    assert all(option_texts().values())
    assert [name for name in options() if f"| `{name}` |" not in PAGES[OPTIONS]] == []


def test_every_error_class_has_a_place():
    assert sv.SamovarRaceError in [name.value for name in error_classes()]
    assert [name.path for name in error_classes() if f"## `{name.path}`" not in PAGES[ERRORS]] == []


def variables_read() -> set[str]:
    """The variables of the environment that the package names in its code: strings of Python and of C."""
    sources = [path for path in PACKAGE.rglob("*") if path.suffix in (".py", ".c")]
    return {name for path in sources for name in re.findall(r'"(SAMOVAR_[A-Z_]*[A-Z])"', path.read_text())}


def test_every_variable_of_the_environment_has_a_row():
    of_options = {f"SAMOVAR_{name.upper()}" for name in options()}
    rows = set(re.findall(r"^\| `(SAMOVAR_\w+)", (ROOT / "docs" / "environment.md").read_text(), re.MULTILINE))
    assert variables_read() - of_options == rows, "docs/environment.md has a row for each variable that is no option"


def test_commands_are_listed():
    assert "## `samovar cache explain`" in PAGES["reference/command-line.md"]


def test_nothing_of_a_page_depends_on_the_process():
    assert [place for place, text in PAGES.items() if re.search(r" at 0x[0-9a-f]+|/tmp/|<class ", text)] == []


def test_comments_of_values_are_found():
    assert comment_above("samovar.lens.compound", "FIELD_METADATA_CACHE_VALUE")
    assert first_sentence("One. Two.") == "One."
