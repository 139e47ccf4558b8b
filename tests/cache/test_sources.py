"""Where the text of a kernel is: a file, a notebook cell, `exec`, a zip archive, or nowhere any more."""

from __future__ import annotations

import importlib
import linecache
import os
import py_compile
import shutil
import subprocess
import sys
import textwrap
import zipfile

import pytest
import worlds

import samovar as sv

PLAIN = "@sv.kernel\ndef k(n: sv.i32) -> sv.i32:\n    return n + 1\n\ndef main():\n    return k(2)\n"
ASSIGNING = "@sv.kernel\ndef k(n: sv.i32) -> sv.i32:\n    x: sv.i64 = n\n    return x + 1\n\ndef main():\n    return k(2)\n"


@pytest.fixture(autouse=True)
def cache(tmp_path):
    """A cache of the test's own."""
    sv.init(offline_cache_file_path=tmp_path / "cache", log_level="error")
    return tmp_path / "cache"


def cell(name, text):
    """Run a text as a notebook does: under an invented name that `linecache` knows the lines of."""
    text = worlds.HEADER + textwrap.dedent(text)
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space = {"__name__": "__main__"}
    exec(compile(text, name, "exec"), space)
    return space["k"]


@pytest.mark.parametrize("text", [PLAIN, ASSIGNING])
def test_a_notebook_cell_is_compiled_once(text):
    assert cell("<ipython-input-1-abc>", text)(2) == 3
    before = sv.compile_count()
    assert cell("<ipython-input-2-def>", text)(2) == 3
    assert sv.compile_count() == before


def test_a_cell_that_is_run_again_with_other_text_gives_the_new_code():
    for value in (1, 2, 1, 3):
        k = cell("<ipython-input-3-abc>", f"@sv.kernel\ndef k(n: sv.i32) -> sv.i32:\n    return n + {value}\n")
        assert k(2) == 2 + value


def test_a_cell_in_which_only_an_annotation_changed_gives_the_new_code():
    text = "@sv.kernel\ndef k(n: sv.f64) -> sv.f64:\n    x{} = 0\n    x = n\n    return x\n"
    for annotation, expected in (("", 2.5), (": sv.i32", 2), ("", 2.5), (": sv.i32", 2)):
        assert cell("<ipython-input-5-abc>", text.format(annotation))(2.5) == expected


def test_a_cell_works_cold_and_warm_in_other_processes(tmp_path, cache):
    program = f"""
        import linecache
        text = {worlds.HEADER + ASSIGNING!r}
        linecache.cache["<ipython-input-1-x>"] = (len(text), None, text.splitlines(keepends=True), "<ipython-input-1-x>")
        space = {{"__name__": "cell"}}
        exec(compile(text, "<ipython-input-1-x>", "exec"), space)

        def main():
            return space["k"](2)
        """
    folder = worlds.write(tmp_path / "program", {"main.py": program})
    assert worlds.run_elsewhere({"it": (folder, cache)})["it"] == {"result": 3, "kernels": 1, "llvm": 1}
    assert worlds.run_elsewhere({"it": (folder, cache)})["it"] == {"result": 3, "kernels": 0, "llvm": 0}


def test_text_without_lines_runs_warm_and_says_why_it_does_not_cold(tmp_path, cache):
    """What `exec` was given and nobody holds is gone; a kernel that was compiled elsewhere needs no text."""
    text = tuple(worlds.HEADER + PLAIN)
    program = f"space = {{}}\nexec(''.join({text!r}), space)\n\ndef main():\n    return space['k'](2)\n"
    nowhere = worlds.write(tmp_path / "nowhere", {"main.py": program})
    assert "source of k is not available" in worlds.run_elsewhere({"it": (nowhere, cache)})["it"]["result"]
    written = worlds.write(tmp_path / "written", {"main.py": PLAIN})
    assert worlds.run_elsewhere({"it": (written, cache)})["it"]["kernels"] == 1
    assert worlds.run_elsewhere({"it": (nowhere, cache)})["it"] == {"result": 3, "kernels": 0, "llvm": 0}


