"""Kernels beside others: pickled by value for joblib, Dask and cloudpickle, in notebooks, in texts without a file."""

import os
import platform
import re
import subprocess
import sys
import traceback
from importlib.util import find_spec

import numpy as np
import pytest

import samovar as sv

PROGRAM = '''
import pickle
import subprocess
import sys

import cloudpickle
import numpy as np

import samovar as sv

SCALE = 3.0


@sv.func
def squared(x: sv.f32) -> sv.f32:
    return x * x


@sv.kernel
def of_main(a: sv.types.NDArray[sv.f32, 1]):
    for i in a:
        a[i] = squared(a[i]) * SCALE


def made(factor):
    @sv.kernel
    def of_a_function(a: sv.types.NDArray[sv.f32, 1]):
        for i in a:
            y: sv.f64 = a[i] * factor
            a[i] = y

    return of_a_function


@sv.data_oriented
class Holder:
    def __init__(self):
        self.a = sv.ones(2)

    @sv.kernel
    def add(self, n: sv.f32):
        for i in self.a:
            self.a[i] += n


def work(kernel):
    a = np.full(2, 2, np.float32)
    kernel(a)
    return float(a[0]), sv.compile_count()


def held(holder):
    holder.add(2.0)
    return holder.a.tolist(), sv.compile_count()


if __name__ == "__main__":
    kernels = (of_main, made(5.0))
    text = "import pickle, sys; work, kernels, held, holder = pickle.load(sys.stdin.buffer); " \\
        "print([work(each) for each in kernels], held(holder))"

    def elsewhere(directory):
        """In a process that has neither this file nor this module."""
        data = cloudpickle.dumps((work, kernels, held, Holder()))
        done = subprocess.run([sys.executable, "-c", text], input=data, cwd=directory, capture_output=True)
        return done.stdout.decode().strip() or done.stderr.decode()

    print(elsewhere(sys.argv[1]))
    print([work(each)[0] for each in kernels], pickle.loads(pickle.dumps(of_main)) is of_main)
    print(elsewhere(sys.argv[1]))
    if "joblib" in sys.argv[2:]:
        from joblib import Parallel, delayed

        print(Parallel(n_jobs=1, backend="loky")(delayed(work)(each) for each in kernels))
        print(Parallel(n_jobs=2)(delayed(work)(each) for each in kernels))
    if "dask" in sys.argv[2:]:
        import dask

        print(dask.compute(*(dask.delayed(work)(each) for each in kernels), scheduler="processes", num_workers=1))
'''


def run(*arguments, cache, **options):
    environment = {**os.environ, "SAMOVAR_OFFLINE_CACHE_FILE_PATH": str(cache)}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, **options)
    return done.stdout + done.stderr


def test_kernels_travel_by_value_and_are_warm_on_the_other_side(tmp_path):
    pytest.importorskip("cloudpickle")
    present = [name for name in ("joblib", "dask") if find_spec(name)]
    script = tmp_path / "program" / "script.py"
    script.parent.mkdir()
    script.write_text(PROGRAM)
    lines = run(str(script), str(tmp_path), *present, cache=tmp_path / "cache").splitlines()
    cold, here, warm, *others = lines
    assert cold == "[(12.0, 1), (10.0, 2)] ([3.0, 3.0], 3)"
    assert here == "[12.0, 10.0] True"
    assert warm == "[(12.0, 0), (10.0, 0)] ([3.0, 3.0], 0)"
    assert len(others) == present.count("joblib") + len(present)
    for line in others:
        assert line.replace("[", "(").replace("]", ")") == "((12.0, 0), (10.0, 0))"


ANNOTATED = """
import subprocess, sys
import cloudpickle
import samovar as sv
Real = sv.f64
@sv.func
def half(x):
    y: Real = 0.5
    return x * y
@sv.kernel
def k(a: sv.types.NDArray[sv.f64, 1]):
    for i in a:
        x: sv.f64 = 0.1
        y: Real = half(x)
        a[i] = y * i
text = "import pickle, sys, samovar as sv; a = sv.ndarray(sv.f64, 3); pickle.load(sys.stdin.buffer)(a); print(a[2])"
done = subprocess.run([sys.executable, "-c", text], input=cloudpickle.dumps(k), capture_output=True)
print(done.stdout.decode() or done.stderr.decode())
"""


def test_names_that_only_annotations_of_locals_have_travel_too(tmp_path):
    pytest.importorskip("cloudpickle")
    script = tmp_path / "script.py"
    script.write_text(ANNOTATED)
    assert run(str(script), cache=tmp_path / "cache").strip() == "0.1"


TEXT = """
import samovar as sv
@sv.kernel
def one_more(x: sv.f32) -> sv.f32:
    y: sv.f64 = x
    return y + {number}
print(one_more(2.0), sv.compile_count())
"""


