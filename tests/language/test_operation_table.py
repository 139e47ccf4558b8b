"""The table of operations against everything that reads it, and against what cannot: C, stubs, Python's own modules."""

import builtins
import inspect
import math
import re
import subprocess
import sys
from pathlib import Path

import pytest

import samovar as sv
from samovar._native import library_function, symbol_address, symbol_names
from samovar.backends.llvm.control import RENDERINGS
from samovar.backends.llvm.target import host_target
from samovar.frontend.intrinsics import INTRINSICS
from samovar.language.operations import OPERATIONS

LIBRARY = [row for row in OPERATIONS.values() if row.library]
CALLED = [row for row in OPERATIONS.values() if row.spellings]
#: What only programs have: `samovar.passes.legalize` writes it in other operations.
WRITTEN_IN_OTHERS = {"floordiv", "mod", "pow", "shl", "shr", "ffs", "isinf"}


@pytest.mark.parametrize("row", LIBRARY, ids=lambda row: row.name)
def test_native_code_offers_what_a_row_calls(row):
    assert {row.library, row.library + "f"} <= set(symbol_names())
    function = library_function(row.library)
    assert isinstance(function(*[0.5] * row.arity), float)
    with pytest.raises(TypeError, match=f"{row.library} takes {row.arity} numbers"):
        function(*[0.5] * (row.arity + 1))


@pytest.mark.parametrize("row", LIBRARY, ids=lambda row: row.name)
def test_vector_variants_are_there_where_a_row_says_so(row):
    level = host_target().vector_math
    if not level:
        pytest.skip("no vector library here")
    for name in (f"_ZGVbN4{'v' * row.arity}_{row.library}f", f"_ZGVbN2{'v' * row.arity}_{row.library}"):
        assert (symbol_address(name) is not None) == (0 < row.vector <= level)


def test_only_functions_of_doubles_are_handed_out():
    for name in ("memcpy", "sv_run", "sinf", "frexp", "system", ""):
        with pytest.raises(LookupError, match="not a function of doubles"):
            library_function(name)
    with pytest.raises(TypeError):
        library_function("sin")("one")
    with pytest.raises(OverflowError):
        library_function("sin")(10**400)


def test_the_backend_renders_each_operation_that_is_left():
    outlined = {"parallel", "accumulate", "scatter", "checkpoint"}  # which are tasks and branches by then
    # Passes remove, expand or report these.
    early = {"detach", "surrogate", "stop_gradient", "random", "uniform", "unavailable"}
    assert set(RENDERINGS) | {"pow"} == set(OPERATIONS) - outlined - early - (WRITTEN_IN_OTHERS - {"pow"})


@pytest.mark.parametrize("row", CALLED, ids=lambda row: row.name)
def test_spellings_lead_to_the_row(row):
    home, _, name = row.spellings[0].rpartition(".")
    assert getattr(sv if home == "samovar" else sv.math, name) is row.host
    for spelling in row.spellings:
        assert spelling in INTRINSICS
        home, _, name = spelling.rpartition(".")
        if home == "math" and hasattr(math, name):  # `cbrt`, `exp2` and `fma` came later than 3.10
            assert callable(getattr(math, name))
        elif home == "builtins":
            assert callable(getattr(builtins, name))


@pytest.mark.parametrize("row", CALLED, ids=lambda row: row.name)
def test_a_function_is_named_and_documented_by_its_row(row):
    function = row.host
    assert f"{function.__module__}.{function.__name__}" == row.spellings[0]
    assert function.__doc__.startswith(row.meaning)
    assert row.example.partition(" -> ")[0] in function.__doc__
    if row.staged != "extremum":  # those take any number
        assert list(inspect.signature(function).parameters) == row.parameters.replace("?", "").split()


def test_type_checkers_see_the_functions_of_the_table():
    stub = Path(sv.__file__).with_name("math.pyi").read_text()
    seen = set(re.findall(r"^def (\w+)", stub, re.MULTILINE)) | set(re.findall(r" as (\w+),", stub))
    seen |= set(re.findall(r"^    (\w+): (?:TypeAlias = )?Any$", stub, re.MULTILINE))
    assert seen == set(sv.math.__all__)


def test_a_process_that_calls_no_function_of_the_table_does_not_load_it():
    program = """
import sys
import samovar as sv
sv.static, sv.ndrange, sv.atomic_add, sv.cast
assert "samovar.language.operations" not in sys.modules
assert sv.sin(0.0) == 0.0
assert "samovar.language.operations" in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)


#: A function that the C library has and Samovar has not, added by one row and nothing else.
PLANTED = '''
import doctest
import samovar.language.operations as table
table.OPERATIONS["tgamma"] = table._real(
    "tgamma", 5.0, "The gamma function.", "5.0 -> 24.0", "samovar.math.tgamma math.gamma"
)
import math
import samovar as sv
from samovar.ir import Estimator, Operation, Region

sv.init(offline_cache=False)
assert sv.math.tgamma(5.0) == 24.0 and sv.math.tgamma(-1.0) != sv.math.tgamma(-1.0)
test = doctest.DocTestParser().get_doctest(sv.math.tgamma.__doc__, {}, "tgamma", None, None)
assert test.examples and doctest.DocTestRunner().run(test).failed == 0
assert Estimator().region(Region([Operation("tgamma", sv.f32, ())])).nanoseconds == 5.0

@sv.kernel
def run(a: sv.types.ndarray(ndim=1), n: sv.i32) -> sv.f64:
    for i in range(a.shape[0]):
        a[i] = sv.math.tgamma(a[i])
    return math.gamma(sv.f64(n)) + sv.math.tgamma(x=5.0)

for dtype in (sv.f16, sv.f32, sv.f64):
    a = sv.ndarray(dtype, 4)
    a.fill(4)
    assert run(a, 4) == 30.0
    assert abs(a[3] - 6.0) < 1e-5
'''


def test_a_new_function_is_one_row(tmp_path):
    script = tmp_path / "planted.py"
    script.write_text(PLANTED)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