@pytest.mark.parametrize("text", [PLAIN, ASSIGNING])
@pytest.mark.parametrize(
    "program",
    [
        "space = {{}}\nexec({text!r}, space)\n",
        "text = {text!r}\nspace = {{}}\nexec(text, space)\n",
        "def run(text):\n    space = {{}}\n    exec(text, space)\n    return space\n\nspace = run({text!r})\n",
        "def run(source):\n    space = {{}}\n    exec(compile(source, '<made up>', 'exec'), space)\n    return space\n"
        "\nspace = run('# another text\\n')\nspace = run({text!r})\n",
    ],
)
def test_kernels_from_exec_work_cold_and_warm(tmp_path, cache, text, program):
    whole = program.format(text=worlds.HEADER + text) + "\ndef main():\n    return space['k'](2)\n"
    folder = worlds.write(tmp_path / "program", {"main.py": whole})
    assert worlds.run_elsewhere({"it": (folder, cache)})["it"] == {"result": 3, "kernels": 1, "llvm": 1}
    assert worlds.run_elsewhere({"it": (folder, cache)})["it"] == {"result": 3, "kernels": 0, "llvm": 0}


def test_texts_from_exec_that_change_give_the_new_code():
    results = []
    for number in range(3):
        text = f"import samovar as sv\n@sv.kernel\ndef k(n: sv.i32) -> sv.i32:\n    x = n\n    return x + {number}\n"
        space = {}
        exec(text, space)
        results.append(space["k"](1))
    assert results == [1, 2, 3]


SAME_CODE = "import samovar as sv\n@sv.kernel\ndef k(n: sv.f64) -> sv.f64:\n    x{} = 0\n    x = n\n    return x\n"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="code knows its lines only: the two cannot be told apart")
def test_a_text_with_the_same_code_that_is_held_as_well_is_not_taken_for_the_other():
    plain, annotated = SAME_CODE.format(""), SAME_CODE.format(": sv.i32")
    for text, result in ((plain, 2.5), (annotated, 2.0)):
        space = {}
        exec(text, space)
        assert space["k"](2.5) == result


def test_texts_that_cannot_be_told_apart_are_not_guessed():
    one, other = SAME_CODE.format("        "), SAME_CODE.format(": sv.i32")  # the same code, at the same places
    space = {}
    exec(other, space)
    with pytest.raises(sv.SamovarSyntaxError, match="source of k is not available"):
        space["k"](2.5)
    assert len(one) == len(other)


def test_one_text_after_another_under_one_name_is_not_mixed_up():
    found = []
    for annotation in ("", ": sv.i32", "", ": sv.i32"):
        found.append(run_text(SAME_CODE.format(annotation))(2.5))
    assert found == [2.5, 2.0, 2.5, 2.0]


def run_text(text):
    space = {}
    exec(text, space)
    return space["k"]


def test_kernels_from_the_command_line_work_cold_and_warm(cache):
    text = worlds.HEADER + ASSIGNING + "\nprint(k(2), sv.compile_count())\n"
    environment = {**os.environ, "SAMOVAR_OFFLINE_CACHE_FILE_PATH": str(cache)}
    for compiled in (1, 0):
        done = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["3", str(compiled)]


def test_kernels_typed_at_a_prompt_work_cold_and_warm(tmp_path, cache):
    pytest.importorskip("readline")
    environment = {
        **os.environ,
        "SAMOVAR_OFFLINE_CACHE_FILE_PATH": str(cache),
        "PYTHON_HISTORY": str(tmp_path / "history"),
        "HOME": str(tmp_path),
        "TERM": "dumb",
        "PYTHON_BASIC_REPL": "1",
    }
    typed = [
        "import samovar as sv",
        "@sv.kernel",
        "def k(n: sv.i32) -> sv.i32:",
        "    x = n",
        "    return x + 1",
        "",
        "print('found', k(2), sv.compile_count())",
    ]
    for compiled in (1, 0):
        said = typed_at_a_prompt(typed, environment)
        assert f"found 3 {compiled}" in said, said


def typed_at_a_prompt(lines, environment):
    """What an interactive interpreter shows on a terminal."""
    master, slave = os.openpty()
    process = subprocess.Popen([sys.executable, "-q", "-i"], stdin=slave, stdout=slave, stderr=slave, env=environment)
    os.close(slave)
    os.write(master, "".join(f"{line}\n" for line in [*lines, "exit()"]).encode())
    said = b""
    try:
        while part := os.read(master, 4096):
            said += part
    except OSError:  # the terminal is closed when the process ends
        pass
    process.wait(timeout=60)
    os.close(master)
    return said.decode(errors="replace")


