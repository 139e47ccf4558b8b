"""What type checkers are told: ordinary programs pass, mistakes are found, and `help` shows what a user wrote."""

import ast
import json
import pydoc
import re
import subprocess
import sys
from pathlib import Path

import pytest
import user_code

import samovar as sv
from samovar.language import DEFAULTS
from samovar.runtime.configuration import CHOICES

#: From line 5 on, each is a mistake. mypy does not see the last two, which are about the types of arguments.
MISTAKES = """
import numpy as np
import samovar as sv
from user_code import Counter, axpy, square

axpy(2.0, np.zeros(3))
axpy(2.0, np.zeros(3), np.zeros(3), 4)
axpy(2.0, x=np.zeros(3), y=np.zeros(3), z=3)
Counter(3).count()
square()
Counter(3).cuont(1)
axpy("text", np.zeros(3), np.zeros(3))
axpy(2.0, "text", np.zeros(3))
""".lstrip()
HERE = Path(__file__).parent
ROOT = HERE.parent.parent


def found(tool, *options, path):
    """The lines of the file with the mistakes about which a checker complains."""
    done = subprocess.run(
        [sys.executable, "-m", tool, *options, str(path)], cwd=path.parent, capture_output=True, text=True, check=False
    )
    return sorted({int(line) for line in re.findall(rf"{path.name}:(\d+):.*error", done.stdout)})


@pytest.fixture
def mistakes(tmp_path):
    path = tmp_path / "mistakes.py"
    path.write_text(MISTAKES)
    (tmp_path / "user_code.py").write_text((HERE / "user_code.py").read_text())
    return path


def test_mypy_finds_mistakes_in_calls(mistakes):
    pytest.importorskip("mypy")
    lines = found("mypy", "--strict", "--cache-dir", str(mistakes.parent), path=mistakes)
    assert lines == list(range(5, 11))


def test_pyright_finds_mistakes_in_calls(mistakes):
    pytest.importorskip("basedpyright")
    (mistakes.parent / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard"}')
    assert found("basedpyright", "--level", "error", "--pythonpath", sys.executable, path=mistakes) == list(range(5, 13))


def test_the_programs_do_what_they_say():
    assert user_code.main()[:5] == [40.0, 9.0, 1.0, 4.0, 12.0]


def test_help_shows_what_a_user_wrote():
    def shown(thing):
        # From 3.13 on, a long signature has a line for each parameter.
        return " ".join(pydoc.plain(pydoc.render_doc(thing)).split()).replace("( ", "(").replace(" )", ")")

    @sv.kernel
    def scaled(a: sv.types.NDArray[sv.f32, 2], factor: sv.f64, kind: sv.Template, n: int = 3):
        """All elements, scaled."""

    text = shown(scaled)
    assert "scaled(a: sv.types.NDArray[sv.f32, 2], factor: samovar.f64, kind: samovar.types.Template, n: int = 3)" in text
    assert "All elements, scaled." in text
    assert "count(times: 'sv.i32')" in shown(user_code.Counter(2).count)
    assert "square(x: 'sv.f32')" in shown(user_code.square)


STRUCTS = """
import samovar as sv

@sv.dataclass
class Ray:
    length: sv.f32

    @sv.func
    def twice(self) -> sv.f32:
        return self.length * 2

rays, more = Ray.field(shape=16), Ray.ndarray(16, layout=sv.Layout.SOA)
shape: tuple[int, ...] = rays.shape
one = Ray(length=1.0)

def taken(ray: Ray) -> None: ...

taken(one)
Ray.fild(3)
Ray.ndarray()
Ray(lenght=1.0)
taken(rays)
""".lstrip()


def test_mypy_knows_the_fields_and_arrays_of_a_struct_class(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "structs.py").write_text(STRUCTS)
    (tmp_path / "mypy.ini").write_text("[mypy]\nplugins = samovar.mypy_plugin\n")
    lines = found("mypy", "--strict", "--cache-dir", str(tmp_path), path=tmp_path / "structs.py")
    first = STRUCTS.splitlines().index("Ray.fild(3)") + 1
    assert lines == list(range(first, first + 4))


@pytest.mark.parametrize(("tool", "options"), [("mypy", ("--strict",)), ("basedpyright", ("--level", "error"))])
def test_type_checkers_know_the_members_of_a_class_with_the_base_without_a_plugin(tool, options, tmp_path):
    pytest.importorskip(tool)
    text = STRUCTS.replace("@sv.dataclass\nclass Ray:", "class Ray(sv.types.StructBase):")
    (tmp_path / "structs.py").write_text(text)
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard"}')
    options += ("--pythonpath", sys.executable) if tool == "basedpyright" else ("--cache-dir", str(tmp_path))
    first = text.splitlines().index("Ray.fild(3)") + 1
    assert found(tool, *options, path=tmp_path / "structs.py") == list(range(first, first + 4))


MODULES = ("", "ad", "math", "types", "algorithms", "linalg", "graph", "tools", "simt", "dask", "ray")


@pytest.mark.parametrize("module", MODULES)
def test_completion_by_jedi_offers_every_public_name(module):
    jedi = pytest.importorskip("jedi")
    owner = getattr(sv, module) if module else sv
    text = f"import samovar as sv\nsv.{module}." if module else "import samovar as sv\nsv."
    offered = {each.name for each in jedi.Script(text).complete(2, len(text.splitlines()[1]))}
    assert set(owner.__all__) - offered == set()


#: Each module with its public names, and two mistakes: an unknown name, and an option of the wrong type.
PLACES = {f"sv.{module}" if module else "sv": getattr(sv, module) if module else sv for module in MODULES}
NAMES = [f"{place}.{name}" for place, module in PLACES.items() for name in module.__all__]
USES = "\n".join(["import samovar as sv", *(f"_ = {name}" for name in NAMES), "sv.kernal", 'sv.init(debug="yes")', ""])


@pytest.mark.parametrize(("tool", "options"), [("mypy", ()), ("basedpyright", ("--level", "error"))])
def test_type_checkers_know_every_public_name_and_the_types_of_options(tool, options, tmp_path, monkeypatch):
    pytest.importorskip(tool)
    monkeypatch.setenv("MYPYPATH", str(ROOT / "src"))
    (tmp_path / "uses.py").write_text("from typing import Any\n_: Any\n" + USES)
    settings = {"typeCheckingMode": "standard", "extraPaths": [str(ROOT / "src")]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    options += ("--pythonpath", sys.executable) if tool == "basedpyright" else ("--cache-dir", str(tmp_path))
    assert found(tool, *options, path=tmp_path / "uses.py") == [len(NAMES) + 4, len(NAMES) + 5]


def test_completion_by_jedi_offers_every_option_of_init():
    jedi = pytest.importorskip("jedi")
    (signature,) = jedi.Script("import samovar as sv\nsv.init(").get_signatures(2, 8)
    assert set(DEFAULTS) <= {parameter.name for parameter in signature.params}


def test_the_stub_has_the_options_and_their_values():
    stub = ast.parse(Path(sv.__file__).with_suffix(".pyi").read_text())
    init = next(node for node in stub.body if isinstance(node, ast.FunctionDef) and node.name == "init")
    types = {each.arg: ast.unparse(each.annotation) for each in [*init.args.args, *init.args.kwonlyargs]}
    assert types.keys() == DEFAULTS.keys()
    for name, default in DEFAULTS.items():
        if types[name].startswith("Literal"):
            assert ast.literal_eval(types[name].removeprefix("Literal")) in (CHOICES[name], list(CHOICES[name]))
        elif name not in CHOICES:
            assert types[name].startswith(type(default).__name__)
