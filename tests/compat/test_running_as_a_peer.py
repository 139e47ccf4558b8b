"""Programs of the peers: under `samovar run --as`, after `install`, and with one changed import."""

import json
import os
import subprocess
import sys

import pytest

import samovar as sv
import samovar.compat.quadrants as qd
import samovar.compat.taichi as ti

PROGRAM = """
import sys
import quadrants as qd
import quadrants.types.primitive_types as primitive_types
from quadrants.lang import impl
from quadrants.lang.exception import QuadrantsCompilationError
from quadrants.lang.util import to_numpy_type
from library import double

assert sys.modules["__main__"].qd is qd is sys.modules["quadrants"]
assert qd.lang.impl is impl and qd.__version__ == (1, 3, 3)
assert impl.get_runtime().prog is None
qd.init(arch=qd.cpu, default_fp=qd.f64, cfg_optimization=False, log_level="info")
assert impl.get_runtime().prog.config().arch == qd.cpu
assert impl.current_cfg().cpu_max_num_threads >= 1
assert qd.f64 in primitive_types.real_types and to_numpy_type(qd.i32)(3) == 3

x = qd.field(qd.f32, 4)

@qd.kernel
def fill(n: qd.i32):
    for i in x:
        if qd.static(qd.lang.impl.get_runtime().default_fp == qd.f64):
            x[i] = double(i) + n + qd.floor(qd.math.pi)

fill(5)
print(sys.argv[1:], __name__, x.to_numpy().tolist(), qd.random is not None)

@qd.kernel
def wrong() -> qd.i32:
    return missing

try:
    wrong()
except QuadrantsCompilationError as error:
    assert isinstance(error, qd.QuadrantsNameError), error
raise RuntimeError("at the end")
"""
LIBRARY = """
import quadrants as qd

@qd.func
def double(i):
    return 2 * i
"""


@pytest.fixture
def directory(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "library.py").write_text(LIBRARY)
    return tmp_path


def run(directory, *arguments):
    environment = {**os.environ, "QD_RANDOM_SEED": "4", "SAMOVAR_OFFLINE_CACHE_FILE_PATH": str(directory / "cache")}
    command = [sys.executable, "-m", "samovar", "run", "--as", "quadrants", *arguments]
    return subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("program", [("program.py",), ("-m", "program")])
def test_a_program_and_its_library_run_unchanged(directory, program):
    done = run(directory, *program, "--as", "x")
    assert done.stdout == "['--as', 'x'] __main__ [8.0, 10.0, 12.0, 14.0] True\n"
    assert "samovar: sv.init(cfg_optimization=…) has no effect: LLVM decides" in done.stderr
    assert "samovar: QD_RANDOM_SEED is set" in done.stderr
    assert done.returncode == 1
    trace = done.stderr[done.stderr.index("Traceback") :]
    assert trace.splitlines()[1].endswith('program.py", line 37, in <module>')
    assert "samovar" not in trace.replace(str(directory), "")
    assert trace.endswith("RuntimeError: at the end\n")


def test_profiling_a_program_of_a_peer(directory):
    command = [sys.executable, "-m", "samovar", "profile", "--as", "quadrants", "--json", "program.py"]
    environment = {**os.environ, "SAMOVAR_OFFLINE_CACHE_FILE_PATH": str(directory / "cache")}
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True)
    assert done.stderr.endswith("RuntimeError: at the end\n")
    assert "fill" in [each["name"].split(".")[-1] for each in json.loads(done.stdout.partition("\n")[2])["kernels"]]


def test_a_program_that_is_not_there(directory):
    done = run(directory, "nothing.py")
    assert (done.returncode, done.stderr) == (2, "samovar: no such program: nothing.py\n")


def test_the_import_is_the_whole_change():
    @qd.kernel
    def total(a: qd.types.ndarray(qd.f32, ndim=1)) -> qd.f32:
        found = qd.f32(0)
        for i in a:
            found += a[i] * ti.math.clamp(2.5, 0.0, 1.0)
        return found

    a = qd.ndarray(qd.f32, 8)
    a.fill(2)
    assert total(a) == 16


def test_names_are_those_of_samovar():
    assert qd.f32 is ti.f32 is sv.f32
    assert qd.QuadrantsRuntimeError is ti.TaichiRuntimeError is sv.SamovarRuntimeError
    assert qd.lang.exception.QuadrantsSyntaxError is sv.SamovarSyntaxError
    assert qd.lang.matrix.Matrix is sv.Matrix
    assert ti.lang.kernel_impl.func is sv.func
    assert not ti._lib.core.with_vulkan()


def test_a_name_that_nobody_has_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"module 'quadrants\.lang' has no attribute 'nonsense'"):
        qd.lang.nonsense  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'nonsense'"):
        exec("from samovar.compat.quadrants.lang import nonsense")
    with pytest.raises(ModuleNotFoundError):
        exec("import samovar.compat.quadrants.lang.nonsense")


def test_functions_that_speak_are_replaced(capsys):
    qd._logging.warn("{} of {}", 1, 2)
    qd._logging.info("quiet")
    assert capsys.readouterr().err == "samovar: warn: 1 of 2\n"
    said = []
    before = qd._logging.warn
    try:
        qd._logging.warn = said.append
        qd._logging.warn("heard")
        assert said == ["heard"]
    finally:
        qd._logging.warn = before


def test_only_peers_are_installed():
    with pytest.raises(sv.SamovarError, match="install takes 'quadrants' or 'taichi', not 'numpy'"):
        __import__("samovar.compat").compat.install("numpy")


def test_a_version_that_is_wanted_is_checked():
    with pytest.raises(sv.SamovarError, match=r"Samovar provides the names of quadrants 1\.3\.3"):
        qd.init(require_version="99.0.0")
    qd.init(require_version="1.0.0")
    sv.reset()


def test_names_that_are_not_here_may_be_mentioned():
    def show(mesh: qd.Mesh):
        return isinstance(mesh, qd.Mesh)

    assert show(3) is False
    for use in (qd.Mesh, qd.BitpackedFields):
        with pytest.raises(sv.SamovarError, match="is not supported: "):
            use("title")
    with pytest.raises(AttributeError, match=r"taichi\.Mesh\.shape"):
        ti.Mesh.shape  # noqa: B018
    assert qd.ad.no_grad(lambda: 3)() == 3
    assert qd.lang.misc.is_extension_supported(qd.cpu, qd.extension.sparse)