def test_texts_without_a_file_are_found_where_they_can_be_had(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(TEXT.format(number=1))
    outer = tmp_path / "outer.py"
    outer.write_text(
        "import pathlib, sys\nwhere = pathlib.Path(sys.argv[1])\nexec(where.read_text())\n"
        "where.write_text(where.read_text().replace('+ 1', '+ 5'))\nwith open(where) as file:\n    exec(file.read())\n"
    )
    with open(program) as opened:
        assert run("-", stdin=opened, cache=tmp_path / "one") == "3.0 1\n"
    assert run("-c", f"exec(open({str(program)!r}).read())", cache=tmp_path / "two") == "3.0 1\n"
    assert run(str(outer), str(program), cache=tmp_path / "three") == "3.0 1\n7.0 2\n"


IN_A_CLASS = """
import samovar as sv
@sv.data_oriented
class Counter:
    step = 3
    @sv.kernel
    def count(self, x: sv.i32) -> sv.i32:
        return x + self.step
print(Counter().count(2), sv.compile_count())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the buffer of another C library")
def test_a_program_that_came_through_a_pipe_is_found_while_it_is_held(tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    comments = "# ä comment, long enough that many of them fill the buffer of a pipe\n" * 200
    assert run("-", input=TEXT.format(number=2), cache=tmp_path / "one") == "4.0 1\n"
    assert run("-", input=IN_A_CLASS, cache=tmp_path / "two") == "5 1\n"
    assert run("-", input=comments + TEXT.format(number=3), cache=tmp_path / "three") == "5.0 1\n"
    # What is not held any more is not guessed.
    gone = run("-", input=TEXT.format(number=2).replace("print", f"{comments}print"), cache=tmp_path / "four")
    assert "the source of one_more is not available" in gone
    assert "put the function in a file or a notebook cell" in gone
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    assert "the source of one_more is not available" in run("-", input=TEXT.format(number=2), cache=tmp_path / "five")


#: By which our frames are known: a clone may stand in a folder of any name, `samovar` among them.
OURS = os.path.join(os.path.dirname(sv.__file__), "")


def frames_of(error):
    return [each.filename for each in traceback.extract_tb(error.__traceback__) if each.filename.startswith(OURS)]


def test_tracebacks_have_no_frame_of_ours():
    @sv.kernel
    def wrong(a: sv.types.NDArray[sv.f32, 1]):
        a[0] = undefined_name  # noqa: F821

    def fails():
        raise ValueError("of the user")

    @sv.kernel
    def calls(a: sv.types.NDArray[sv.f32, 1]):
        a[0] = sv.static(fails())

    for kernel, arguments in ((wrong, (np.zeros(1, np.float32),)), (wrong, (3,)), (calls, (np.zeros(1, np.float32),))):
        with pytest.raises(sv.SamovarError) as caught:
            kernel(*arguments)
        assert frames_of(caught.value) == []
        cause = caught.value.__cause__
        assert cause is None or [each.name for each in traceback.extract_tb(cause.__traceback__)] == ["fails"]


def test_notebooks_go_on_after_errors(tmp_path, monkeypatch):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    monkeypatch.setenv("SAMOVAR_OFFLINE_CACHE_FILE_PATH", str(tmp_path))
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    kernel = "@sv.kernel\ndef scaled(a: sv.types.NDArray[sv.f32, 1]):\n    for i in a:\n        a[i] *= {}"
    cells = [
        "import numpy as np\nimport samovar as sv\nfrom samovar.compiler import progress\n"
        "progress.PATIENCE = 1e9\na = np.ones(2, np.float32)",  # a slow machine shows a line, too
        kernel.format("undefined_name"),
        "scaled(a)",
        "scaled(a.astype(np.float64))",
        kernel.format("3.0"),
        "with sv.profiler() as p:\n    scaled(a)\nfloat(a[0])",
        "p",
        "@sv.kernel\ndef wrong(*a):\n    pass",
        "sv.kernl",
        "import cloudpickle, subprocess, sys\ntext = 'import pickle, sys, numpy as np; k = pickle.load(sys.stdin.buffer);"
        " a = np.ones(2, np.float32); k(a); import samovar as sv; print(a[0], sv.compile_count())'\n"
        "print(subprocess.run([sys.executable, '-c', text], input=cloudpickle.dumps(scaled), capture_output=True))",
        "scaled()",
        "@sv.kernel\ndef generates(a: sv.types.NDArray[sv.f32, 1]):\n    for i in a:\n        yield i\ngenerates(a)",
        "sv.zeros(3, 'f99')",
        "sv.init(debug=True)\n@sv.kernel\ndef beyond(a: sv.types.NDArray[sv.f32, 1]):\n    a[9] = 1\nbeyond(a)",
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(each) for each in cells])
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3", allow_errors=True).execute()
    outputs = [cell.outputs for cell in book.cells]
    assert outputs[2][0].ename == "SamovarNameError"
    assert "undefined_name" in outputs[2][0].evalue
    assert "samovar/runtime" not in "".join(outputs[2][0].traceback)
    assert outputs[3][0].ename == "SamovarArrayError"
    assert outputs[5][0].data["text/plain"] == "3.0"
    assert "kernel and task" in outputs[6][0].data["text/plain"]
    assert outputs[7][0].ename == "SamovarSignatureError"
    assert "samovar/runtime" not in "".join(outputs[7][0].traceback)
    assert outputs[8][0].ename == "AttributeError"
    assert "did you mean 'kernel'?" in outputs[8][0].evalue
    assert "3.0 0" in outputs[9][0].text
    errors = [output[0].traceback for output in outputs[7:] if "traceback" in output[0]]
    shown = [re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(lines)) for lines in errors]
    if sys.version_info < (3, 11):  # which does not let the door of the package take its own frame off
        shown = [text for text in shown if "AttributeError" not in text]
    assert not [text for text in shown if OURS in text or "<string>" in text]
    missing, generates, no_dtype, beyond = shown[-4:]
    assert missing.count("Cell In[11], line 1") == 2
    assert re.search(r"Cell In\[12\], line 4\n +yield i\n +\^\n", generates)
    assert "1 sv.zeros(3, 'f99')" in no_dtype
    assert re.search(r"\n    4 \|     a\[9\] = 1\n      \|     \^\^\^\^$", beyond.rstrip())
