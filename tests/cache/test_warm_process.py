"""What a process loads whose kernels are in the cache: no compiler, and little memory."""

import json
import os
import subprocess
import sys

import pytest

PROGRAM = '''
import samovar as sv

{kernels}

@sv.func
def helper(x: sv.f32) -> sv.f32:
    return x * SCALE

SCALE, TABLE = 3.0, (1.0, 2.0)
vec2 = sv.types.vector(2, sv.f32)

@sv.kernel
def with_a_func(a: sv.types.NDArray[sv.f32, 1], n: sv.i32, factor: sv.f32):
    for i in range(n):
        if i % 2 == 0:
            a[i] = helper(a[i]) + sv.sin(0.0) + factor * vec2(TABLE[0], TABLE[1]).x

a = sv.ndarray(sv.f32, 64)
a.fill(1.0)
{calls}
with_a_func(a, 64, 0.5)
result = [a[0], a[1]]
'''
OBJECTS = '''
@sv.data_oriented
class Holder:
    def __init__(self):
        self.a = sv.ndarray(sv.f32, 8)
        self.n = 3

    @sv.kernel
    def fill(self):
        for i in self.a:
            self.a[i] = self.n

holder = Holder()
holder.fill()
result.append(holder.a[7])
'''
ENDING = '''
loaded = sorted(set(sys.modules) - before)
with open("/proc/self/statm") as file:
    pages = int(file.read().split()[1])
import json
print(json.dumps([result, sv.compile_count(), loaded, pages]))
'''
BARE = '''
with open("/proc/self/statm") as file:
    print(int(file.read().split()[1]))
'''
#: What a warm start may load, beside what the interpreter has loaded already. Each module takes a tenth of a millisecond or
#: more, whatever is in it: think twice before adding one.
LIBRARY = {"__future__", "_functools", "_operator", "atexit"}
MODULES = {
    "": "_native types version",
    "artifact": "record",
    "cache": "artifacts entry kernel_cache salt store trust",
    "language": "annotations options",
    "lens": "answers path recognition replaying serialized decision_tree",
    "reflection": "classes",
    "runtime": "arrays configuration func kernel kernel_state loaded_kernel lookup process_cache",
    "values": "matrix_types",
}
#: What it may load beside these if kernels are given objects of the program's own classes.
FOR_OBJECTS = {"lens": "asking compound question_tables questions tensor_facts", "runtime": "guard_operands"}


def named(modules):
    return {".".join(filter(None, ("samovar", room, name))) for room, names in modules.items() for name in names.split()}


ALLOWED = {"kernels", "samovar", *LIBRARY, *(f"samovar.{room}" for room in MODULES if room), *named(MODULES)}


def run(path, program, directory):
    script = path / "script.py"
    script.write_text(program)
    environment = {**os.environ, "SAMOVAR_OFFLINE_CACHE_FILE_PATH": str(directory)}
    environment.pop("SAMOVAR_NO_FALLBACK", None)  # that of our tests: variables that are set are looked at
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    """A process that finds everything in the cache, and the one that has filled it."""
    return two_processes(tmp_path_factory.mktemp("warm"), PROGRAM)


@pytest.fixture(scope="module")
def warm_with_objects(tmp_path_factory):
    """The same, of a program that launches with an object of its own."""
    return two_processes(tmp_path_factory.mktemp("warm"), PROGRAM + OBJECTS)


def two_processes(path, text):
    kernels = "\n".join(
        f"@sv.kernel\ndef k{n}(a: sv.types.NDArray[sv.f32, 1]):\n    for i in a:\n        a[i] += {n}.0\n" for n in range(20)
    )
    calls = "\n".join(f"k{n}(a)" for n in range(20))
    (path / "kernels.py").write_text(text.format(kernels=kernels, calls=calls))
    program = "import sys\nbefore = set(sys.modules)\nfrom kernels import *\n" + ENDING
    first = run(path, program, path / "cache")
    return first, run(path, program, path / "cache"), run(path, BARE, path / "cache")


@pytest.mark.parametrize(("name", "kernels"), [("warm", 21), ("warm_with_objects", 22)])
def test_it_compiles_nothing_and_finds_the_same(name, kernels, request):
    (cold_result, compiled, _, _), (result, compiled_again, _, _), _ = request.getfixturevalue(name)
    assert compiled == kernels
    assert compiled_again == 0
    assert result == cold_result


def test_it_loads_no_compiler_and_nothing_that_it_does_not_need(warm):
    assert set(warm[1][2]) - ALLOWED == set()


def test_for_objects_it_loads_what_asks_about_them_and_no_compiler(warm_with_objects):
    assert set(warm_with_objects[1][2]) - ALLOWED - named(FOR_OBJECTS) == set()


@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="sanitizers take memory of their own")
def test_it_takes_less_than_twelve_megabytes_over_the_bare_interpreter(warm):
    page = os.sysconf("SC_PAGE_SIZE")
    assert (warm[1][3] - warm[2]) * page < 12 * 2**20
