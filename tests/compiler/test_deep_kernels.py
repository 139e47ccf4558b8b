"""Kernels whose syntax trees are deep: long sums, chains of `elif`, conditions of a thousand terms, funcs that call funcs.
They compile, and are shown, or the error says what is too deep; nothing crashes, on small stacks neither."""

import importlib.util
import subprocess
import sys
import threading

import numpy as np
import pytest

import samovar as sv

HEAD = """import samovar as sv

@sv.kernel
def k(a: sv.types.NDArray[sv.f32, 1], o: sv.types.NDArray[sv.f32, 1]):
    for i in range(o.shape[0]):
        x = a[i]
"""


def chain_of_funcs(count):
    funcs = "".join(f"@sv.func\ndef f{s}(x):\n    return f{s - 1}(x) + 1\n\n" for s in range(1, count + 1))
    return "import samovar as sv\n\n@sv.func\ndef f0(x):\n    return x\n\n" + funcs + HEAD[18:]


def nested(count, line, last):
    return "".join(f"{' ' * (8 + depth)}{line.format(depth)}\n" for depth in range(count)) + f"{' ' * (8 + count)}{last}\n"


def texts(count):
    """What to compile, and what it gives for 1."""
    return {
        "and": (HEAD + f"        if {' and '.join(f'x > -{s}.5' for s in range(count))}:\n            o[i] = 1.0\n", 1.0),
        "elif": (
            HEAD
            + "        if x > 9999:\n            x = 1.0\n"
            + "".join(f"        elif x > {s}:\n            x = {s}.5\n" for s in range(count, -1, -1))
            + "        o[i] = x\n",
            0.5,
        ),
        "sum": (HEAD + f"        o[i] = {' + '.join('x' for _ in range(count))}\n", float(count)),
        "minus": (HEAD + f"        o[i] = {'-' * count}x\n", 1.0),
        "else": (HEAD + f"        o[i] = {''.join(f'{s}.0 if x > {s} else ' for s in range(count, -1, -1))}7.0\n", 0.0),
        "comparisons": (HEAD + f"        o[i] = 1.0 if {' <= '.join('x' for _ in range(count))} else 0.0\n", 1.0),
        "calls": (HEAD + f"        o[i] = {'sv.sqrt(' * 190}x{')' * 190}\n", 1.0),
        "ifs": (HEAD + nested(90, "if x > -{}.5:", "o[i] = 4"), 4.0),
        "loops": (HEAD + nested(19, "for j{} in range(1):", "o[i] = 5"), 5.0),
        "statements": (HEAD + "        x = x * 1.0 + 1\n" * count * 2 + "        o[i] = x\n", 2 * count + 1.0),
        "funcs": (chain_of_funcs(count // 8) + f"        o[i] = f{count // 8}(x)\n", count // 8 + 1.0),
    }


def load(text, path):
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.k


@pytest.mark.parametrize("name", texts(1))
def test_a_deep_kernel_is_shown_and_runs(name, tmp_path):
    text, expected = texts(1000)[name]
    k = load(text, tmp_path / "deep.py")
    limit = sys.getrecursionlimit()
    a, o = np.ones(3, np.float32), np.zeros(3, np.float32)
    assert "kernel k(" in k.inspect("ir", a, o)
    k(a, o)
    assert o.tolist() == [expected] * 3
    assert "k" in k.inspect("llvm")
    assert sys.getrecursionlimit() == limit


@pytest.mark.parametrize("name", ["and", "elif", "sum", "minus", "else"])
def test_the_same_as_plain_python_and_in_debug_mode(name, tmp_path):
    text, expected = texts(1000)[name]
    k = load(text, tmp_path / "deep.py")
    for options in ({"arch": sv.python}, {"debug": True}):
        sv.init(**options)
        o = np.zeros(1, np.float32)
        k(np.ones(1, np.float32), o)
        assert o[0] == expected


def test_what_is_printed_on_request_is_printed(tmp_path, capfd):
    sv.init(print_ir=True)
    k = load(texts(1000)["elif"][0], tmp_path / "deep.py")
    k(np.ones(1, np.float32), np.zeros(1, np.float32))
    assert "kernel k(" in capfd.readouterr().err


@pytest.mark.parametrize("name", [pytest.param("elif", marks=pytest.mark.stress), "sum"])
def test_what_does_not_fit_on_the_stack_says_so_and_does_not_crash(name, tmp_path):
    program = """
import sys, threading
import numpy as np
import samovar as sv
import deep

def launch():
    try:
        deep.k(np.ones(1, np.float32), np.zeros(1, np.float32))
        print("compiled")
    except sv.SamovarCompilationError as error:
        print("nested too deeply" in str(error) and "threading.stack_size" in str(error))

sv.init(offline_cache=False)
# Before 3.11, a thousand calls, which Python allows everywhere, take most of a megabyte.
for size in (*((256 << 10, 512 << 10) if sys.version_info >= (3, 11) else (1 << 20, 1 << 20)), 64 << 20):
    threading.stack_size(size)
    thread = threading.Thread(target=launch)
    thread.start()
    thread.join()
print(sys.getrecursionlimit(), threading.stack_size() == 64 << 20)
"""
    (tmp_path / "program.py").write_text(program)
    (tmp_path / "deep.py").write_text(texts(2500)[name][0])
    done = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, timeout=200)
    *refused, last, limit, same = done.stdout.split()
    assert (refused, limit, same) == (["True", "True"], "1000", "True"), done.stderr[-2000:]
    # CPython 3.12 counts calls by way of C, whatever there is of the stack.
    assert last == "compiled" or (last == "True" and sys.version_info[:2] == (3, 12))


def test_threads_that_compile_at_once_leave_the_limit_as_it_was(tmp_path):
    limit = sys.getrecursionlimit()
    kernels = [load(texts(600 + number)["elif"][0], tmp_path / f"deep{number}.py") for number in range(4)]
    results = [np.zeros(1, np.float32) for _ in kernels]
    failures = []

    def launch(number):
        try:
            kernels[number](np.ones(1, np.float32), results[number])
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=launch, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert [float(each[0]) for each in results] == [0.5] * 4
    assert sys.getrecursionlimit() == limit


def test_private_names_of_a_deep_method_are_found(tmp_path):
    text = "import samovar as sv\n\n@sv.data_oriented\nclass A:\n"
    text += "    def __init__(self):\n        self.x, self.__y = sv.ones(2), 2.0\n\n"
    text += "    @sv.kernel\n    def k(self):\n        for i in self.x:\n            self.x[i] = "
    text += " + ".join(["self.__y"] * 1000)
    owner = load(f"{text}\n\nk = A()\n", tmp_path / "deep.py")
    owner.k()
    assert owner.x.tolist() == [2000.0, 2000.0]