@pytest.mark.parametrize("text", [PLAIN, ASSIGNING])
def test_a_warm_kernel_needs_no_source(tmp_path, cache, text):
    folder = worlds.write(tmp_path / "program", {"main.py": "import kernels\n\ndef main():\n    return kernels.main()\n"})
    worlds.write(folder, {"kernels.py": worlds.HEADER + text})
    assert worlds.run_elsewhere({"it": (folder, cache)})["it"]["kernels"] == 1
    py_compile.compile(folder / "kernels.py", folder / "kernels.pyc", doraise=True)
    (folder / "kernels.py").unlink()
    assert worlds.run_elsewhere({"it": (folder, cache)})["it"] == {"result": 3, "kernels": 0, "llvm": 0}


def test_without_its_source_a_kernel_is_not_mistaken_for_another_with_the_same_bytecode(tmp_path, cache):
    """Two texts with one bytecode are known; which of them was loaded cannot be told, so nothing is guessed."""
    text = "@sv.kernel\ndef k(n: sv.f64) -> sv.f64:\n    x{} = 0\n    x = n\n    return x\n\nmain = lambda: k(2.5)\n"
    folder = worlds.write(tmp_path / "program", {"main.py": "import kernels\n\ndef main():\n    return kernels.main()\n"})
    for annotation in ("", ": sv.i32"):
        worlds.write(folder, {"kernels.py": worlds.HEADER + text.format(annotation)})
        worlds.run_elsewhere({"it": (folder, cache)})
    py_compile.compile(folder / "kernels.py", folder / "kernels.pyc", doraise=True)
    (folder / "kernels.py").unlink()
    assert "source of k is not available" in worlds.run_elsewhere({"it": (folder, cache)})["it"]["result"]


@pytest.mark.parametrize("text", [PLAIN, ASSIGNING])
def test_kernels_in_an_archive_run_cold_and_warm(tmp_path, cache, text):
    folder = worlds.write(tmp_path / "program", {"main.py": "import kernels\n\ndef main():\n    return kernels.main()\n"})
    archive = tmp_path / "archive.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("kernels.py", worlds.HEADER + text)
    environment = {"PYTHONPATH": f"{archive}:{':'.join(sys.path)}"}
    for kernels in (1, 0):
        found = worlds.run_elsewhere({"it": (folder, cache)}, environment)["it"]
        assert (found["result"], found["kernels"]) == (3, kernels)


