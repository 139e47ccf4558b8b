"""The text of functions: found, placed, and refused if it is not what is loaded."""

import ast
import importlib.util
import linecache
import sys
import textwrap

import pytest
from _pytest.assertion.rewrite import rewrite_asserts

import samovar as sv
from samovar.lens.source import function_source


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Write a module, import it, and give it back."""
    count = 0

    def load(text, name=None):
        nonlocal count
        count += 1
        path = tmp_path / f"{name or f'written_{count}'}.py"
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, path.stem, module)
        spec.loader.exec_module(module)
        return module

    return load


def test_lines_and_columns_are_those_of_the_file(load):
    module = load(
        """
        import functools

        class Outer:
            def method(self):
                x = 1
                return x
        """
    )
    source = function_source(module.Outer.method)
    assert source.node.lineno == 5
    assert source.node.body[0].lineno == 6
    assert source.node.body[0].col_offset == 8
    assert source.file == module.__file__
    assert source.lines[5].strip() == "x = 1"


SHAPES = {
    "one line": "def f(x): return x\n",
    "decorated": "def d(g): return g\n@d\n@d\ndef f(x):\n    return x\n",
    "a decorator over lines": "def d(*a):\n    return lambda g: g\n@d(\n    1,\n)\ndef f(\n    x,\n):\n    return x\n",
    "a string that is not indented": 'def f(x):\n    s = """\nfree\n  text\n"""\n    return s\n',
    "brackets that are not indented": "def f(x):\n    return (\nx\n)\n",
    "a continued line": "def f(x):\n    return x + \\\n1\n",
    "a comment that is not indented": "def f(x):\n    y = x\n# here\n    return y\n",
    "tabs": "if True:\n\tdef f(x):\n\t\treturn x\n",
    "nested": "def g():\n    n = 2\n    def f(x):\n        return x + n\n    return f\nf = g()\n",
    "in a class": "class C:\n    def f(self):\n        return self.__hidden\nf = C.f\n",
    "with super": "class C:\n    def f(self):\n        return super().f\nf = C.f\n",
    "followed by else": "if True:\n    def f(x):\n        return x\nelse:\n    f = None\n",
    "imports": "import math as m\ndef f(x):\n    return m.sin(x)\n",
    "future": "from __future__ import annotations\ndef f(x: unknown):\n    y: unknown = x\n    return y\n",
    "last line without an end": "def f(x):\n    return x",
    "other letters": "def f(größe):\n    '日本語'\n    return größe\n",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_functions_of_every_shape_are_found(load, shape):
    module = load(SHAPES[shape])
    node = function_source(module.f).node
    assert node.name == "f"
    assert ast.unparse(node).endswith(ast.unparse(node.body[-1]).replace("\n", "\n    "))


@pytest.mark.parametrize("shape", SHAPES)
def test_the_whole_function_is_found(load, shape):
    module = load(SHAPES[shape])
    tree = ast.parse("".join(linecache.getlines(module.__file__)))
    whole = next(node for node in ast.walk(tree) if getattr(node, "name", None) == "f")
    assert ast.dump(function_source(module.f).node, include_attributes=True) == ast.dump(whole, include_attributes=True)


def test_a_changed_file_is_noticed(load):
    module = load("def f(x):\n    return x + 1\n", "changing")
    load("def f(x):\n    return x + 2\n", "changing")
    linecache.clearcache()
    with pytest.raises(sv.SamovarSyntaxError, match="does not match the loaded code"):
        function_source(module.f)


def test_a_file_that_moved_its_functions_is_noticed(load):
    module = load("def f(x):\n    return x + 1\n", "moving")
    load("\n\ndef f(x):\n    return x + 1\n", "moving")
    linecache.clearcache()
    with pytest.raises(sv.SamovarSyntaxError, match="does not match the loaded code"):
        function_source(module.f)


def test_a_comment_after_the_function_changes_nothing(load):
    module = load("def f(x):\n    return x + 1\n", "commented")
    load("def f(x):\n    return x + 1  # one\n\n# more\n", "commented")
    linecache.clearcache()
    assert function_source(module.f).node.name == "f"


def test_code_without_text_says_what_to_do():
    space = {}
    exec("def f(x):\n    return x\n", space)
    with pytest.raises(sv.SamovarSyntaxError, match=r"source of f is not available(.|\n)*put the function in a file"):
        function_source(space["f"])


def body_of(function):
    return ast.unparse(function_source(function).node.body[0].value)


def test_a_lambda_is_a_function_that_returns_its_value(load):
    module = load(
        """
        one, two = lambda x: x + 1, lambda x: x + 2
        outer = lambda x: (
            lambda y, z=3: x if y else z
        )
        def make(k):
            return lambda x: x * k
        inner, made = outer(1), make(5)
        """
    )
    functions = (module.one, module.two, module.inner, module.made)
    assert [body_of(each) for each in functions] == ["x + 1", "x + 2", "x if y else z", "x * k"]
    assert body_of(module.outer) == "lambda y, z=3: x if y else z"
    assert [each.arg for each in function_source(module.inner).node.args.args] == ["y", "z"]
    assert [function_source(each).node.lineno for each in (module.inner, module.made)] == [4, 7]


def test_equal_lambdas_on_a_line_are_one():
    one, other = (lambda x: x), (lambda x: x)
    assert body_of(one) == body_of(other) == "x"


def test_lambdas_on_a_line_that_only_their_text_tells_apart_are_refused(load):
    module = load("one, other = lambda: 1 + 1, lambda: 2\n")
    if module.one.__code__.co_code != module.other.__code__.co_code or module.one.__code__ != module.other.__code__:
        pytest.skip("this version of Python compiles them differently")
    with pytest.raises(sv.SamovarSyntaxError, match="several lambdas on the same line"):
        function_source(module.one)


def test_a_lambda_that_was_edited_after_the_import_is_refused(load):
    module = load("f = lambda x: x + 1\n", "edited_lambda")
    load("f = lambda x: x + 2\n", "edited_lambda")
    linecache.clearcache()
    with pytest.raises(sv.SamovarSyntaxError, match="does not match"):
        function_source(module.f)


def test_an_async_function_is_refused():
    async def f():
        pass

    with pytest.raises(sv.SamovarSyntaxError, match="async"):
        function_source(f)


def rewritten(x):
    y = x + 1
    assert y > x, f"{y} is not above {x}"
    return y


def rewritten_constants(x):
    assert False  # noqa: B011, PT015
    assert True
    assert "text"
    return x


def rewritten_chains(x):
    assert 0 < x < 5 < 7
    assert (x in (1, 2) and not x == 9) or x  # noqa: SIM201
    for i in range(3):
        assert [i, x], f"{i:3d}"
        assert (y := x) == (x if i else y)
    return x


def rewritten_only():
    assert True


@pytest.mark.parametrize("function", [rewritten, rewritten_constants, rewritten_chains, rewritten_only])
def test_functions_with_rewritten_asserts_are_recognized(function):
    assert any(name.startswith("@py") for name in function.__code__.co_varnames), "pytest rewrites this module"
    assert function_source(function).node.name == function.__name__


@pytest.mark.parametrize("edited", ["return y + 2", "return z", "y = x + 2", "y = z", "\n    y = x + 1"])
def test_an_edit_of_a_function_with_rewritten_asserts_is_noticed(tmp_path, edited):
    text = "def f(x):\n    y = x + 1\n    assert 0 < y < 9\n    return y\n"
    path = tmp_path / "test_edited.py"
    path.write_text(text)
    tree = ast.parse(text)
    rewrite_asserts(tree, text.encode(), str(path))
    space = {}
    exec(compile(tree, str(path), "exec", dont_inherit=True), space)
    assert function_source(space["f"]).node.name == "f"
    path.write_text(text.replace("return y" if edited.startswith("return") else "y = x + 1", edited))
    with pytest.raises(sv.SamovarSyntaxError, match="does not match the loaded code"):
        function_source(space["f"])
