"""Every block of Python on every page runs, one after the other on each page, as a user would who pastes them into a file.

A block that is marked `pycon` is a session, and shows what it prints.
"""

import doctest
import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

import samovar as sv

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
#: What blocks may be that are no Python: drawings, output and commands.
OTHER = {"", "text", "c"}
#: Libraries that a page may use and that are not part of the development environment: `make test-torch` has them.
OPTIONAL = ("torch",)


def blocks(page: Path) -> list[tuple[str, str]]:
    """The language and the text of each block of a page."""
    return BLOCK.findall(page.read_text())


def program(page: Path) -> str:
    """The blocks of Python, each on the lines that it has on the page."""
    text = page.read_text()
    lines = [""] * (text.count("\n") + 1)
    for found in BLOCK.finditer(text):
        if found.group(1) == "python":
            first = text.count("\n", 0, found.start(2))
            inside = found.group(2).splitlines()
            lines[first : first + len(inside)] = inside
    return "\n".join(lines)


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture(autouse=True)
def options():
    yield
    sv.reset()


@pytest.mark.parametrize("page", [page for page in PAGES if "```py" in page.read_text()], ids=name_of)
def test_the_blocks_of_a_page_run(page, tmp_path, monkeypatch):
    for library in OPTIONAL:
        if f"\nimport {library}\n" in page.read_text():
            pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    parts = blocks(page)
    # A file, because kernels are compiled from their text.
    path = tmp_path / f"{page.stem.replace('-', '_')}_page.py"
    path.write_text(program(page))
    spec = spec_from_file_location(path.stem, path)
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, path.stem, module)
    spec.loader.exec_module(module)
    for number, (language, text) in enumerate(parts):
        if language == "pycon":
            session = doctest.DocTestParser().get_doctest(text, vars(module), f"{page.name}, block {number}", str(page), 0)
            report = []
            runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
            runner.run(session, out=report.append, clear_globs=False)
            assert runner.failures == 0, "".join(report)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_language_of_every_block_is_known(page):
    assert {language for language, _ in blocks(page)} <= {"python", "pycon", *OTHER}
    fences = re.findall(r"^\s*```", page.read_text(), re.MULTILINE)
    assert len(fences) == 2 * len(blocks(page)), "a block is indented, or not closed"