def test_reloading_a_module_gives_the_new_code(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(tmp_path)
    text = "import samovar as sv\n@sv.kernel\ndef k(n: sv.i32) -> sv.i32:\n    x = n\n    return x + {}\n"
    path = tmp_path / "reloaded.py"
    path.write_text(text.format(1))
    module = importlib.import_module("reloaded")
    assert module.k(2) == 3
    for value in (20, 1, 300):
        path.write_text(text.format(value))
        importlib.reload(module)
        assert module.k(2) == 2 + value
    del sys.modules["reloaded"]


STALE = "import samovar as sv\n@sv.kernel\ndef k(n: sv.i32) -> sv.i32:\n    x = n\n    return x + {}\n"


def test_a_file_that_changed_after_it_was_imported_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "stale.py"
    path.write_text(STALE.format(1))
    module = importlib.import_module("stale")
    path.write_text(STALE.format(20))
    with pytest.raises(sv.SamovarSyntaxError, match="does not match the loaded code"):
        module.k(2)
    path.write_text(STALE.format(1))
    assert module.k(2) == 3
    del sys.modules["stale"]


EDITED = "import kernels\nfrom pathlib import Path\nPath(kernels.__file__).write_text({!r})\n"
MAIN = """
def main():
    try:
        return kernels.main()
    except sv.SamovarSyntaxError:
        return "lost"
"""


def test_a_text_that_is_lost_is_compiled_by_nobody_warm_or_cold(tmp_path, cache):
    """The bytecode can come from several texts, and which was loaded cannot be told any more."""
    kernels = {"kernels.py": worlds.HEADER + ASSIGNING}
    folder = worlds.write(tmp_path / "program", {"main.py": "import kernels\n" + MAIN, **kernels})
    assert worlds.run_elsewhere({"it": (folder, cache)})["it"] == {"result": 3, "kernels": 1, "llvm": 1}
    worlds.write(folder, {"main.py": EDITED.format("# nothing\n") + MAIN})
    for each in (cache, tmp_path / "cold"):
        worlds.write(folder, kernels)
        assert worlds.run_elsewhere({"it": (folder, each)})["it"]["result"] == "lost"


def test_an_edit_around_a_kernel_while_a_program_starts_stops_nothing(tmp_path, cache):
    kernels = {"kernels.py": worlds.HEADER + ASSIGNING}
    folder = worlds.write(tmp_path / "program", {"main.py": "import kernels\n" + MAIN, **kernels})
    assert worlds.run_elsewhere({"it": (folder, cache)})["it"]["kernels"] == 1
    worlds.write(folder, {"main.py": EDITED.format(kernels["kernels.py"] + "\n# more\n") + MAIN})
    assert worlds.run_elsewhere({"it": (folder, cache)})["it"] == {"result": 3, "kernels": 0, "llvm": 0}


def test_a_moved_program_runs_warm_from_its_new_place(tmp_path, cache):
    folder = worlds.write(tmp_path / "old", {"main.py": ASSIGNING})
    assert worlds.run_elsewhere({"it": (folder, cache)})["it"]["kernels"] == 1
    shutil.move(folder, tmp_path / "new")
    assert worlds.run_elsewhere({"it": (tmp_path / "new", cache)})["it"] == {"result": 3, "kernels": 0, "llvm": 0}


def test_a_comment_is_read_once_and_then_known(tmp_path, cache):
    """The first process after the edit looks at the syntax tree; the next one recognizes the lines."""
    program = tmp_path / "program.py"
    telling = "import sys\nprint(main(), sv.compile_count(), 'ast' in sys.modules)\n"
    environment = {**worlds.os.environ, "SAMOVAR_OFFLINE_CACHE_FILE_PATH": str(cache)}
    found = []
    for text in (ASSIGNING, ASSIGNING, *[ASSIGNING.replace("= n\n", "= n  # wide\n    # and on\n")] * 3):
        program.write_text(worlds.HEADER + text + telling)
        found.append(worlds.run_program(program, environment))
    assert found == ["3 1 True\n", "3 0 False\n", "3 0 True\n", "3 0 False\n", "3 0 False\n"]


RELOADED = {
    "a number": ("@sv.kernel\ndef k() -> sv.f64:\n    return {}.5\n", (1, 2), (1.5, 2.5)),
    "an annotation": (
        "@sv.kernel\ndef k() -> sv.f64:\n    z: sv.f{} = 0.1\n    return sv.f64(z)\n",
        (32, 64),
        (0.10000000149011612, 0.1),
    ),
    "an annotation in a func": (
        "@sv.func\ndef f(x):\n    z: sv.f{} = 0.1\n    return sv.f64(z) + x\n"
        "@sv.kernel\ndef k() -> sv.f64:\n    return f(0)\n",
        (32, 64),
        (0.10000000149011612, 0.1),
    ),
}


@pytest.mark.parametrize("case", RELOADED)
def test_a_module_that_is_reloaded_with_the_size_and_time_of_before_gives_the_new_code(tmp_path, monkeypatch, case):
    text, values, expected = RELOADED[case]
    monkeypatch.syspath_prepend(str(tmp_path))
    path = tmp_path / f"reloaded_{list(RELOADED).index(case)}.py"
    module, compiles = None, []
    for position in (0, 1, 0, 1, 1):
        path.write_text(worlds.HEADER + text.format(values[position]))
        os.utime(path, (1_700_000_000, 1_700_000_000))
        linecache.getlines(str(path))  # whoever shows a traceback does that
        module = importlib.import_module(path.stem) if module is None else importlib.reload(module)
        assert module.k() == module.k() == expected[position]
        compiles.append(module.k.cache_observations.compiles)
    assert compiles == [1, 1, 0, 0, 0]
